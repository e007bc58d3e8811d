#include "verbs/environments/dump.h"

#include <set>

#include "base/archive.h"
#include "base/hash.h"
#include "base/text.h"
#include "kinds/service.h"
#include "verbs/environments/inside.h"
#include "workplace/known_services.h"

namespace fettle {
namespace {

constexpr size_t longest_component = 200;

bool stands_for_itself(char c, bool is_first) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > ' ' && byte != 0x7f && c != '/' && c != '%' && !(is_first && c == '.');
}

/// Services as records tell of them, when nobody else does.
std::vector<ServiceView> recorded_services(const Workplace& place, const Known& known) {
  std::vector<ServiceView> services;
  for (const RecordPointer& record : services_there(known, *place.kinds)) {
    ServiceView& service = services.emplace_back();
    service.name = service_name(record->applied->key);
    service.uuid = read_one<&ServiceOutputs::uuid>(record->outputs).view();
    service.status = "unknown";
    service.attributes = record->applied->attributes;
    service.outputs = record->outputs;
    service.container = record->remote_id;
  }
  return services;
}

/// Writes the parts of a dump one after another, and notes those that cannot be had.
class Dump {
 public:
  Dump(const Workplace& place, Path into, std::stop_token stop)
      : place_(place), into_(std::move(into)), stop_(std::move(stop)) {}

  void miss(std::string_view what, const Error& why) {
    const std::string line = replace_all(cat(what, ": ", to_string(why)), "\n", "\n  ");
    missing.push_back(place_.shows_secrets ? line : place_.mask->text(line));
  }

  void write_text(const std::string& file, const Result<std::string>& text) {
    if (!text)
      return miss(file, text.error());
    const Path path = into_ / file;
    Status written = make_directories(path.parent_path());
    if (written)
      written = write_file(path, *text);
    if (!written)
      miss(file, written.error());
  }

  /// What was read before an error stays.
  void write_log(const std::string& file, const ServiceView& service) {
    if (const Result<std::string> container = container_of(service); !container)
      return miss(file, container.error());
    std::optional<Error> failed;
    Status written = make_directories((into_ / file).parent_path());
    if (written)
      written = write_file(into_ / file, [&](const ByteSink& sink) {
        Status kept;
        const Status read = read_logs_of(
            place_, service, {},
            [&](OutputStream, std::string_view bytes) {
              Status now = sink(bytes);
              if (!now)
                kept = now;
              return now;
            },
            stop_);
        if (kept && !read)
          failed = read.error();
        return kept;
      });
    if (!written)
      failed = written.error();
    if (failed)
      miss(file, *failed);
  }

  void write_artifact(const std::string& folder, const ArtifactView& artifact) {
    const Path path = into_ / folder;
    const Status unpacked = [&]() -> Status {
      TRY(make_directories(path.parent_path()));
      return unpack(TRY(place_.blobs->open(artifact.digest)).source, path);
    }();
    if (unpacked)
      return;
    miss(folder, unpacked.error());
    if (const Status removed = remove_tree(path); !removed)
      miss(folder, removed.error());
  }

  std::vector<std::string> missing;

 private:
  const Workplace& place_;
  const Path into_;
  const std::stop_token stop_;
};

/// The folders of services, each of which has its own.
std::vector<std::string> folders_of(const std::vector<ServiceView>& services) {
  std::vector<std::string> folders;
  std::set<std::string> taken{"files"};
  for (const ServiceView& service : services) {
    std::string folder = dump_name(service.name, service.uuid);
    for (size_t number = 2; !taken.insert(folder).second; ++number)
      folder = cat(dump_name(service.name, service.uuid), "-", number);
    folders.push_back(std::move(folder));
  }
  return folders;
}

Error stopped() { return world_error("interrupted; nothing was dumped"); }

}  // namespace

std::string component_of(std::string_view name) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string component;
  for (const char c : name) {
    if (stands_for_itself(c, component.empty())) {
      component += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    component += cat("%", digits.substr(byte / 16U, 1), digits.substr(byte % 16U, 1));
  }
  if (component.empty())
    return "%";
  if (component.size() <= longest_component)
    return component;
  constexpr size_t digest_digits = 12;
  return cat(component.substr(0, longest_component), "%",
             sha256_hex(name).substr(0, digest_digits));
}

std::string dump_name(std::string_view name, std::string_view uuid) {
  return uuid.empty() ? component_of(name) : cat(component_of(name), "--", component_of(uuid));
}

Result<DumpReport> dump_environment(const Workplace& place, const Environment& environment,
                                    const Path& into, const DumpTexts& texts,
                                    const std::stop_token& stop) {
  TRY(make_directories(into));
  Dump dump(place, into, stop);
  const Known known = TRY(place.store->known(environment.name));
  const Result<EnvironmentView> view =
      inspect_environment(place, environment.name.str(), {}, &known);
  if (stop.stop_requested())
    return stopped();
  if (!view)
    dump.miss("the state of the services", view.error());
  const std::vector<ServiceView> services = view ? view->services : recorded_services(place, known);
  const std::vector<std::string> folders = folders_of(services);
  // What is small and tells most comes first: the disk may be full soon.
  for (const auto& [file, make] : texts.beside)
    dump.write_text(file, make());
  for (size_t i = 0; i < services.size(); ++i)
    dump.write_text(folders[i] + "/spec.json", texts.spec(services[i]));
  for (size_t i = 0; i < services.size() && !stop.stop_requested(); ++i) {
    const std::string file = folders[i] + "/output.log";
    if (view)
      dump.write_log(file, services[i]);
    else  // who does not answer one question need not be waited for with the next
      dump.miss(file, world_error("the engine does not answer"));
  }
  const std::vector<ArtifactView> artifacts = artifacts_of(known);
  for (const ArtifactView& artifact : artifacts)
    if (!stop.stop_requested())
      dump.write_artifact(cat("files/", component_of(artifact.name)), artifact);
  if (stop.stop_requested())
    return stopped();
  if (!dump.missing.empty())
    TRY(write_file(into / "missing.txt", join(dump.missing, "\n") + "\n"));
  return DumpReport{environment.name.str(), into.string(), services.size(), artifacts.size(),
                    std::move(dump.missing)};
}

}  // namespace fettle
