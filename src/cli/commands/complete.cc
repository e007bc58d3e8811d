#include "cli/complete.h"

#include "base/archive.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/workload_common.h"
#include "cli/print.h"
#include "controller/workload_objects.h"
#include "kinds/artifact.h"
#include "kinds/kinds.h"
#include "kinds/service.h"
#include "verbs/environments/files.h"
#include "verbs/environments/services.h"
#include "verbs/models/versions.h"
#include "workplace/orphans.h"
#include "workplace/settings.h"

namespace fettle {
namespace {

/// `CloneSet/default/web` as `cloneset/web`.
void add_workload(std::string_view owner, std::vector<std::string>& names) {
  const size_t first = owner.find('/'), last = owner.rfind('/');
  // Labels of pods stand there, too.
  if (first != owner.npos && !owner.starts_with("Pod/"))
    names.push_back(lower_case(owner.substr(0, first)) + std::string(owner.substr(last)));
}

constexpr size_t most_files = 1'000;

Status add_files(const Workplace& place, const std::map<std::string, RecordPointer>& artifacts,
                 const std::string& name, std::vector<std::string>& names) {
  const auto found = artifacts.find(name);
  if (found == artifacts.end())
    return {};
  // A shell waits for the answer: what stands deep in a large one is not named.
  constexpr ArchiveLimits limits{.bytes = 16 << 20, .links_may_leave = true};
  ArchiveReader reader(
      TRY(place.blobs->open(read_one<&ArtifactOutputs::digest>(found->second->outputs))).source,
      limits);
  while (names.size() < most_files) {
    const Result<std::optional<ArchiveEntry>> entry = reader.next();
    if (!entry || !*entry)
      break;
    if ((*entry)->type == ArchiveEntry::Type::file)
      names.push_back((*entry)->path);
  }
  return {};
}

/// Names as the store has them: no engine is asked.
Result<std::vector<std::string>> names_of(const Workplace& place, const NamesQuery& asked) {
  std::vector<std::string> names;
  if (asked.sort == Names::environments) {
    for (const Environment& environment : TRY(place.store->environments()))
      names.push_back(environment.name.str());
    return names;
  }
  if (asked.sort == Names::kinds)
    return kind_words();
  if (asked.sort == Names::nodes)
    return place.nodes ? place.nodes() : names;
  // If no environment is named, all of them are meant.
  std::vector<Name> environments;
  const bool is_of_fleet = asked.sort == Names::workloads || asked.sort == Names::pods;
  if (!asked.environment.empty() || is_of_fleet)
    environments.emplace_back(asked.environment.empty() ? default_fleet
                                                        : std::string_view(asked.environment));
  else
    for (const Environment& environment : TRY(place.store->environments()))
      environments.push_back(environment.name);
  for (const Name& environment : environments) {
    if (asked.sort == Names::versions) {
      for (const VersionHead& head : TRY(place.store->versions().heads(environment)))
        names.push_back(std::to_string(head.number));
      continue;
    }
    if (asked.sort == Names::sets || asked.sort == Names::workloads) {
      for (const auto& [piece, digest] :
           TRY(TRY(place.store->versions().open(environment, std::nullopt))->pieces()))
        if (asked.sort == Names::workloads)
          add_workload(piece.set, names);
        else if (!piece.set.empty() && (names.empty() || names.back() != piece.set.view()))
          names.push_back(piece.set.str());
      continue;
    }
    if (asked.sort == Names::settings) {
      for (const Setting& setting : TRY(settings(place, environment)))
        names.push_back(setting.name);
      continue;
    }
    const Known known = TRY(place.store->known(environment));
    if (asked.sort == Names::artifacts)
      for (const auto& [name, record] : files_artifacts(known))
        names.push_back(name);
    if (asked.sort == Names::files)
      TRY(add_files(place, files_artifacts(known), asked.artifact, names));
    if (asked.sort == Names::pods)
      for (const auto& [key, record] : known)
        if (key.kind == "pod" && record->by_hand != ByHand::removed)
          names.emplace_back(key.name.view().substr(key.name.view().rfind('/') + 1));
    if (asked.sort == Names::orphans)
      for (const Orphan& orphan : orphans_of(known, *place.kinds))
        names.push_back(to_string(orphan.key));
    if (asked.sort == Names::resources)
      for (const auto& [key, record] : known)
        names.push_back(to_string(key));
    if (asked.sort == Names::services || asked.sort == Names::ports)
      for (const RecordPointer& record : services_there(known, *place.kinds)) {
        const std::string name(service_name(record->applied->key));
        const Dict ports = read_one<&ServiceOutputs::ports>(record->outputs);
        if (asked.sort == Names::services)
          names.push_back(name);
        else if (name == asked.service)
          for (const Entry& port : ports.entries())
            names.push_back(port.key.str());
      }
  }
  return names;
}

}  // namespace

int complete(Face& face, const std::vector<Command>& commands, std::span<const std::string> words) {
  const NameSource source = [&](const NamesQuery& asked) -> std::vector<std::string> {
    const Result<Workplace*> place = face.workplace();
    return place ? names_of(**place, asked).value_or(std::vector<std::string>())
                 : std::vector<std::string>();
  };
  const Completions found = completions(commands, words, source);
  for (const std::string& word : found.words)
    print(word);
  return found.is_path_inside ? code_of_no_file : 0;
}

}  // namespace fettle
