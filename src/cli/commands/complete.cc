#include "cli/complete.h"

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "kinds/kinds.h"
#include "verbs/files.h"
#include "verbs/orphans.h"
#include "verbs/services.h"
#include "verbs/versions.h"

namespace fettle {
namespace {

/// Names as the store has them: no engine is asked.
Result<std::vector<std::string>> names_of(const Workplace& place, const NamesAsked& asked) {
  std::vector<std::string> names;
  if (asked.sort == Names::environments) {
    for (const Environment& environment : TRY(place.store->environments()))
      names.push_back(environment.name.str());
    return names;
  }
  // What is not named is all that there is.
  std::vector<Name> environments;
  if (!asked.environment.empty())
    environments.emplace_back(asked.environment);
  else
    for (const Environment& environment : TRY(place.store->environments()))
      environments.push_back(environment.name);
  for (const Name& environment : environments) {
    if (asked.sort == Names::versions) {
      for (const VersionHead& head : TRY(place.store->versions().heads(environment)))
        names.push_back(std::to_string(head.number));
      continue;
    }
    if (asked.sort == Names::sets) {
      const auto sets = list_sets(place, environment, std::nullopt);
      for (const SetHead& set : sets ? *sets : std::vector<SetHead>())
        names.push_back(set.name.str());
      continue;
    }
    const Known known = TRY(place.store->known(environment));
    if (asked.sort == Names::artifacts)
      for (const auto& [name, record] : files_artifacts(known))
        names.push_back(name);
    if (asked.sort == Names::orphans)
      for (const Orphan& orphan : orphans_of(known, *place.kinds))
        names.push_back(to_string(orphan.key));
    if (asked.sort == Names::resources)
      for (const auto& [key, record] : known)
        names.push_back(to_string(key));
    if (asked.sort == Names::services || asked.sort == Names::ports)
      for (const RecordPointer& record : services_there(known, *place.kinds)) {
        const std::string name(service_name(record->applied->key));
        const Value& ports = record->outputs.at("ports");
        if (asked.sort == Names::services)
          names.push_back(name);
        else if (name == asked.service && ports.is_dict())
          for (const Entry& port : ports.entries())
            names.push_back(port.key.str());
      }
  }
  return names;
}

}  // namespace

void complete(Face& face, const std::vector<Command>& commands,
              std::span<const std::string> words) {
  const NameSource source = [&](const NamesAsked& asked) -> std::vector<std::string> {
    const Result<Workplace*> place = face.workplace();
    return place ? names_of(**place, asked).value_or(std::vector<std::string>())
                 : std::vector<std::string>();
  };
  for (const std::string& word : completions(commands, words, source))
    print(word);
}

}  // namespace fettle
