#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "store/blobs.h"
#include "verbs/environments.h"

namespace fettle {
namespace {

std::string counted(size_t count, std::string_view what) {
  return cat(count, " ", what, count == 1 ? "" : "s");
}

Result<int> run(Face& face) {
  Workplace* place = TRY(face.workplace());
  std::vector<Value> removed;
  for (const Environment& environment : TRY(place->store->environments())) {
    const bool all = face.parsed.flag("all");
    // Others may be at work, and cleaning up as well.
    if (!TRY(place->store->environment(environment.name)))
      continue;
    // Kurtosis: what somebody has just made runs, though it has no service yet.
    if (!all && TRY(inspect_environment(*place, environment.name.str())).status != "stopped")
      continue;
    // What a model describes has not stopped because nothing of it is a container.
    if (!all && !TRY(place->store->versions().heads(environment.name)).empty())
      continue;
    const bool is_ours =
        TRY(remove_environment_if_there(*place, environment.name, !face.parsed.flag("no-wait"))
                .context(cat("environment `", environment.name, "`")));
    if (!is_ours)
      continue;
    removed.emplace_back(environment.name.str());
    if (!face.quiet && !face.json)
      print_error(cat(environment.name, " removed"));
  }
  // Contents that no artifact of any environment needs any more.
  std::set<std::string> used;
  for (const Environment& environment : TRY(place->store->environments()))
    for (const auto& [key, record] : TRY(place->store->known(environment.name))) {
      used.emplace(record->outputs.text_at("digest"));
      if (const Value& files = record->outputs.at("files"); files.is_dict())
        for (const Entry& file : files.entries())
          used.insert(to_text(file.value));
    }
  size_t blobs = 0;
  if (auto* folder = dynamic_cast<FolderBlobs*>(place->blobs))
    blobs = TRY(folder->collect(used, 1h));
  if (face.json)
    print_json(
        Value::dict({{"environments", Value::list(std::move(removed))}, {"contents", blobs}}));
  else if (!face.quiet)
    print_error(cat(counted(removed.size(), "environment"), " and ", counted(blobs, "content"),
                    " removed"));
  return 0;
}

}  // namespace

Command clean_command() {
  return CommandGroup{"environments", {}}.make(
      "clean", "", 0, 0,
      "Removes stopped environments, and contents that nobody has needed for an hour.",
      {"fettle clean", "fettle clean -a"}, run,
      {{{"-a", "--all"}, "", "running environments, too"}});
}

}  // namespace fettle
