#include "cli/command.h"

#include "cli/formats.h"
#include "cli/instead.h"
#include "cli/limits.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/shell_word.h"
#include "base/text.h"
#include "base/time.h"
#include "remote/session.h"

namespace fettle {
namespace {

/// The name of an option: its longest spelling without dashes, of equal ones the first.
std::string name_of(const CommandOption& option) {
  const std::string* best = &option.names.front();
  for (const std::string& name : option.names)
    if (name.starts_with("--") && !best->starts_with("--"))
      best = &name;
  return best->substr(best->find_first_not_of('-'));
}

/// A flag that begins nearly as somebody has written one: `--verbosity` for `--vebose`.
std::string_view begun_with(std::string_view spelling, const std::vector<std::string>& names) {
  constexpr size_t dashes = 2, least = 5;
  if (spelling.size() < dashes + least)
    return {};
  const std::string_view word = spelling.substr(dashes);
  for (const size_t size : {word.size() + 1, word.size()}) {
    std::vector<std::string_view> begins;
    for (const std::string& name : names)
      if (name.starts_with("--"))
        begins.push_back(std::string_view(name).substr(dashes, size));
    const std::string_view near = nearest(word, begins);
    for (const std::string& name : names)
      if (!near.empty() && name.starts_with("--") && name.compare(dashes, near.size(), near) == 0)
        return name;
  }
  return {};
}

Error unknown_option(const std::vector<CommandOption>& options, const Command& command,
                     std::string_view spelling) {
  std::vector<std::string> names;
  for (const CommandOption& option : options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  if (const std::string_view other = instead_of_flag(command.words, spelling); !other.empty())
    return user_error(
        cat("unknown flag `", spelling, "` of `fettle ", command.words, "`: ", other));
  // Every short flag is equally close to another one, so these get no suggestion.
  constexpr size_t least = 3;
  std::vector<std::string> spelled;
  std::ranges::copy_if(names, std::back_inserter(spelled),
                       [](const std::string& name) { return name.size() >= least; });
  std::string meant = spelling.size() < least ? std::string() : suggestion(spelling, spelled);
  if (const std::string_view begun = begun_with(spelling, names); meant.empty() && !begun.empty())
    meant = cat(", did you mean `", begun, "`?");
  return user_error(cat("unknown flag `", spelling, "` of `fettle ", command.words, "`", meant,
                        "\nsee `fettle help ", command.words, "`"));
}

/// A hint at the command for services, which people may mean.
std::string_view same_of_a_service(std::string_view words) {
  return words == "logs" ? "; `fettle service logs ENCLAVE SERVICE` shows the logs of a service"
         : words == "exec"
             ? "; `fettle service exec ENCLAVE SERVICE COMMAND` runs a command in a service"
             : "";
}

Error unknown_command(const std::vector<Command>& commands, const std::vector<std::string>& words) {
  if (!words.empty() && words[0].starts_with('-'))
    return user_error(
        cat("unknown flag `", printable(words[0]), "`; `fettle help` lists commands"));
  if (words.empty())
    return user_error("name a command; `fettle help` lists them");
  std::vector<std::string> names, of_group;
  const std::string& first = words[0];
  for (const Command& command : commands) {
    const auto own = split(command.words, ' ');
    if (own.size() > 1 && own[0] == first)
      of_group.emplace_back(own[1]);
    names.push_back(command.words);
    names.emplace_back(own[0]);
  }
  const std::string group = join(of_group, ", ");
  if (!group.empty() && words.size() < 2)
    return user_error(cat("`fettle ", first, "` needs one of ", group));
  const std::string asked = group.empty() ? first : cat(first, " ", words[1]);
  if (const std::string_view other = instead_of(asked); !other.empty())
    return user_error(cat("there is no command `fettle ", asked, "`: ", other));
  std::string near = group.empty() ? suggestion(asked, names) : suggestion(words[1], of_group);
  if (!group.empty() && !near.empty())
    near.insert(near.find('`') + 1, cat(first, " "));
  return user_error(cat("unknown command `fettle ", asked, "`", near,
                        group.empty()  ? "\nsee `fettle help`"
                        : near.empty() ? cat("; `", first, "` has ", group)
                                       : std::string()));
}

/// `-it`: several switches of one letter.
bool is_cluster(const std::vector<CommandOption>& options, const std::string& word) {
  if (word.size() < 3 || word[1] == '-')
    return false;
  return std::ranges::all_of(word.substr(1), [&](char letter) {
    const CommandOption* const one = find_option(options, cat("-", std::string(1, letter)));
    return one != nullptr && one->value.empty();
  });
}

/// Whether a switch may be set to this.
bool is_truth(const std::string& value) {
  const std::string low = lower_case(value);
  return low == "true" || low == "false" || low == "1" || low == "0" || low == "yes" || low == "no";
}

/// Whether a word is one of `a|b|c`.
bool is_one_of(std::string_view word, std::string_view words) {
  const std::vector<std::string_view> known = split(words, '|');
  return std::ranges::find(known, word) != known.end();
}

/// One word of the command line that begins with a dash, and its value.
Result<int64_t> number_in(std::string_view flag, std::string_view value) {
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failure != std::errc() || end != value.data() + value.size())
    return user_error(cat("`", flag, "` must be a number, not `", printable(value), "`"));
  return number;
}

/// Numbers and times are checked before a command does anything.
Status check_value(const CommandOption& option, std::string_view flag, std::string_view value) {
  if (option.value == "N" || option.value == "LINES")
    TRY(number_in(flag, value));
  if (option.value != "TIME")
    return {};
  if (const Result<Duration> time = parse_duration(value); !time || *time < Duration(0))
    return user_error(
        cat("`", flag, "` must be a time such as `10s` or `5m`, not `", printable(value), "`"));
  return {};
}

Result<size_t> parse_option(const std::vector<CommandOption>& options, const Command& command,
                            const std::vector<std::string>& words, size_t at, CommandLine& parsed) {
  std::string spelling = words[at], value;
  bool has_value = false;
  if (const size_t equals = spelling.find('=');
      spelling.starts_with("--") && equals != spelling.npos) {
    value = spelling.substr(equals + 1);
    spelling.resize(equals);
    has_value = true;
  }
  if (spelling.size() > 2 && spelling[1] != '-' && spelling[2] == '=') {  // `-n=1`
    value = spelling.substr(3);
    spelling.resize(2);
    has_value = true;
  }
  const CommandOption* option = find_option(options, spelling);
  // `-n1` is `-n 1`.
  if (option == nullptr && !spelling.starts_with("--") && spelling.size() > 2) {
    option = find_option(options, spelling.substr(0, 2));
    if (option != nullptr && option->value.empty())
      option = nullptr;
    value = spelling.substr(2);
    has_value = true;
  }
  if (option == nullptr && is_cluster(options, words[at])) {
    for (const char letter : words[at].substr(1))
      parsed.options[name_of(*find_option(options, cat("-", std::string(1, letter))))].push_back(
          "true");
    return at + 1;
  }
  if (option == nullptr)
    return unknown_option(options, command, spelling);
  if (option->value.empty() && has_value && !is_truth(value))
    return user_error(
        cat("the flag `", spelling, "` must be `true` or `false`, not `", value, "`"));
  if (option->value.empty()) {
    parsed.options[name_of(*option)].push_back(has_value ? value : "true");
    return at + 1;
  }
  // Idem has `--progress` without a value.
  const bool is_of_idem = command.words == "state" || command.words == "describe" ||
                          command.words == "refresh" || command.words == "validate";
  const bool is_switch = is_of_idem && !has_value && spelling == "--progress" &&
                         (at + 1 >= words.size() || !is_one_of(words[at + 1], option->value));
  if (is_switch)
    return at + 1;
  if (!has_value) {
    if (at + 1 >= words.size())
      return user_error(
          cat("the flag `", spelling, "` needs a value: `", spelling, " ", option->value, "`"));
    value = words[++at];
  }
  if (value.empty() && option->names.back() == "--environment")
    return user_error(cat("the flag `", spelling, "` needs the name of an environment"));
  TRY(check_value(*option, spelling, value));
  std::vector<std::string>& values = parsed.options[name_of(*option)];
  if (!option->repeated)
    values.clear();
  values.push_back(std::move(value));
  while (option->greedy && !has_value && at + 1 < words.size() && !words[at + 1].starts_with('-'))
    values.push_back(words[++at]);
  return at + 1;
}

/// The words that a flag took; the last ones may have been meant for the command.
std::string taken_by_flags(const std::vector<CommandOption>& options, const CommandLine& parsed) {
  for (const CommandOption& option : options)
    if (const std::string name = name_of(option); option.greedy && parsed.has(name))
      return cat("; `--", name, "` takes all words up to the next flag, `--", name, "=",
                 replace_all(option.value, "…", ""), "` takes one");
  return {};
}

/// Whether what follows is handed on as it is: the words of another command, flags among them.
bool has_rest(const Command& command, const CommandLine& parsed) {
  const size_t count = parsed.arguments.size();
  return count > command.least ||
         (count == command.least && (command.least == 0 || parsed.has("enclave")));
}

}  // namespace

CommandHost Face::command_host() const { return {}; }
std::optional<ServedCaller> Face::served() const { return std::nullopt; }
Result<CommandRequest> Face::scheduled_request() const {
  return user_error("only a server has schedules");
}

std::string usage_of(const Command& command) {
  const CommandOption* const file = find_option(command.options, "-f");
  return cat("fettle ", command.words, command.arguments.empty() ? "" : " ", command.arguments,
             file != nullptr && file->value == "FILE" ? " [-f FILE]" : "");
}

std::string CommandLine::text(const std::string& name, const std::string& otherwise) const {
  const auto found = options.find(name);
  return found == options.end() || found->second.empty() ? otherwise : found->second.back();
}

const std::vector<std::string>& CommandLine::all(const std::string& name) const {
  static const std::vector<std::string> none;
  const auto found = options.find(name);
  return found == options.end() ? none : found->second;
}

bool CommandLine::flag(const std::string& name, bool otherwise) const {
  if (!has(name))
    return otherwise;
  const std::string value = lower_case(text(name));
  return value != "false" && value != "0" && value != "no";
}

Result<int64_t> CommandLine::number(const std::string& name, int64_t otherwise) const {
  if (!has(name))
    return otherwise;
  return number_in(cat("--", name), text(name));
}

std::string CommandLine::argument(size_t i, const std::string& otherwise) const {
  return i < arguments.size() ? arguments[i] : otherwise;
}

Command CommandGroup::make(std::string words, std::string arguments, size_t least, size_t most,
                           std::string summary, std::vector<std::string> examples,
                           Result<int> (*run)(Face&), const std::vector<CommandOption>& own,
                           bool takes_rest) const {
  Command command{std::move(words),
                  std::move(arguments),
                  least,
                  most,
                  name,
                  std::move(summary),
                  std::move(examples),
                  options,
                  run,
                  takes_rest,
                  {}};
  command.options.insert(command.options.end(), own.begin(), own.end());
  command.place = place;
  return command;
}

Command CommandGroup::reader(std::string words, std::string arguments, size_t least, size_t most,
                             std::string summary, std::vector<std::string> examples,
                             Result<int> (*run)(Face&), const std::vector<CommandOption>& own,
                             bool takes_rest) const {
  Command command = make(std::move(words), std::move(arguments), least, most, std::move(summary),
                         std::move(examples), run, own, takes_rest);
  command.ends_with_reader = true;
  return command;
}

Command without_state(Command command) {
  command.needs_no_state = [](const CommandLine&) { return true; };
  return command;
}

Command with_files(Command command, void (*name_files)(const CommandLine&, NamedFiles&)) {
  command.name_files = name_files;
  return command;
}

std::vector<CommandOption> options_of(const Command& command) {
  std::vector<CommandOption> all = command.options;
  const bool waits_for_others = find_option(all, "--wait") != nullptr;
  for (CommandOption option : common_options()) {
    // If `--wait` is about what is done, its opposite is not about the lease.
    if (waits_for_others)
      std::erase(option.names, "--no-wait");
    all.push_back(std::move(option));
  }
  return all;
}

const CommandOption* find_option(const std::vector<CommandOption>& options,
                                 std::string_view spelling) {
  for (const CommandOption& option : options)
    if (std::find(option.names.begin(), option.names.end(), spelling) != option.names.end())
      return &option;
  return nullptr;
}

const std::vector<CommandOption>& common_options() {
  static const std::vector<CommandOption> options = [] {
    std::vector<CommandOption> common{
        {{"-o", "--output"}, join(common_formats(), "|"), "output format"},
        {{"--engine"},
         "ADDRESS",
         "unix:///…, tcp://…, ssh://…, agent://…, or `private`: a Podman of fettle's own; else "
         "$DOCKER_HOST, the usual sockets, a private Podman"},
        {{"--no-lease-wait", "--no-wait"},
         "",
         "fail if another process is working on the environment"},
    };
    const std::vector<CommandOption> limits = limit_options();
    common.insert(common.end(), limits.begin(), limits.end());
    common.push_back({{"--progress"},
                      "live|plain|none",
                      "how to show progress: at the bottom of the terminal (the default there), as "
                      "lines, or not at all"});
    const std::string for_scripts = "accepted for scripts of Kurtosis";
    common.push_back({{"--cli-log-level"}, "LEVEL", for_scripts});
    common.push_back({{"--debug-mode"}, "", for_scripts});
    common.push_back({{"--server"},
                      "URL",
                      "run the command at a server (`fettle serve`): its address, or the name of a "
                      "context; `local`: here; or $FETTLE_SERVER"});
    common.push_back({{"--store"},
                      "URL",
                      "keep state in PostgreSQL: `postgres://USER@HOST/DATABASE?schema=NAME`; "
                      "`file`: in the folder of fettle's state; or $FETTLE_STORE"});
    common.push_back({{"--show-secrets"}, "", "show hidden values"});
    common.push_back({{"-q", "--quiet"}, "", "print only results and errors"});
    common.push_back({{"-h", "--help"}, "", "this help"});
    return common;
  }();
  return options;
}

namespace {

Error unexpected_argument(const Command& command, const std::string& argument) {
  const CommandOption* const file = find_option(command.options, "-f");
  const bool may_be_file = command.most == 0 && file != nullptr && file->value == "FILE";
  return user_error(cat("unexpected argument `", printable(argument), "`: ",
                        may_be_file
                            ? cat("files are named with `-f`: `fettle ", command.words, " -f ",
                                  printable(quoted_for_shell(argument)), "`")
                            : cat("`", usage_of(command), "`", same_of_a_service(command.words))));
}

/// For a command about one environment, `-e` and the argument must not name two.
Status check_one_environment(const Command& command, const CommandLine& parsed) {
  const bool is_named_by_argument = command.arguments == "ENCLAVE" ||
                                    command.arguments == "[ENCLAVE]" ||
                                    command.arguments == "ENCLAVE…";
  const std::string named = parsed.text("enclave");
  if (!is_named_by_argument || named.empty())
    return {};
  for (const std::string& argument : parsed.arguments)
    if (argument != named)
      return user_error(cat("`-e ", printable(named), "` and `", printable(argument),
                            "` name two environments; give one of them"));
  return {};
}

/// The name of an argument in the usage line: `NAME` for `[NAME…]`. Repeated arguments come last.
std::string_view placeholder(const Command& command, const CommandLine& parsed, size_t argument) {
  const std::vector<std::string_view> names = split(command.arguments, ' ');
  const bool is_shifted = parsed.has("enclave") && names[0] == "ENCLAVE";
  const std::string_view name = names[std::min(argument + (is_shifted ? 1 : 0), names.size() - 1)];
  const size_t begin = name.find_first_not_of('[');
  return name.substr(begin, name.find_first_of("]\xe2", begin) - begin);  // `…` begins with it
}

/// An empty word is a variable that is not set rather than what is wanted, but where it may be a
/// value: of a setting, of a program, or of a package that takes no arguments.
Status check_empty(const Command& command, const CommandLine& parsed) {
  for (size_t i = 0; i < parsed.arguments.size(); ++i) {
    const std::string_view name = placeholder(command, parsed, i);
    const bool may_be_empty = name == "VALUE" || name == "COMMAND" || name == "ARGUMENTS";
    if (parsed.arguments[i].empty() && !may_be_empty)
      return user_error(cat("argument ", i + 1, " is empty: `", usage_of(command), "`"));
  }
  return {};
}

/// `-1`: an argument, since no flag begins with a digit.
bool is_negative_number(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::ranges::all_of(word.substr(1), [](char c) {
           return (c >= '0' && c <= '9') || c == '.';
         });
}

bool is_group(const std::vector<Command>& commands, std::string_view word) {
  return std::ranges::none_of(commands, [&](const Command& one) { return one.words == word; }) &&
         std::ranges::any_of(
             commands, [&](const Command& one) { return one.words.starts_with(cat(word, " ")); });
}

}  // namespace

const CommandOption* find_anywhere(const std::vector<Command>& commands,
                                   const std::string& spelling) {
  if (const CommandOption* common = find_option(common_options(), spelling))
    return common;
  const CommandOption* found = nullptr;
  for (const Command& command : commands) {
    if (command.group == words_of_scripts)
      continue;
    if (const CommandOption* one = find_option(command.options, spelling)) {
      if (found != nullptr && found->value.empty() != one->value.empty())
        return nullptr;
      found = one;
    }
  }
  return found;
}

std::vector<std::string> take_flags(const std::vector<Command>& commands,
                                    std::vector<std::string>& words, size_t at) {
  std::vector<std::string> taken;
  while (at < words.size() && words[at].size() > 1 && words[at][0] == '-') {
    std::string spelling = words[at].substr(0, words[at].find('='));
    const CommandOption* option = find_anywhere(commands, spelling);
    if (option == nullptr && spelling.size() > 2 && spelling[1] != '-') {  // `-ojson`
      spelling.resize(2);
      option = find_anywhere(commands, spelling);
      if (option != nullptr && option->value.empty())
        option = nullptr;
    }
    if (option == nullptr)
      break;
    const bool has_value = !option->value.empty() && spelling == words[at];
    for (size_t i = 0; i < (has_value ? 2 : 1) && at < words.size(); ++i) {
      taken.push_back(std::move(words[at]));
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  return taken;
}

Result<const Command*> parse_command(const std::vector<Command>& commands,
                                     std::vector<std::string> words, CommandLine& parsed) {
  std::vector<std::string> flags = take_flags(commands, words, 0);
  if (!words.empty() && is_group(commands, words[0]))
    for (std::string& flag : take_flags(commands, words, 1))
      flags.push_back(std::move(flag));
  const Command* found = nullptr;
  size_t used = 0;
  for (const Command& command : commands) {
    const auto own = split(command.words, ' ');
    if (own.size() <= words.size() && own.size() > used &&
        std::equal(own.begin(), own.end(), words.begin())) {
      found = &command;
      used = own.size();
    }
  }
  if (found == nullptr)
    return unknown_command(commands, words);
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(used));
  words.insert(words.begin(), flags.begin(), flags.end());
  const std::vector<CommandOption> options = options_of(*found);
  // A command that reads all of its words itself has the flags of every command, too.
  if (found->takes_rest && found->least == 0) {
    for (size_t at = 0; at < words.size();) {
      const std::string spelling = words[at].substr(0, words[at].find('='));
      if (find_option(common_options(), spelling) == nullptr || spelling == "-h" ||
          spelling == "--help") {
        parsed.arguments.push_back(words[at++]);
        continue;
      }
      at = TRY(parse_option(options, *found, words, at, parsed));
    }
    return found;
  }
  bool only_arguments = false;
  for (size_t at = 0; at < words.size();) {
    const std::string& word = words[at];
    const bool rest = only_arguments || (found->takes_rest && has_rest(*found, parsed));
    if (word == "--" && !only_arguments && (!rest || parsed.arguments.size() == found->least)) {
      only_arguments = true;
      ++at;
    } else if (!rest && word.size() > 1 && word[0] == '-' && word[1] != ':' &&
               !is_negative_number(word)) {  // `-:3` is a place in standard input
      at = TRY(parse_option(options, *found, words, at, parsed));
    } else {
      parsed.arguments.push_back(word);
      ++at;
    }
  }
  if (parsed.has("help"))
    return found;
  if (parsed.arguments.size() < found->least && !(found->file_is_argument && parsed.has("file")))
    return user_error(cat("`fettle ", found->words, "` needs more arguments: `", usage_of(*found),
                          "`", same_of_a_service(found->words), taken_by_flags(options, parsed)));
  if (parsed.arguments.size() > found->most)
    return unexpected_argument(*found, parsed.arguments[found->most]);
  TRY(check_empty(*found, parsed));
  TRY(check_one_environment(*found, parsed));
  return found;
}

}  // namespace fettle
