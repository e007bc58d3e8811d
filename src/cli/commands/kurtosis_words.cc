/// Words that scripts of Kurtosis call and for which nothing has to be done here. Each succeeds and
/// says why, on standard error: what a script reads from standard output is what it asked for.

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/kurtosis_forms.h"
#include "cli/print.h"

namespace fettle {
namespace {

int say_note(const Face& face, std::string_view note) {
  if (face.json)
    print_json(note_document(note));
  else if (!face.quiet)
    print_error(note);
  return 0;
}

/// Error (`Blame::user`): the argument is none of the words.
Status check_word(const Face& face, std::initializer_list<std::string_view> words) {
  const std::string word = face.parsed.argument(0);
  const std::vector<std::string_view> known(words);
  if (word.empty() || std::ranges::find(known, word) != known.end())
    return {};
  const std::string near = suggestion(word, known);
  std::string all;
  for (const std::string_view one : known)
    all += cat(all.empty() ? "" : ", ", one);
  return user_error(
      cat("unknown word `", printable(word), "`", near.empty() ? cat("; known are ", all) : near));
}

Result<int> analytics(Face& face) {
  TRY(check_word(face, {"enable", "disable", "id"}));
  return say_note(face, "fettle collects and sends no data; nothing is needed");
}

/// The path is one that a script may write, in our own folder; nobody reads it.
Result<int> config_path(Face& face) {
  const Workplace* const place = TRY(face.workplace());
  const std::string path = place->home + "/kurtosis-config.yml";
  if (face.json) {
    print_json(note_document(path));
    return 0;
  }
  print(path);
  if (!face.quiet)
    print_error(
        "fettle reads no configuration; flags and variables such as `$FETTLE_HOME` do "
        "what it would");
  return 0;
}

Result<int> config_init(Face& face) {
  TRY(check_word(face, {"send-metrics", "dont-send-metrics"}));
  return say_note(face, "fettle has no configuration and sends no data; nothing is needed");
}

constexpr std::array<std::string_view, 2> cluster_names{"docker", "podman"};

Result<int> cluster_set(Face& face) {
  const std::string name = face.parsed.argument(0);
  if (std::ranges::find(cluster_names, name) == cluster_names.end())
    return user_error(
        cat("there is no cluster `", printable(name),
            "`: packages run on one Docker or Podman, which `--engine ADDRESS` or `$DOCKER_HOST` "
            "names; manifests go to Kubernetes with `fettle install kubernetes`"));
  return say_note(
      face, cat("fettle finds Docker or Podman by itself; nothing is needed for `", name, "`"));
}

/// The engine that answers; Docker, as in Kurtosis, if none does.
Result<std::string> cluster_in_use(Face& face) {
  const EngineState state = TRY(face.engine(EngineVerb::look));
  return state.flavour.empty() ? std::string(cluster_names[0]) : lower_case(state.flavour);
}

Result<int> cluster_get(Face& face) {
  const std::string name = TRY(cluster_in_use(face));
  if (face.json)
    print_json(note_document(name));
  else
    print(name);
  return 0;
}

Result<int> cluster_ls(Face& face) {
  const std::string name = TRY(cluster_in_use(face));
  std::vector<std::vector<std::string>> rows{{"", "Name"}};
  std::vector<Value> all;
  for (const std::string_view one : cluster_names) {
    rows.push_back({one == name ? "*" : "", std::string(one)});
    all.emplace_back(one);
  }
  if (face.json)
    print_json(Value::list(std::move(all)));
  else
    print(kurtosis_table(rows));
  return 0;
}

Result<int> github(Face& face) {
  TRY(check_word(face, {"login", "logout", "status", "token"}));
  return say_note(face,
                  "packages are fetched by git with its own credentials, and fettle keeps none; "
                  "nothing is needed");
}

Result<int> feedback(Face& face) {
  return say_note(face, "fettle sends no feedback and opens no page; nothing is needed");
}

Result<int> docs(Face& face) {
  return say_note(face,
                  "fettle opens no page: `fettle help` lists the commands, `fettle help COMMAND` "
                  "explains one");
}

Result<int> chat(Face& face) { return say_note(face, "fettle opens no page; nothing is needed"); }

}  // namespace

Command lint_command();

std::vector<Command> kurtosis_commands() {
  const CommandGroup group{words_of_scripts, {}, CommandPlace::here};
  return {
      lint_command(),
      group.reader("analytics", "[enable|disable|id]", 0, 1,
                   "Accepted for scripts: fettle collects and sends no data.",
                   {"fettle analytics disable", "fettle analytics id"}, analytics),
      group.reader("config path", "", 0, 0,
                   "Prints a path for a configuration, which fettle does not read.",
                   {"fettle config path", "fettle config path -q"}, config_path),
      group.reader("config init", "[dont-send-metrics|send-metrics]", 0, 1,
                   "Accepted for scripts: fettle has no configuration.",
                   {"fettle config init dont-send-metrics", "fettle config init"}, config_init),
      group.reader("cluster get", "", 0, 0, "Prints docker or podman: the engine that answers.",
                   {"fettle cluster get", "fettle cluster get -o json"}, cluster_get),
      group.reader("cluster ls", "", 0, 0, "Lists docker and podman, the one in use with a star.",
                   {"fettle cluster ls", "fettle cluster ls -o json"}, cluster_ls),
      group.reader("cluster set", "NAME", 1, 1,
                   "Accepted for scripts: docker or podman, which fettle finds by itself.",
                   {"fettle cluster set docker", "fettle cluster set podman"}, cluster_set),
      group.reader("github", "[login|logout|status|token]", 0, 1,
                   "Accepted for scripts: git has the credentials for private packages.",
                   {"fettle github status", "fettle github login"}, github),
      group.reader("feedback", "[MESSAGE]", 0, 1, "Accepted for scripts: nothing is sent.",
                   {"fettle feedback", "fettle feedback --bug \"it is slow\""}, feedback,
                   {{{"--email"}, "", "accepted"},
                    {{"--calendly"}, "", "accepted"},
                    {{"-b", "--bug"}, "", "accepted"},
                    {{"-f", "--feature"}, "", "accepted"},
                    {{"-d", "--docs"}, "", "accepted"}}),
      group.reader("docs", "", 0, 0, "Says where commands are explained.",
                   {"fettle docs", "fettle docs -q"}, docs),
      group.reader("discord", "", 0, 0, "Accepted for scripts: no page is opened.",
                   {"fettle discord", "fettle discord -q"}, chat),
      group.reader("twitter", "", 0, 0, "Accepted for scripts: no page is opened.",
                   {"fettle twitter", "fettle twitter -q"}, chat),
  };
}

}  // namespace fettle
