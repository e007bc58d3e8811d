#include "verbs/fleet/pods.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/archive.h"
#include "base/file.h"
#include "base/text.h"
#include "core/driver.h"
#include "kinds/notice.h"
#include "kinds/pod.h"
#include "store/store.h"
#include "verbs/fleet/workload_views.h"
#include "workplace/engines.h"

namespace fettle {
namespace {

constexpr size_t most_events = 20;
constexpr uint64_t most_bytes = uint64_t{64} << 30;

Result<ContainerEngine*> engine_at(const Workplace& place, const Name& name) {
  Driver* const driver = place.driver(name);
  if (driver == nullptr || driver->container_engine() == nullptr)
    return world_error(cat("node `", node_of_engine(name), "` no longer exists"));
  return driver->container_engine();
}

/// Returns the same engine once it can be reached. An error names the node.
Result<ContainerEngine*> reached_engine(const Workplace& place, const Name& name,
                                        std::stop_token stop) {
  ContainerEngine* const engine = TRY(engine_at(place, name));
  Status reached = engine->reach(std::move(stop));
  if (!reached && !node_of_engine(name).empty())
    return std::move(reached.error()).context(cat("asking node `", node_of_engine(name), "`"));
  TRY(reached);
  return engine;
}

Result<RecordPointer> find_pod(const Workplace& place, const Name& environment,
                               const std::string& space, const std::string& pod) {
  std::vector<std::string> names;
  RecordPointer found;
  for (const auto& [key, record] : TRY(place.store->known(environment))) {
    const NodeAddress address = node_address(key.name);
    if (key.kind != "pod" || record->by_hand == ByHand::removed || address.space != space ||
        resource_of_then(*record) == nullptr)
      continue;
    names.emplace_back(address.name);
    // If two pods of the name are changing nodes, the wanted one counts.
    if (address.name == pod && (found == nullptr || !record->wanted_by.empty()))
      found = record;
  }
  std::ranges::sort(names);
  if (found != nullptr)
    return found;
  return user_error(cat("there is no pod `", printable(pod), "` in the namespace `", space, "`",
                        suggestion(pod, names)));
}

/// Splits `/tmp/a` into the folder and the name in it.
std::pair<std::string, std::string> split_path(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.remove_suffix(1);
  const std::filesystem::path whole(path);
  return {whole.parent_path().string(), whole.filename().string()};
}

}  // namespace

Result<PodContainerView> find_container(const Workplace& place, const Name& environment,
                                        const std::string& space, const std::string& pod,
                                        const std::string& container,
                                        std::vector<std::string>* others) {
  const RecordPointer record = TRY(find_pod(place, environment, space, pod));
  const Resource& then = *resource_of_then(*record);
  const std::vector<std::string> names = container_names(then.attributes);
  std::string wanted = container;
  // Not a sidecar that stands before the pod's own.
  const Dict pod_template = read_one<&Pod::pod_template>(then.attributes);
  const Value& own = pod_template.at("spec").at("containers");
  if (wanted.empty() && own.is_list() && !own.items().empty())
    wanted = own.items()[0].text_at("name");
  if (std::ranges::find(names, wanted) == names.end())
    return user_error(cat("pod `", pod, "` has no container `", printable(wanted), "`, only ",
                          join(names, ", "), suggestion(wanted, names)));
  if (others != nullptr)
    for (const std::string& name : names)
      if (name != wanted)
        others->push_back(name);
  const std::stop_token stop = place.interrupt->acts_token();
  ContainerEngine* const engine = TRY(reached_engine(place, then.driver, stop));
  PodContainerView found{
      .pod = cat(space, "/", pod), .container = wanted, .id = {}, .driver = then.driver};
  for (const OwnContainer& made : TRY(engine->containers_of(then.key, stop)))
    if (made.name == wanted && (found.id.empty() || made.runs))
      found.id = made.id;
  if (!found.id.empty())
    return found;
  Error error = world_error(cat("container `", wanted, "` of pod `", pod, "` does not exist"));
  if (record->attempt && record->attempt->failed)
    error.message += cat(": ", record->attempt->error);
  return error;
}

Status read_pod_logs(const Workplace& place, const PodContainerView& container,
                     const LogOptions& options, const StreamSink& sink, std::stop_token stop) {
  ContainerEngine* const engine = TRY(reached_engine(place, container.driver, stop));
  return engine->logs(container.id, options, false, sink, std::move(stop));
}

Result<int64_t> run_in_pod(const Workplace& place, const PodContainerView& container,
                           const ExecOptions& options, const StreamSink& sink,
                           std::stop_token stop) {
  ContainerEngine* const engine = TRY(reached_engine(place, container.driver, stop));
  return engine->run(container.id, options, sink, std::move(stop));
}

Result<int64_t> talk_in_pod(const Workplace& place, const PodContainerView& container,
                            const ExecOptions& options, const TalkEnds& ends,
                            const StreamSink& sink, std::stop_token stop) {
  ContainerEngine* const engine = TRY(reached_engine(place, container.driver, stop));
  return engine->talk(container.id, options, ends, sink, std::move(stop));
}

Status copy_out(const Workplace& place, const PodContainerView& container, const std::string& from,
                const std::string& to, std::stop_token stop) {
  ContainerEngine* const engine = TRY(reached_engine(place, container.driver, stop));
  std::error_code failure;
  std::filesystem::path target = to;
  const std::string name = split_path(from).second;
  if (std::filesystem::is_directory(target, failure) && !name.empty())
    target /= name;
  std::filesystem::path folder = target.parent_path();
  if (folder.empty())
    folder = ".";
  if (!std::filesystem::is_directory(folder, failure))
    return user_error(cat("there is no folder `", folder.string(), "` to copy to"));
  const TemporaryDirectory work = TRY(TemporaryDirectory::make());
  {
    const ByteSink sink = TRY(sink_to_file(work.path() / "tar", most_bytes));
    if (!TRY(engine->get_archive(container.id, from, sink, stop)))
      return user_error(cat("there is nothing at `", from, "` in container `", container.container,
                            "` of pod `", container.pod, "`"));
  }
  TRY(unpack(TRY(source_of_file(work.path() / "tar")), work.path() / "out"));
  for (const auto& entry : std::filesystem::directory_iterator(work.path() / "out", failure)) {
    std::filesystem::copy(entry.path(), target,
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing |
                              std::filesystem::copy_options::copy_symlinks,
                          failure);
    break;
  }
  if (failure)
    return user_error(cat("cannot write `", target.string(), "`: ", lower_case(failure.message())));
  return {};
}

Status copy_in(const Workplace& place, const PodContainerView& container, const std::string& from,
               const std::string& to, std::stop_token stop) {
  ContainerEngine* const engine = TRY(reached_engine(place, container.driver, stop));
  std::error_code failure;
  const bool is_tree = std::filesystem::is_directory(from, failure);
  if (!is_tree && !file_exists(from))
    return user_error(cat("there is no file `", printable(from), "`"));
  auto [folder, name] = split_path(to);
  if (to.ends_with('/') || TRY(engine->is_folder(container.id, to, stop))) {
    folder = to;
    name = split_path(std::filesystem::absolute(from).lexically_normal().string()).second;
  }
  if (folder.empty())
    folder.push_back('/');
  const TemporaryDirectory work = TRY(TemporaryDirectory::make());
  {
    const ByteSink sink = TRY(sink_to_file(work.path() / "tar", most_bytes));
    if (is_tree) {
      TRY(pack_tree(from, sink, {.prefix = cat(name, "/")}));
    } else {
      ArchiveWriter writer(sink);
      const auto status = std::filesystem::status(from, failure);
      TRY(writer.add({.path = name,
                      .mode = static_cast<unsigned>(status.permissions()) & 0777,
                      .size = TRY(size_of_file(from))},
                     TRY(source_of_file(from))));
      TRY(writer.finish());
    }
  }
  Status put = engine->put_archive(container.id, folder, TRY(source_of_file(work.path() / "tar")),
                                   std::move(stop));
  return put ? put
             : Status(std::move(put.error())
                          .context(cat("copying to `", folder, "` of container `",
                                       container.container, "` of pod `", container.pod, "`")));
}

Result<PodDescription> describe_pod(const Workplace& place, const Name& environment,
                                    const std::string& space, const std::string& pod) {
  const RecordPointer record = TRY(find_pod(place, environment, space, pod));
  PodDescription found;
  const Resource& then = *resource_of_then(*record);
  for (Value& document :
       TRY(pods_of(place, environment, read_one<&Pod::owner>(then.attributes).get())))
    if (document.at("metadata").text_at("name") == pod &&
        document.at("metadata").text_at("namespace") == space)
      found.document = std::move(document);
  found.events = TRY(place.store->events_of(then.key, most_events));
  std::ranges::reverse(found.events);
  return found;
}

namespace {

constexpr size_t most_told = 1'000;

/// Reads `Normal CreatedImagePullJob: …`, as the act of a notice prints it.
std::optional<NoticeView> notice_in(const Event& event) {
  const Value& lines = event.detail.at("printed");
  if (event.type != EventType::done || !lines.is_list() || lines.items().empty())
    return std::nullopt;
  const std::string line = to_text(lines.items()[0]);
  const size_t space = line.find(' '), colon = line.find(": ");
  if (space == line.npos || colon == line.npos || colon < space)
    return std::nullopt;
  return NoticeView{.type = line.substr(0, space),
                    .reason = line.substr(space + 1, colon - space - 1),
                    .text = line.substr(colon + 2),
                    .time = event.time};
}

}  // namespace

Result<std::vector<NoticeView>> notices_of(const Workplace& place, const Name& environment,
                                           const Name& owner) {
  const auto parts = split(owner.view(), '/');
  std::string object;
  if (parts.size() == 3)
    object = cat(parts[1], "/", parts[0], "/", parts[2]);
  std::vector<NoticeView> found;
  std::set<std::pair<std::string, std::string>> told;
  for (const auto& [key, record] : TRY(place.store->known(environment))) {
    if (key.kind != "notice" || !record->applied ||
        read_one<&ObjectNotice::object>(record->applied->attributes) != object)
      continue;
    const ObjectNotice notice = read<ObjectNotice>(record->applied->attributes);
    found.push_back({.type = notice.type.str(),
                     .reason = notice.reason.str(),
                     .text = notice.text.str(),
                     .time = record->finished});
    told.emplace(found.back().reason, found.back().text);
  }
  // The log also has what records no longer hold.
  for (const Event& event :
       TRY(place.store->events_below({environment, "notice", cat(object, "|")}, most_told)))
    if (auto notice = notice_in(event); notice && told.emplace(notice->reason, notice->text).second)
      found.push_back(std::move(*notice));
  std::ranges::sort(found, [](const NoticeView& a, const NoticeView& b) {
    return std::tie(a.time, a.reason, a.text) < std::tie(b.time, b.reason, b.text);
  });
  return found;
}

}  // namespace fettle
