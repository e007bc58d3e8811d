#include "documents/versions.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/version_print.h"
#include "cli/named_files.h"
#include "cli/print.h"
#include "model/export/push_file.h"
#include "value/json.h"
#include "verbs/models/export_model.h"
#include "workplace/settings.h"

namespace fettle {
namespace {

Result<uint64_t> version_number(const std::string& text) {
  if (text.empty() || text.size() > 15 || text.find_first_not_of("0123456789") != text.npos)
    return user_error(cat("`", text, "` is not a version number"));
  return static_cast<uint64_t>(std::stoull(text));
}

Result<std::optional<uint64_t>> chosen_version(const Face& face, size_t argument) {
  const std::string text = face.parsed.argument(argument);
  if (text.empty())
    return std::optional<uint64_t>();
  return std::optional(TRY(version_number(text)));
}

Result<int> list(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(model_environment(face, face.parsed.argument(0)));
  std::vector<std::vector<std::string>> rows{{"VERSION", "CREATED", "KIND", "RELEASED"}};
  const std::vector<VersionHead> heads = TRY(place->store->versions().heads(environment.name));
  for (const VersionHead& head : heads)
    rows.push_back({cat(head.number), to_string(head.created),
                    head.detail.bool_at("partial") ? "partial" : "full",
                    head.released ? to_string(*head.released) : ""});
  if (face.json)
    print_json(document_of(heads));
  else
    print(table(rows));
  return 0;
}

Result<int> version_show(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(model_environment(face));
  const WholeVersion whole =
      TRY(read_version(*place, environment.name, TRY(chosen_version(face, 0))));
  if (face.json) {
    print_json(document_of(whole));
    return 0;
  }
  print(whole_text(whole));
  return 0;
}

Result<int> version_diff(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(model_environment(face));
  const uint64_t older = TRY(version_number(face.parsed.argument(0)));
  std::optional<uint64_t> newer = TRY(chosen_version(face, 1));
  if (!newer)
    newer = TRY(place->store->versions().open(environment.name, std::nullopt))->number();
  const std::vector<ItemDifference> found =
      TRY(diff_versions(*place, environment.name, older, *newer));
  if (face.json)
    print_json(document_of(found));
  else
    print(differences_text(found, face.colour));
  return !found.empty() && face.parsed.flag("detailed-exitcode") ? 4 : 0;
}

Result<int> push(Face& face) {
  Workplace* place = TRY(face.workplace());
  const std::string file = face.parsed.argument(0);
  const std::string name = TRY(model_environment_name(face));
  const Value document = TRY(read_json(TRY(read_given(file)), shown_file(file)));
  Push push = TRY(read_push(document).context(cat("reading `", shown_file(file), "`")));
  for (const std::string& set : face.parsed.all("delete-resource-set"))
    push.removed.emplace_back(set);
  const bool is_dry = face.parsed.flag("dry-run");
  const PushResult pushed = TRY(push_version(*place, name, push, {}, is_dry));
  if (face.json)
    print_json(document_of(pushed, is_dry));
  else
    print(face.quiet ? cat(pushed.number) : pushed_text(pushed, is_dry, face.colour));
  return 0;
}

Result<int> check(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(model_environment(face));
  const std::vector<Finding> found =
      TRY(check_version(*place, environment.name, TRY(chosen_version(face, 0))));
  if (face.json)
    print_json(document_of(found));
  else if (found.empty())
    print("no findings");
  else
    for (const Finding& one : found)
      print(cat(one.where, one.where.empty() ? "" : ": ", one.rule, ": ", one.text,
                one.set.empty() ? "" : cat(" (set `", printable(one.set), "`)")));
  return !found.empty() && face.parsed.flag("detailed-exitcode") ? 4 : 0;
}

/// The name in `set ls` for resources without a set.
constexpr std::string_view shared_set = "(shared)";

Result<int> list_sets_of(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(model_environment(face));
  std::vector<std::vector<std::string>> rows{{"SET", "RESOURCES"}};
  const std::vector<SetHead> sets =
      TRY(list_sets(*place, environment.name, TRY(chosen_version(face, 0))));
  for (const SetHead& set : sets)
    rows.push_back(
        {set.name.empty() ? std::string(shared_set) : printable(set.name), cat(set.items)});
  if (face.json)
    print_json(document_of(sets));
  else
    print(table(rows));
  return 0;
}

Result<int> show_set(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(model_environment(face));
  const std::string name = face.parsed.argument(0);
  const WholeVersion whole =
      TRY(read_version(*place, environment.name, TRY(chosen_version(face, 1)),
                       name == shared_set ? Name() : Name(name)));
  if (face.json)
    print_json(document_of(whole));
  else
    print(whole_text(whole));
  return 0;
}

Result<int> list_settings(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(model_environment(face, face.parsed.argument(0)));
  std::vector<std::vector<std::string>> rows{{"SETTING", "VALUE", "MEANING"}};
  const std::vector<Setting> all = TRY(settings(*place, environment.name));
  for (const Setting& one : all)
    rows.push_back({one.name, one.value, one.help});
  if (face.json)
    print_json(document_of(all));
  else
    print(table(rows));
  return 0;
}

Result<int> get_setting(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(model_environment(face));
  const std::string text = TRY(setting(*place, environment.name, face.parsed.argument(0)));
  if (face.json)
    print_json(setting_value(text));
  else
    print(text);
  return 0;
}

Result<int> put_setting(Face& face) {
  Workplace* place = TRY(face.workplace());
  // The project of this folder may be set up before its first export; a name must be right.
  const Name environment = face.parsed.has("enclave") ? TRY(model_environment(face)).name
                                                      : Name(TRY(model_environment_name(face)));
  TRY(set_setting(*place, environment, face.parsed.argument(0), face.parsed.argument(1)));
  if (face.json)
    print_json(setting_document(face.parsed.argument(0), face.parsed.argument(1)));
  return 0;
}

}  // namespace

std::vector<Command> versions_commands() {
  const CommandGroup group{"models", {model_environment_option()}};
  const CommandOption exit_code{{"--detailed-exitcode"}, "", "exit code 4 when something differs"};
  return {
      group.reader("versions ls", "[ENVIRONMENT]", 0, 1, "Lists the versions of an environment.",
                   {"fettle versions ls", "fettle versions ls -e networks --output json"}, list),
      group.reader("versions show", "[VERSION]", 0, 1,
                   "Shows every resource of a version (default: the newest).",
                   {"fettle versions show", "fettle versions show 3 -e networks"}, version_show),
      group.reader("versions diff", "VERSION [VERSION]", 1, 2,
                   "Shows the differences between a version and another one (default: the newest).",
                   {"fettle versions diff 1", "fettle versions diff 1 2 -e networks"}, version_diff,
                   {exit_code}),
      group.reader("versions check", "[VERSION]", 0, 1,
                   "Checks a version against the guidelines of partial compiles.",
                   {"fettle versions check -e networks", "fettle versions check 3 -e networks"},
                   check, {exit_code}),
      with_files(
          group.make("versions push", "FILE", 1, 1,
                     "Pushes resources from JSON, with the arguments of Inmanta's put_version and "
                     "put_partial.",
                     {"fettle versions push push.json -e networks",
                      "fettle versions push push.json -e networks --dry-run"},
                     push,
                     {{{"--delete-resource-set"}, "NAME", "a set to delete; may be repeated", true},
                      {{"--dry-run"}, "", "show the result and store nothing"}}),
          [](const CommandLine& parsed, NamedFiles& named) {
            named.reads.push_back(parsed.argument(0));
          }),
      group.reader("set ls", "[VERSION]", 0, 1, "Lists the resource sets of a version.",
                   {"fettle set ls", "fettle set ls 3 -e networks"}, list_sets_of),
      group.reader(
          "set show", "NAME [VERSION]", 1, 2,
          "Shows the resources of a set; `(shared)` names those of no set.",
          {"fettle set show network-0 -e networks", "fettle set show network-0 3 -e networks"},
          show_set),
      group.reader("setting ls", "[ENVIRONMENT]", 0, 1, "Lists the settings of an environment.",
                   {"fettle setting ls", "fettle setting ls -e networks"}, list_settings),
      group.reader("setting get", "NAME", 1, 1, "Prints a setting of an environment.",
                   {"fettle setting get auto_full_compile -e networks",
                    "fettle setting get auto_deploy -e networks"},
                   get_setting),
      group.make("setting set", "NAME VALUE", 2, 2, "Changes a setting of an environment.",
                 {"fettle setting set auto_full_compile '0 1 * * *' -e networks",
                  "fettle setting set auto_deploy false -e networks"},
                 put_setting),
  };
}

}  // namespace fettle
