/// The rules of the house that a machine can check: allowed includes, lengths of files, and
/// forbidden words.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "base/text.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

const std::string root = FETTLE_SOURCE_DIR;

/// A folder, and the other folders that it includes: those that it needs, and no more.
/// `docs/architecture.md` says why.
const std::map<std::string, std::set<std::string>> floors{
    {"base", {}},
    {"value", {"base"}},
    {"core", {"base", "value"}},
    {"jq", {"base", "value"}},
    {"kubernetes", {"base", "value"}},
    {"starlark", {"base", "value"}},
    {"programs", {"base", "value"}},
    {"template/go", {"base", "value"}},
    {"template/jinja", {"base", "value"}},
    {"versions", {"base", "value"}},
    {"kinds", {"base", "value", "core"}},
    {"store", {"base", "value", "core", "versions"}},
    {"plan", {"base", "value", "core"}},
    {"reconcile", {"base", "value", "core", "store", "plan"}},
    {"packages", {"base", "value", "core", "jq", "starlark", "template/go", "kinds", "plan"}},
    {"model",
     {"base", "value", "core", "versions", "starlark", "programs", "template/jinja", "kinds"}},
    {"states", {"base", "value", "core", "template/jinja", "kinds"}},
    {"workloads", {"base", "value", "core", "kinds"}},
    {"cluster", {"base", "value", "core", "kubernetes", "kinds", "workloads"}},
    {"drivers/cri", {"base"}},
    {"drivers/engine", {"base", "value", "core", "jq", "kinds", "drivers/cri"}},
    {"drivers/handler", {"base", "value", "core", "kinds", "starlark", "programs"}},
    {"drivers/state",
     {"base", "value", "core", "kinds", "starlark", "programs", "drivers/handler"}},
    {"drivers/kubernetes",
     {"base", "value", "core", "kubernetes", "kinds", "workloads", "cluster"}},
    {"drivers/agent", {"base", "value", "core", "store", "workplace", "remote"}},
    {"drivers/host", {"base", "value", "core", "kinds", "template/go"}},
    {"node", {"base", "value", "kinds", "kubernetes", "drivers/cri"}},
    {"workplace", {"base", "value", "core", "kinds", "store", "plan", "reconcile"}},
    {"controller",
     {"base", "value", "core", "kubernetes", "kinds", "store", "reconcile", "workloads", "cluster",
      "workplace"}},
    {"verbs",
     {"base", "value", "core", "kubernetes", "versions", "kinds", "store", "plan", "reconcile",
      "packages", "model", "states", "workloads", "cluster", "workplace", "controller",
      "drivers/state"}},
    {"remote", {"base", "value"}},
    {"documents",
     {"base", "value", "core", "kinds", "remote", "reconcile", "workplace", "controller", "verbs"}},
    {"server", {"base", "value", "core", "kinds", "workplace", "verbs", "documents"}},
    {"cli",
     {"base", "value", "core", "starlark", "programs", "kinds", "packages", "model", "states",
      "workplace", "controller", "verbs", "documents", "remote", "server"}},
    {"app",
     {"base", "value", "kubernetes", "kinds", "store", "reconcile", "drivers/agent",
      "drivers/engine", "drivers/handler", "drivers/kubernetes", "drivers/host", "node",
      "workplace", "controller", "documents", "cli", "remote", "server"}},
};

/// `drivers/host` of `src/drivers/host/files.cc`, `core` of `core/key.h`.
std::string folder_of(std::string path) {
  if (path.starts_with("src/"))
    path = path.substr(4);
  const size_t first = path.find('/');
  const bool has_parts = path.starts_with("drivers/") || path.starts_with("template/");
  return path.substr(0, has_parts ? path.find('/', first + 1) : first);
}

std::vector<fs::path> sources() {
  std::vector<fs::path> found;
  for (const char* folder : {"src", "sim", "tests", "bench"})
    for (const auto& entry : fs::recursive_directory_iterator(root + "/" + folder))
      if (entry.path().extension() == ".cc" || entry.path().extension() == ".h")
        found.push_back(entry.path());
  return found;
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}

std::string place_of(const fs::path& path) { return fs::relative(path, root).string(); }

/// Additional includes that tests may have.
bool is_of_tests(const std::string& from) {
  return from == "tests" || from == "store" || from == "kinds";
}

TEST(Tidy, EachFolderIncludesWhatItNeedsAndNoMore) {
  std::map<std::string, std::set<std::string>> used;
  for (const fs::path& path : sources()) {
    const std::string name = place_of(path);
    if (!name.starts_with("src/"))
      continue;
    const std::string folder = folder_of(name);
    const auto floor = floors.find(folder);
    ASSERT_NE(floor, floors.end()) << folder << " has no row in the table of floors";
    const bool is_test = name.ends_with("_test.cc");
    for (const std::string& line : lines_of(path)) {
      if (!line.starts_with("#include \""))
        continue;
      const std::string included = line.substr(10, line.find('"', 10) - 10);
      const std::string from = folder_of(included);
      if (from == folder || (is_test && (is_of_tests(from) || folder == "verbs")))
        continue;
      EXPECT_TRUE(floor->second.contains(from)) << name << " includes " << included;
      if (!is_test)
        used[folder].insert(from);
    }
  }
  for (const auto& [folder, may] : floors)
    for (const std::string& other : may)
      EXPECT_TRUE(used[folder].contains(other) || other == "base" || other == "value")
          << folder << " needs nothing of " << other;
}

/// The room of a file on a floor that is divided into rooms; files next to the folders are in `.`,
/// except the interface, which has the floor's name and is its own room.
std::string room_of(const std::string& name, const std::string& floor) {
  const std::string rest = name.substr(floor.size() + 1);
  const size_t slash = rest.find('/');
  if (rest == floor + ".h")
    return rest;
  return slash == rest.npos ? "." : rest.substr(0, slash);
}

/// A way from a room back to itself; empty if there is none.
std::string circle_through(const std::string& room,
                           const std::map<std::string, std::map<std::string, std::string>>& uses) {
  std::map<std::string, std::string> way{{room, room}};  // by room, the way to it
  std::vector<std::string> open{room};
  while (!open.empty()) {
    const std::string from = open.back();
    open.pop_back();
    const auto found = uses.find(from);
    if (found == uses.end())
      continue;
    for (const auto& [to, file] : found->second) {
      const std::string here = way[from] + " -> " + to + " (" + file + ")";
      if (to == room)
        return here;
      if (way.emplace(to, here).second)
        open.push_back(to);
    }
  }
  return "";
}

/// So a header that lacks an include fails when its source is compiled alone.
TEST(Tidy, ASourceIncludesItsOwnHeaderFirst) {
  static const std::regex include(R"re(#include\s+["<]([^">]+)[">])re");
  for (const fs::path& path : sources()) {
    const std::string name = place_of(path);
    if (!name.starts_with("src/") || path.extension() != ".cc" || name.ends_with("_test.cc") ||
        !fs::exists(fs::path(path).replace_extension(".h")))
      continue;
    std::smatch found;
    const std::vector<std::string> lines = lines_of(path);
    const auto first = std::ranges::find_if(
        lines, [&](const std::string& line) { return std::regex_search(line, found, include); });
    ASSERT_NE(first, lines.end()) << name;
    std::string own = name.substr(4);
    own.replace(own.size() - 3, 3, ".h");
    EXPECT_EQ(found[1].str(), own) << name;
  }
}

TEST(Tidy, RoomsOfAFloorHaveNoCircle) {
  for (const std::string floor : {"model", "starlark", "verbs", "workloads"}) {
    std::map<std::string, std::map<std::string, std::string>> uses;
    for (const fs::path& path : sources()) {
      const std::string name = place_of(path);
      if (!name.starts_with("src/" + floor + "/") || name.ends_with("_test.cc"))
        continue;
      const std::string room = room_of(name.substr(4), floor);
      for (const std::string& line : lines_of(path))
        if (line.starts_with("#include \"" + floor + "/")) {
          const std::string to = room_of(line.substr(10, line.find('"', 10) - 10), floor);
          if (to != room)
            uses[room].emplace(to, name);
        }
    }
    ASSERT_GE(uses.size(), 2u) << floor;
    for (const auto& [room, others] : uses)
      EXPECT_EQ(circle_through(room, uses), "") << "in src/" << floor;
  }
}

/// A verb is in the room of its subject; `src/workplace` has the code that verbs share.
TEST(Tidy, VerbsStandInRooms) {
  for (const auto& entry : fs::directory_iterator(root + "/src/verbs"))
    EXPECT_TRUE(entry.is_directory() || entry.path().filename() == "CMakeLists.txt")
        << "which room of src/verbs is " << entry.path() << " of?";
}

/// The arguments of each call of a function whose name starts like this.
std::vector<std::string> arguments_of_calls(const fs::path& path, const std::string& name) {
  std::string text;
  for (const std::string& line : lines_of(path))
    text += line + "\n";
  std::vector<std::string> found;
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const size_t open = text.find('(', at);
    size_t end = open;
    for (int depth = 0; end < text.size(); ++end) {
      depth += (text[end] == '(') - (text[end] == ')');
      if (depth == 0)
        break;
    }
    found.push_back(text.substr(open, end - open));
  }
  return found;
}

/// A face prints the documents of `src/documents`, so that every face says the same. These commands
/// make dicts that are not documents: attributes, calls and memory for verbs.
TEST(Tidy, CommandsMakeNoDocuments) {
  const std::set<std::string> gives_dicts{"files.cc", "service.cc", "state.cc", "state_exec.cc",
                                          "state_memory.cc"};
  size_t calls = 0;
  for (const fs::path& path : sources()) {
    const std::string name = place_of(path);
    if (!name.starts_with("src/cli/commands/") && !name.starts_with("src/app/"))
      continue;
    for (const std::string& arguments : arguments_of_calls(path, "print_json")) {
      ++calls;
      EXPECT_EQ(arguments.find("Value::dict("), arguments.npos) << name << ": " << arguments;
    }
    for (const std::string& line : lines_of(path))
      EXPECT_TRUE(line.find("Value::dict(") == line.npos || name == "src/app/libraries.cc" ||
                  gives_dicts.contains(path.filename().string()))
          << name << " makes a document, which a function in src/documents does: " << line;
  }
  EXPECT_GT(calls, 80u);
}

TEST(Tidy, NoFileOfALanguageIsLong) {
  constexpr size_t most = 500;
  for (const fs::path& path : sources()) {
    const std::string name = place_of(path);
    const bool is_of_language = name.starts_with("src/model/") || name.starts_with("src/starlark/");
    // The machine's loop is one function, with a label for each instruction.
    EXPECT_TRUE(!is_of_language || name == "src/starlark/eval/run.cc" ||
                lines_of(path).size() <= most)
        << name;
  }
}

TEST(Tidy, ProductionFoldersHoldNoFixtures) {
  for (const fs::path& path : sources()) {
    const std::string name = place_of(path);
    const std::string file = path.filename().string();
    EXPECT_FALSE(name.starts_with("src/") &&
                 (file.find("fixture") != file.npos || file.starts_with("test_") ||
                  file.starts_with("fake_")))
        << name << " belongs below tests/";
  }
}

/// The lines of the sources below `src`, except tests.
void for_each_line(const std::function<void(const std::string& file, const std::string& line)>& f) {
  for (const fs::path& path : sources()) {
    const std::string file = place_of(path);
    if (!file.starts_with("src/") || file.ends_with("_test.cc"))
      continue;
    for (const std::string& line : lines_of(path))
      f(file, line);
  }
}

/// A call of an interface works for every implementation; a cast to one of them does not.
TEST(Tidy, FloorsAskInterfacesAndCastToNothing) {
  const std::set<std::string> above{"workplace", "controller", "verbs", "cli", "app"};
  for_each_line([&](const std::string& file, const std::string& line) {
    EXPECT_FALSE(above.contains(folder_of(file)) && line.find("dynamic_cast<") != line.npos)
        << file << ": " << line;
  });
}

/// An instruction is a file and a row; no other code asks which one it is. (`render_templates` is
/// part of a driver's error.)
TEST(Tidy, OnlyPackagesKnowNamesOfInstructions) {
  static const std::regex name(
      R"re("(add_services?|get_services?|(set|remove|start|stop)_service|upload_files|)re"
      R"re(store_service_files|get_files_artifact|run_sh|run_python|get_cluster_type)")re");
  for_each_line([&](const std::string& file, const std::string& line) {
    EXPECT_FALSE(!file.starts_with("src/packages/") && line.find("_") != line.npos &&
                 std::regex_search(line, name))
        << file << ": " << line;
  });
}

/// Only the struct of its kind reads a member of a payload: the class has no look-up by name. These
/// files and those that keep, compare and fill payloads of all kinds may have the dict.
TEST(Tidy, FewOpenPayloads) {
  const std::set<std::string> may{
      "src/cli/commands/service.cc",        // a change on top of all that is known
      "src/controller/pods_since.cc",       // one member of a status that others extend
      "src/documents/resources.cc",         // shows outputs
      "src/documents/services.cc",          // the same
      "src/drivers/agent/act_codec.cc",     // carries them to another machine
      "src/drivers/host/commands.cc",       // looks for secrets
      "src/drivers/state/driver.cc",        // the same
      "src/packages/draft.cc",              // fills holes
      "src/verbs/fleet/pod_document.cc",    // shows the status of a pod
      "src/verbs/packages/run_package.cc",  // fills holes
      "src/verbs/states/state_looks.cc",    // the same
      "src/verbs/states/state_memory.cc",   // the memory of a thing is its attributes
      "src/verbs/states/state_results.cc",  // the same, as results show it
      "src/verbs/states/states_past.cc",    // the same, as references read it
      "src/workloads/pods/pod_edit.cc",     // changes one member of a pod and shares the rest
      "src/workplace/field_changes.cc",     // shows the fields that differ
      "src/workplace/preview.cc"};          // digests what a plan was made of
  const std::set<std::string> keepers{"core", "kinds", "store", "plan", "reconcile"};
  std::set<std::string> open;
  for_each_line([&](const std::string& file, const std::string& line) {
    if (line == "#include \"core/open_payload.h\"" &&
        !keepers.contains(folder_of(file.substr(4))) && !file.ends_with("_test.cc"))
      open.insert(file);
  });
  EXPECT_EQ(open, may);
}

/// A type is a noun of the field, so that a reader knows what it holds. Tenses and outcomes are said
/// by participles, and some gerunds have become nouns.
TEST(Tidy, TypesAreNouns) {
  const std::set<std::string> may{"Wanted",  "Known",    "Seen",    "Found",    "Done",
                                  "Failed",  "Skipped",  "Pending", "Binding",  "Finding",
                                  "Setting", "Spelling", "Spacing", "Nothing",  "Undefined",
                                  "Need",    "Thing",    "String",  "Standing", "Meaning"};
  static const std::regex type(
      R"(^ *(struct|class|enum class|enum|using) ([A-Z][a-z]+(ed|ing)|Asked|Bound|Brought|Built|Foreseen|Given|Gone|Held|Hidden|Kept|Known|Left|Lent|Lost|Made|Met|Ran|Said|Seen|Sent|Shown|Taken|Told|Written)\b *(:|\{|=|final).*)");
  for_each_line([&](const std::string& file, const std::string& line) {
    std::smatch match;
    if (std::regex_match(line, match, type) && !may.contains(match[2].str()))
      ADD_FAILURE() << file << ": `" << match[2] << "` says what was done; a noun says what it is";
  });
}

TEST(Tidy, FrontEndsDoNotKnowEachOther) {
  const std::set<std::string> front_ends{"packages", "model", "states", "workloads"};
  for (const auto& [folder, may] : floors)
    for (const std::string& other : front_ends) {
      EXPECT_FALSE(front_ends.contains(folder) && may.contains(other))
          << folder << " may include " << other;
    }
}

TEST(Tidy, FilesAreNotTooLong) {
  for (const fs::path& path : sources()) {
    if (const std::string name = place_of(path); !name.ends_with("_test.cc")) {
      EXPECT_LE(lines_of(path).size(), 800u) << name;
    }
  }
}

/// The folder whose sources are compiled together with one.
std::string module_of(const fs::path& path) {
  fs::path folder = path.parent_path();
  while (!fs::exists(folder / "CMakeLists.txt"))
    folder = folder.parent_path();
  return place_of(folder);
}

/// `std::map<Name, int> a, const Key& b = {}` as `std::map<Name, int>,const Key&,`.
std::string types_of(std::string_view parameters) {
  static const std::regex name(R"(([ &*>])\w+$)"), value(R"(\s*=.*)");
  std::string types, parameter;
  int depth = 0;
  const auto add = [&] {
    parameter = std::regex_replace(parameter, value, "");
    types += std::string(trim(std::regex_replace(parameter, name, "$1"))) + ",";
    parameter.clear();
  };
  for (const char c : parameters) {
    depth += (c == '<' || c == '(' || c == '{') - (c == '>' || c == ')' || c == '}');
    if (depth < 0)
      break;
    if (c == ',' && depth == 0)
      add();
    else
      parameter += c;
  }
  add();
  return types;
}

/// The names that a source declares for itself: `Row` for a type or a constant, `find(const Key&,)`
/// for a function.
std::set<std::string> own_names(const fs::path& path) {
  static const std::regex type(R"(^(struct|class|enum class|union) (\w+))");
  static const std::regex constant(R"(^(constexpr|const) [^(={]*[ &*>](\w+)(\[\w*\])?( =|\{|;))");
  static const std::regex function(R"(^[\w:][^={]*?[ &*>](\w+)\((.*))");
  std::set<std::string> names;
  bool is_inside = false;
  std::string declaration;
  for (const std::string& line : lines_of(path)) {
    if (line.starts_with("namespace {") || line.starts_with("}  // namespace")) {
      is_inside = line.starts_with("namespace {");
      declaration.clear();
      continue;
    }
    const bool begins = !line.empty() && (std::isalpha(static_cast<unsigned char>(line[0])) != 0);
    if (!is_inside || (!begins && declaration.empty()))
      continue;
    declaration += begins ? line : " " + std::string(trim(line));
    if (declaration.find_first_of("{;=") == declaration.npos)
      continue;
    std::smatch found;
    if (std::regex_search(declaration, found, type) ||
        std::regex_search(declaration, found, constant))
      names.insert(found[2]);
    else if (!declaration.starts_with("template") && !declaration.starts_with("using") &&
             std::regex_search(declaration, found, function))
      names.insert(found[1].str() + "(" + types_of(found[2].str()) + ")");
    declaration.clear();
  }
  return names;
}

/// Sources of a folder are compiled as one.
TEST(Tidy, WhatASourceDeclaresForItselfIsUniqueInItsFolder) {
  std::map<std::string, std::map<std::string, std::string>> declared;
  for (const fs::path& path : sources()) {
    const std::string name = place_of(path);
    const std::string folder = module_of(path);
    if (!name.starts_with("src/") || !name.ends_with(".cc") || name.ends_with("_test.cc") ||
        name.find("/fuzz/") != name.npos || name.ends_with("/main.cc"))
      continue;
    for (const std::string& own : own_names(path)) {
      const auto& [before, is_new] = declared[folder].emplace(own, name);
      EXPECT_TRUE(is_new) << before->second << " and " << name << " both declare " << own
                          << ": share it in a header, or give it a name that says which";
    }
  }
  EXPECT_GT(declared["src/verbs"].size(), 200u);
}

/// Two types with one name are one to the linker, which takes the functions of either for both.
TEST(Tidy, ATypeHasItsNameForItself) {
  static const std::regex room(R"(^(inline )?namespace ([\w:]+) \{)");
  static const std::regex type(R"(^(struct|class|enum class|enum|union) (\w+)( [^;]*)?\{)");
  std::map<std::string, std::string> declared;
  for (const fs::path& path : sources()) {
    const std::string file = place_of(path);
    if (!file.starts_with("src/") || !file.ends_with(".h"))
      continue;
    std::vector<std::string> rooms;
    for (const std::string& line : lines_of(path)) {
      std::smatch found;
      if (std::regex_search(line, found, room))
        rooms.push_back(found[2].str() + "::");
      else if (line.starts_with("}  // namespace") && !rooms.empty())
        rooms.pop_back();
      if (!std::regex_search(line, found, type))
        continue;
      std::string name;
      for (const std::string& one : rooms)
        name += one;
      name += found[2].str();
      const auto& [before, is_new] = declared.emplace(name, file);
      EXPECT_TRUE(is_new) << before->second << " and " << file << " both declare " << name;
    }
  }
  EXPECT_GT(declared.size(), 500u);
}

TEST(Tidy, WhatDecidesAsksNoClockAndDrawsNoRandomNumbers) {
  for (const fs::path& path : sources()) {
    const std::string name = place_of(path);
    const std::string folder =
        name.starts_with("src/") ? name.substr(4, name.find('/', 4) - 4) : "";
    if (folder != "core" && folder != "plan" && folder != "kinds" && folder != "workloads" &&
        name.find("reconcile/run") == name.npos)
      continue;
    for (const std::string& line : lines_of(path))
      for (const char* banned : {"system_clock", "steady_clock", "getenv", "rand(",
                                 "now_from_clock", "std::thread", "fstream"})
        EXPECT_EQ(line.find(banned), std::string::npos) << name << ": " << line;
  }
}

TEST(Tidy, ThereIsOneExecutor) {
  size_t found = 0;
  for (const fs::path& path : sources()) {
    const std::string name = place_of(path);
    if (!name.starts_with("src/") || name.ends_with("_test.cc"))
      continue;
    for (const std::string& line : lines_of(path)) {
      const bool asks = line.find("->apply(") != line.npos || line.find(".apply(") != line.npos;
      const bool performs = line.find("perform(*") != line.npos;
      // A driver around another one passes its acts on.
      const bool hands_on = name == "src/verbs/states/paced_drivers.cc" ||
                            name == "src/verbs/states/path_owners.cc" ||
                            name == "src/app/machine_choice.cc" ||
                            name == "src/drivers/agent/act_host.cc";
      EXPECT_TRUE(!asks || hands_on || name == "src/core/core.cc")
          << name << " has a driver act beside the loop: " << line;
      EXPECT_TRUE(!performs || name == "src/reconcile/executor.cc")
          << name << " has a driver act beside the loop: " << line;
      found += asks || performs ? 1 : 0;
    }
  }
  EXPECT_EQ(found, 6u);
}

TEST(Tidy, NoUnfinishedPlaces) {
  // Split in two, so that this file does not contain them.
  const std::vector<std::string_view> words{
      "FIX"
      "ME",
      "co_"
      "await",
      "using "
      "namespace fettle",
      "using "
      "namespace std;"};
  for (const fs::path& path : sources())
    for (const std::string& line : lines_of(path))
      for (const std::string_view word : words)
        EXPECT_EQ(line.find(word), std::string::npos) << place_of(path) << ": " << line;
}

/// The texts between backquotes on a page.
std::vector<std::string> quoted_on(const fs::path& page) {
  std::vector<std::string> found;
  for (const std::string& line : lines_of(page))
    for (size_t open = line.find('`'); open != line.npos;) {
      const size_t close = line.find('`', open + 1);
      if (close == line.npos)
        break;
      found.push_back(line.substr(open + 1, close - open - 1));
      open = line.find('`', close + 1);
    }
  return found;
}

/// `Suite.Name` of every test.
std::set<std::string> names_of_tests() {
  std::set<std::string> tests;
  for (const fs::path& path : sources())
    if (place_of(path).ends_with("_test.cc"))
      for (const std::string& line : lines_of(path))
        if (line.starts_with("TEST"))
          if (const size_t open = line.find('('), comma = line.find(", "), close = line.find(')');
              close != line.npos && comma < close)
            tests.insert(line.substr(open + 1, comma - open - 1) + "." +
                         line.substr(comma + 2, close - comma - 2));
  return tests;
}

/// Whether a file exists, and for `path: WORDS` a chunk in it that starts with the line `# WORDS`.
bool place_exists(const std::string& name) {
  const size_t colon = name.find(": ");
  const fs::path file = root + "/" + name.substr(0, colon);
  if (colon == name.npos || !fs::exists(file))
    return fs::exists(file);
  const std::vector<std::string> lines = lines_of(file);
  return std::count(lines.begin(), lines.end(), "# " + name.substr(colon + 2)) == 1;
}

TEST(Tidy, TheTestsThatTheManualNamesExist) {
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  const std::set<std::string> tests = names_of_tests();
  for (const char* page : {"resolver.md", "promises.md", "model-tests.md", "trust.md"}) {
    size_t checked = 0;
    for (const std::string& name : quoted_on(root + "/docs/" + page)) {
      const size_t point = name.find('.');
      const bool is_test = point != name.npos && point + 1 < name.size() && is_capital(name[0]) &&
                           is_capital(name[point + 1]);
      if (!is_test && !name.starts_with("tests/"))
        continue;
      ++checked;
      EXPECT_TRUE(is_test ? tests.contains(name) : place_exists(name)) << page << ": " << name;
    }
    EXPECT_GT(checked, 40u) << page;
  }
}

TEST(Tidy, EveryTryOfThePageOnTrustHasATest) {
  size_t tries = 0;
  bool in_table = false;
  for (const std::string& line : lines_of(root + "/docs/trust.md")) {
    in_table = in_table ? line.starts_with("|") : line.starts_with("| a package tries to |");
    if (!in_table || line.starts_with("|---") || line.starts_with("| a package tries to |"))
      continue;
    ++tries;
    const std::string tests = line.substr(line.rfind("| ", line.size() - 2));
    EXPECT_NE(tests.find('`'), tests.npos) << line;
    EXPECT_NE(tests.find('.'), tests.npos) << line;
  }
  EXPECT_GE(tries, 40u);
}

/// What a program has left where it ran, or a home, would be committed with the next change.
TEST(Tidy, NothingElseStandsAtTheTop) {
  const std::set<std::string> known{"CMakeLists.txt",
                                    "CMakePresets.json",
                                    "README.md",
                                    "bench",
                                    "build",
                                    "cmake",
                                    "dev",
                                    "docs",
                                    "examples",
                                    "packaging",
                                    "page",
                                    "python",
                                    "sim",
                                    "src",
                                    "tests",
                                    "compile_commands.json"};
  size_t found = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.'))
      continue;
    ++found;
    EXPECT_TRUE(known.contains(name)) << name;
  }
  EXPECT_GT(found, 10u);
}

TEST(Tidy, ThePathsThatTheArchitectureNamesExist) {
  const fs::path page = root + "/docs/architecture.md";
  ASSERT_TRUE(fs::exists(page));
  size_t checked = 0;
  for (const std::string& path : quoted_on(page)) {
    const bool is_path = path.starts_with("src/") || path.starts_with("sim/") ||
                         path.starts_with("tests/") || path.starts_with("docs/") ||
                         path.starts_with("bench/");
    if (!is_path || path.find('<') != path.npos)
      continue;
    ++checked;
    EXPECT_TRUE(fs::exists(root + "/" + path)) << path;
  }
  EXPECT_GT(checked, 20u);
}

}  // namespace
}  // namespace fettle
