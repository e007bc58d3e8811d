#include "drivers/engine/build.h"

#include <algorithm>
#include <optional>

#include "base/archive.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/token.h"
#include "drivers/engine/build_output.h"
#include "drivers/engine/build_session.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/images.h"
#include "drivers/engine/nix_build.h"
#include "kinds/build.h"
#include "value/json.h"
#include "value/mask.h"

namespace fettle {
namespace {

constexpr Duration news_interval = 100ms;
constexpr int most_tries = 3;
constexpr size_t short_id = 20;  ///< letters of an id in the second name

/// The engine's version as two numbers; zeros: unknown.
std::pair<int, int> version_in(std::string_view text) {
  const auto number = [&](size_t at) {
    return at >= text.size() ? 0 : std::atoi(std::string(text.substr(at, 6)).c_str());
  };
  return {number(0), number(text.find('.') == text.npos ? text.npos : text.find('.') + 1)};
}

/// Here-documents came to builders later than BuildKit itself.
Status check_here_documents(const Site& site, const ImageBuild& wanted,
                            const std::stop_token& stop) {
  if (wanted.heredoc.get() == 0)
    return {};
  const bool is_podman = TRY(site.engine.flavour(stop)) == Engine::Flavour::podman;
  const EngineAnswer answer = TRY(site.engine.ask({.path = "/version"}, stop));
  if (!answer.ok())
    return engine_error(answer);
  const std::string_view version = answer.body.text_at("Version");
  const std::pair<int, int> first = is_podman ? std::pair(4, 8) : std::pair(23, 0);
  if (version_in(version) >= first)
    return {};
  return user_error(cat("cannot build `", wanted.image.view(), "`: line ", wanted.heredoc.get(),
                        " of `", wanted.file.view(), "` has a here-document, which ",
                        is_podman ? "Podman " : "Docker ", version,
                        " cannot read; Podman 4.8 and Docker 23 can, or write it as one line"));
}

/// What the second names of our images begin with.
std::string own_prefix(const Site& site) {
  return cat("localhost/fettle-build/", to_string(fingerprint(site.options.home)).substr(0, 12),
             "/");
}

/// The second name of an image, without its tag.
std::string own_name(const Site& site, std::string_view reference) {
  const std::string name = split_reference(full_reference(reference)).first;
  return cat(own_prefix(site), replace_all(name, ":", "--"));
}

std::string own_tag(std::string_view id) {
  return std::string(id.substr(id.find(':') + 1).substr(0, short_id));
}

Result<EngineCall> call_of(const Site& site, const ImageBuild& wanted,
                           const std::stop_token& stop) {
  EngineCall call{.method = "POST",
                  .path = "/build",
                  .query = {{"t", full_reference(wanted.image.view())},
                            {"dockerfile", std::string(wanted.file.view())},
                            {"rm", "1"},
                            {"forcerm", "1"}}};
  if (!wanted.target.empty())
    call.query.emplace_back("target", wanted.target.view());
  if (!wanted.arguments.empty())
    call.query.emplace_back("buildargs",
                            write_json(wanted.arguments.value(), {.show_secrets = true}));
  if (TRY(site.engine.flavour(stop)) == Engine::Flavour::podman) {
    call.query.emplace_back("layers", "1");
    return call;
  }
  call.query.emplace_back("version", "2");
  // A Docker without its default network can only run commands without any.
  if (TRY(site.engine.ask({.path = "/networks/bridge"}, stop)).status == 404)
    call.query.emplace_back("networkmode", "none");
  return call;
}

/// How a builder gets the secrets that commands mount. A session is needed even for those that are
/// not given: without one, BuildKit fails instead of leaving their files out.
class SecretsForBuild {
 public:
  static Result<SecretsForBuild> of(const Site& site, const ImageBuild& wanted, EngineCall& call,
                                    const std::stop_token& stop) {
    SecretsForBuild made;
    std::map<std::string, std::string> given;
    for (const Entry& secret : wanted.secrets.entries())
      if (secret.value.is_text())
        given.emplace(secret.key.str(), secret.value.text().str());
    if (wanted.secrets.empty())
      return made;
    if (TRY(site.engine.flavour(stop)) != Engine::Flavour::podman) {
      made.session_.emplace(TRY(BuildSession::open(site.engine, std::move(given), stop)));
      call.query.emplace_back("session", made.session_->id());
    } else if (!given.empty()) {
      TRY(made.send_ahead(given, call));
    }
    return made;
  }

 private:
  /// Podman takes them as files of the context, which it moves out of it before it begins. Their
  /// names are nobody's, and no rule of `.dockerignore` fits only them.
  Status send_ahead(const std::map<std::string, std::string>& secrets, EngineCall& call) {
    std::string files;
    ArchiveWriter writer(sink_to(files, SIZE_MAX));
    std::vector<Value> options;
    for (const auto& [id, text] : secrets) {
      const std::string name = cat(".secret-", TRY(new_token("the name of a secret's file")));
      TRY(writer.add_file(name, text, 0600));
      options.emplace_back(cat("id=", id, ",src=", name));
    }
    call.query.emplace_back("secrets", write_json(Value::list(std::move(options))));
    // A tar goes on where no end was written.
    call.source = [files = std::move(files), at = size_t{0},
                   rest = std::move(call.source)](std::span<char> into) mutable -> Result<size_t> {
      const size_t count = std::min(into.size(), files.size() - at);
      if (count == 0)
        return rest(into);
      std::copy_n(files.data() + at, count, into.data());
      at += count;
      return count;
    };
    return {};
  }

  std::optional<BuildSession> session_;
};

/// Podman before 4.6 binds a step to a thread of its service (its issue 17918). When the thread ends,
/// which others of its work decide, the step is killed. One that is killed for its own work, as for
/// want of memory, ends with an exit code.
bool was_cut_off(const Error& error) {
  return error.message.find("while running runtime: signal: killed") != std::string::npos;
}

/// The id of the image.
Result<std::string> build_once(const Site& site, const ImageBuild& wanted,
                               const ProgressSink& progress, const std::stop_token& stop) {
  const std::string image = wanted.image.get().str();
  Blob context = TRY(
      site.blobs.open(wanted.context.view()).context(cat("reading the context of `", image, "`")));
  BuildOutput output(image);
  std::chrono::steady_clock::time_point told;
  EngineCall call = TRY(call_of(site, wanted, stop));
  call.doing = cat("building `", image, "`");
  call.source = std::move(context.source);
  const SecretsForBuild secrets = TRY(SecretsForBuild::of(site, wanted, call, stop));
  call.still_at_it = site.engine.answers();  // a command may be silent
  call.sink = line_sink([&](std::string_view line) -> Status {
    if (const auto value = read_json(line, {}, Duplicates::last_wins))
      TRY(output.take(*value));
    const auto now = std::chrono::steady_clock::now();
    if (progress && now - told >= news_interval)
      if (const std::string news = output.news(); !news.empty()) {
        told = now;
        progress({.text = cat("building ", image, ": ", news)});
      }
    return {};
  });
  const Result<EngineAnswer> asked = site.engine.ask(std::move(call), stop);
  if (!asked) {
    // Whatever came of it, building once more does no harm.
    Error error = asked.error();
    error.unknown_outcome = false;
    return error;
  }
  if (!asked->ok())
    return world_error(cat("cannot build `", image, "`: ", asked->message()));
  std::string id = output.id();
  if (id.empty())
    id = TRY(image_id(site.engine, image, stop));
  if (id.empty())
    return world_error(cat("`", image, "` was built, but the engine does not have it"));
  return id;
}

Result<std::string> build_in_engine(const Site& site, const ImageBuild& wanted,
                                    const ProgressSink& progress, const std::stop_token& stop) {
  for (int tries = 1;; ++tries) {
    Result<std::string> built = build_once(site, wanted, progress, stop);
    if (built || !was_cut_off(built.error()) || tries == most_tries)
      return built;
  }
}

}  // namespace

Result<Outcome> build_image(const Site& site, const Act& act, const ProgressSink& progress,
                            std::stop_token stop) {
  const ImageBuild wanted = read<ImageBuild>(reveal(act.attributes));
  const std::string image = wanted.image.get().str();
  TRY(check_here_documents(site, wanted, stop));
  const std::string id =
      TRY(wanted.nix_output.empty() ? build_in_engine(site, wanted, progress, stop)
                                    : build_by_nix(site, wanted, progress, stop));
  TRY(name_image(site.engine, id, own_name(site, image), own_tag(id), stop));
  const bool changed =
      act.known == nullptr || read<ImageBuildOutputs>(act.known->outputs).id != Value(id);
  return Outcome(
      Done{.outputs = write(ImageBuildOutputs{.id = id}), .remote_id = id, .changed = changed});
}

Result<std::vector<ListedImage>> built_images(const Site& site, std::stop_token stop) {
  const std::string ours = own_prefix(site);
  std::vector<ListedImage> found = TRY(list_images(site.engine, std::move(stop)));
  std::erase_if(found, [&](const ListedImage& image) {
    return std::ranges::none_of(image.references, [&](const std::string& reference) {
      return reference.starts_with(ours);
    });
  });
  return found;
}

Result<bool> remove_built_image(const Site& site, const ListedImage& image, std::stop_token stop) {
  // An engine takes any name but the last one from an image that a container uses.
  for (const ContainerState& container : TRY(list_containers(site.engine, {}, stop)))
    if (image.id.ends_with(container.image_id) && !container.image_id.empty())
      return false;
  // Our own name goes last: what is left half-way is found again.
  std::vector<std::string> names, own;
  // By a digest, Podman would remove the image whatever else it is called.
  const auto is_tag = [](const std::string& name) { return name.find('@') == name.npos; };
  for (const std::string& reference : image.references)
    if (is_tag(reference) && reference.starts_with(own_prefix(site)))
      own.push_back(reference);
  for (const std::string& reference : image.references)
    if (is_tag(reference) && std::ranges::any_of(own, [&](const std::string& name) {
          return split_reference(name).first == own_name(site, reference);
        }))
      names.push_back(reference);
  names.insert(names.end(), own.begin(), own.end());
  for (const std::string& name : names)
    if (!remove_image(site.engine, name, stop)) {
      if (stop.stop_requested())
        return cancelled_error();
      return false;
    }
  return true;
}

}  // namespace fettle
