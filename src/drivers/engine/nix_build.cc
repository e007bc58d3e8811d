#include "drivers/engine/nix_build.h"

#include <deque>
#include <filesystem>

#include "base/archive.h"
#include "base/process.h"
#include "base/text.h"
#include "drivers/engine/images.h"
#include "kinds/image_reference.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t last_nix_lines = 10, longest_nix_line = 500, longest_manifest = 1 << 20;

/// What Nix says meanwhile: the last line is shown, the last ones tell why it failed.
class NixLines {
 public:
  NixLines(std::string image, const ProgressSink& progress)
      : image_(std::move(image)), progress_(progress) {}

  ByteSink sink() {
    return line_sink([this](std::string_view line) -> Status {
      lines_.emplace_back(clipped(std::string(trim(line)), longest_nix_line));
      if (lines_.size() > last_nix_lines)
        lines_.pop_front();
      if (progress_ && !lines_.back().empty())
        progress_({.text = cat("building ", image_, ": ", lines_.back())});
      return {};
    });
  }
  Error failure(std::string_view what) const {
    std::string text = cat("cannot build `", image_, "`: ", what);
    for (const std::string& line : lines_)
      text += cat("\n  ", line);
    return world_error(std::move(text));
  }

 private:
  std::string image_;
  const ProgressSink& progress_;
  std::deque<std::string> lines_;
};

/// The file in Nix's store that a flake's output is.
Result<Path> built_file(const Path& context, const ImageBuild& wanted, const WaitLimits& limits,
                        NixLines& lines, const std::stop_token& stop) {
  const Path nix = find_program("nix");
  if (nix.empty())
    return user_error("`nix` is not on this machine any more");
  Invocation command;
  command.arguments = {nix.string(),
                       "build",
                       cat("path:", context.string(), "#", wanted.nix_output.view()),
                       "--no-link",
                       "--json",
                       "--no-write-lock-file",
                       "--extra-experimental-features",
                       "flakes nix-command"};
  for (const auto& [name, value] :
       {std::pair("sandbox", "true"), std::pair("sandbox-fallback", "false"),
        std::pair("accept-flake-config", "false")})
    command.arguments.insert(command.arguments.end(), {"--option", name, value});
  command.directory = context;
  command.session = true;
  command.time_limit = limits.whole;
  command.on_errors = lines.sink();
  Result<ProcessResult> made = run_process(command, stop);
  if (!made && is_cancelled(made.error()))
    return made.error();
  if (!made)
    return lines.failure(to_string(made.error()));
  if (made->code != 0)
    return lines.failure(cat("`nix build` ended with code ", made->code));
  const Result<Value> told = read_json(made->output);
  if (told && told->is_list() && told->items().size() == 1)
    for (const Entry& output : told->items()[0].at("outputs").entries())
      if (output.value.is_text())
        return Path(output.value.text().str());
  return lines.failure("`nix build` names no result");
}

/// The name that an image has in a tar.
Result<std::string> name_in(const Path& tar) {
  ArchiveReader reader(gunzip_if_compressed(TRY(source_of_file(tar))), {.links_may_leave = true});
  while (const auto entry = TRY(reader.next())) {
    if (entry->path != "manifest.json" || entry->size > longest_manifest)
      continue;
    std::string text(entry->size, '\0');
    for (size_t at = 0; at < text.size();) {
      const size_t count = TRY(reader.read(std::span(text).subspan(at)));
      if (count == 0)
        return world_error("its manifest is cut off");
      at += count;
    }
    const Value manifest = TRY(read_json(text));
    if (manifest.is_list() && !manifest.items().empty())
      if (const Value& names = manifest.items()[0].at("RepoTags");
          names.is_list() && !names.items().empty() && names.items()[0].is_text())
        return names.items()[0].text().str();
    return world_error("the image in it has no name");
  }
  return world_error("it is no archive of an image");
}

Status load(const Site& site, const Path& tar, const std::stop_token& stop) {
  EngineCall call{.method = "POST", .path = "/images/load"};
  call.doing = cat("loading `", tar.string(), "`");
  call.source = TRY(source_of_file(tar));
  call.still_at_it = site.engine.answers();
  const EngineAnswer answer = TRY(site.engine.ask(std::move(call), stop));
  return answer.ok() ? Status() : Status(engine_error(answer));
}

}  // namespace

Result<std::string> build_by_nix(const Site& site, const ImageBuild& wanted,
                                 const ProgressSink& progress, const std::stop_token& stop) {
  const std::string image = wanted.image.get().str();
  const TemporaryDirectory context = TRY(TemporaryDirectory::make());
  TRY(unpack(TRY(site.blobs.open(wanted.context.view())).source, context.path())
          .context(cat("reading the context of `", image, "`")));
  NixLines lines(image, progress);
  const Path tar = TRY(built_file(context.path(), wanted, site.options.limits, lines, stop));
  std::error_code failure;
  if (!std::filesystem::is_regular_file(tar, failure))
    return lines.failure(cat("`", tar.string(),
                             "` is no file: the output must be a tar of an image, "
                             "as `dockerTools.buildImage` makes it"));
  const Result<std::string> name = name_in(tar);
  if (!name)
    return lines.failure(cat("`", tar.string(), "`: ", to_string(name.error())));
  TRY(load(site, tar, stop));
  std::string id = TRY(image_id(site.engine, *name, stop));
  if (id.empty())
    return lines.failure(cat("the engine has no `", *name, "` after it was loaded"));
  if (full_reference(*name) != full_reference(image))
    TRY(tag_image(site.engine, id, image, stop));
  return id;
}

}  // namespace fettle
