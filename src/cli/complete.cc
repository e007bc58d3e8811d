#include "cli/complete.h"

#include <algorithm>

#include "base/text.h"
#include "cli/commands/workload_common.h"

namespace fettle {
namespace {

/// The longest command that the words begin with, flags left out.
const Command* command_of(const std::vector<Command>& commands,
                          const std::vector<std::string>& words) {
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
  return found;
}

/// The words that were typed before the one that is completed.
struct TypedWords {
  const Command* command = nullptr;
  std::vector<std::string> arguments;
  std::string environment;
  const CommandOption* open = nullptr;  ///< a flag that waits for its value
};

/// A flag of the command, or of any while nobody knows of which.
const CommandOption* find_typed(const std::vector<Command>& commands, const TypedWords& typed,
                                const std::vector<CommandOption>& options,
                                const std::string& spelling) {
  return typed.command == nullptr ? find_anywhere(commands, spelling)
                                  : find_option(options, spelling);
}

TypedWords read_typed(const std::vector<Command>& commands, std::span<const std::string> words,
                      std::vector<CommandOption>& options) {
  TypedWords typed;
  std::vector<std::string> bare;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with('-')) {
      bare.push_back(words[i]);
      continue;
    }
    // A flag before the command may have its value in the next word.
    const CommandOption* const option = find_anywhere(commands, words[i]);
    if (option != nullptr && !option->value.empty())
      ++i;
  }
  typed.command = command_of(commands, bare);
  if (typed.command != nullptr)
    options = options_of(*typed.command);
  for (size_t i = 0; i < words.size(); ++i) {
    typed.open = nullptr;
    if (!words[i].starts_with('-') || words[i] == "-") {
      typed.arguments.push_back(words[i]);
      continue;
    }
    const size_t equals = words[i].find('=');
    const CommandOption* const option =
        find_typed(commands, typed, options, words[i].substr(0, equals));
    if (option == nullptr || option->value.empty())
      continue;
    const bool is_environment = option->names.back() == "--environment";
    if (equals != std::string::npos) {
      if (is_environment)
        typed.environment = words[i].substr(equals + 1);
    } else if (i + 1 == words.size()) {
      typed.open = option;
    } else if (++i; is_environment) {
      typed.environment = words[i];
    }
  }
  return typed;
}

std::vector<std::string> placeholders_of(const Command& command) {
  std::vector<std::string> places;
  for (const std::string_view word : split(command.arguments, ' ')) {
    std::string place;
    // `KIND/NAME…`, `[VERSION]`, `KIND[,…]`
    for (const char c : word)
      if ((c >= 'A' && c <= 'Z') || c == '/')
        place += c;
    if (!place.empty())
      places.push_back(std::move(place));
  }
  return places;
}

/// Whether a name stands alone behind a kind: `get cloneset web`.
bool is_of_kind(const Command& command) {
  return command.words == "get" || command.words == "delete";
}

/// The sort of words in a place; `NAME` stands for whatever the command is about.
std::optional<Names> sort_of(const Command& command, std::string_view place) {
  if (place == "ENCLAVE" || place == "ENVIRONMENT")
    return Names::environments;
  if (place == "NAME" && command.words.starts_with("enclave ") && command.words != "enclave add")
    return Names::environments;
  if (place == "SERVICE")
    return Names::services;
  if (place == "PORT")
    return Names::ports;
  if (place == "ARTIFACT")
    return Names::artifacts;
  if (place == "VERSION")
    return Names::versions;
  if (place == "FILE" && command.words == "files inspect")
    return Names::files;
  if (place == "NAME" && command.words == "set show")
    return Names::sets;
  if (place == "NAME" && command.words.starts_with("setting "))
    return Names::settings;
  if (place == "KIND" || (place == "NAME" && is_of_kind(command)))
    return place == "KIND" ? Names::kinds : Names::workloads;
  if (place == "KIND/NAME")
    return Names::workloads;
  if (place == "POD" || (place == "NAME" && command.words == "describe pod"))
    return Names::pods;
  if (place == "NAME" && command.words.starts_with("node ") && command.words != "node add")
    return Names::nodes;
  if (place == "RESOURCE" && command.words == "orphans rm")
    return Names::orphans;
  if (place == "WHAT")
    return Names::resources;
  return std::nullopt;
}

/// The names for the next argument.
std::vector<std::string> argument_names(const TypedWords& typed, const NameSource& names) {
  const Command& command = *typed.command;
  std::vector<std::string> places = placeholders_of(command);
  std::vector<std::string> given(
      typed.arguments.begin() + static_cast<std::ptrdiff_t>(split(command.words, ' ').size()),
      typed.arguments.end());
  NamesQuery asked;
  asked.environment = typed.environment;
  // With `-e`, the environment is no argument.
  if (!typed.environment.empty() && !places.empty() && places[0] == "ENCLAVE")
    places.erase(places.begin());
  if (places.empty())
    return {};
  for (size_t i = 0; i < given.size() && i < places.size(); ++i) {
    const auto sort = sort_of(command, places[i]);
    if (sort == Names::environments)
      asked.environment = given[i];
    else if (sort == Names::services)
      asked.service = given[i];
    else if (sort == Names::artifacts)
      asked.artifact = given[i];
  }
  const bool repeats = command.arguments.find("…") != std::string::npos;
  if (given.size() >= places.size() && !repeats)
    return {};
  const std::string& place = places[std::min(given.size(), places.size() - 1)];
  if ((command.words == "service cp" && (place == "SOURCE" || place == "TARGET")) ||
      (command.words == "cp" && (place == "FROM" || place == "TO"))) {
    asked.sort = command.words == "cp" ? Names::pods : Names::services;
    std::vector<std::string> sides = names(asked);
    for (std::string& side : sides)
      side += ":";
    return sides;
  }
  const auto sort = sort_of(command, place);
  if (!sort)
    return {};
  asked.sort = *sort;
  // `pods`, `po`, `clone`: the kind as the names have it.
  std::string kind;
  if (is_of_kind(command) && asked.sort == Names::workloads) {
    kind = cat(lower_case(kind_named(given[0]).value_or(given[0])), "/");
    if (kind == "pod/")
      asked.sort = Names::pods;
  }
  std::vector<std::string> found = names(asked);
  if (asked.sort == Names::workloads && !kind.empty()) {
    std::erase_if(found, [&](const std::string& name) { return !name.starts_with(kind); });
    for (std::string& name : found)
      name.erase(0, kind.size());
  }
  return found;
}

/// The values of a flag: `a|b|c`, an environment, the outputs of the command.
std::vector<std::string> values_of(const TypedWords& typed, const CommandOption& option,
                                   const NameSource& names) {
  if (option.names.back() == "--environment")
    return names({Names::environments, {}, {}, {}});
  if (option.names.back() == "--delete-resource-set")
    return names({Names::sets, typed.environment, {}, {}});
  if (option.names.back() == "--version")
    return names({Names::versions, typed.environment, {}, {}});
  std::vector<std::string> values = option.values;
  if (option.value.find('|') != std::string::npos && option.value.find('=') == std::string::npos)
    for (const std::string_view value : split(option.value, '|'))
      values.emplace_back(value);
  if (option.names.back() == "--output" && typed.command != nullptr)
    values.insert(values.end(), typed.command->outputs.begin(), typed.command->outputs.end());
  return values;
}

/// The next words of commands.
std::vector<std::string> next_words(const std::vector<Command>& commands,
                                    const std::vector<std::string>& before) {
  std::vector<std::string> words;
  for (const Command& command : commands) {
    const auto own = split(command.words, ' ');
    if (own.size() > before.size() && std::equal(before.begin(), before.end(), own.begin()))
      words.emplace_back(own[before.size()]);
  }
  return words;
}

/// The flag of `-ojson`; none when it is something else.
const CommandOption* glued_option(const std::vector<Command>& commands, const TypedWords& typed,
                                  const std::vector<CommandOption>& options,
                                  const std::string& word) {
  if (word.size() < 3 || word[0] != '-' || word[1] == '-')
    return nullptr;
  const CommandOption* const option = find_typed(commands, typed, options, word.substr(0, 2));
  return option == nullptr || option->value.empty() ? nullptr : option;
}

/// Words that a command takes as its argument: `[bash|zsh|fish]`; of `help`, those of commands.
std::vector<std::string> argument_words(const std::vector<Command>& commands,
                                        const TypedWords& typed) {
  const Command& command = *typed.command;
  const std::vector<std::string> given(
      typed.arguments.begin() + static_cast<std::ptrdiff_t>(split(command.words, ' ').size()),
      typed.arguments.end());
  if (command.words == "help")
    return next_words(commands, given);
  std::vector<std::string> words;
  // `[PACKAGE|FILE]` are places, no words.
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (const std::string& usage = command.arguments; given.empty() && usage.starts_with('[') &&
                                                    usage.find('|') != usage.npos &&
                                                    std::ranges::none_of(usage, is_capital))
    for (const std::string_view word :
         split(std::string_view(usage).substr(1, usage.find(']') - 1), '|'))
      words.emplace_back(word);
  return words;
}

std::vector<std::string> completions_of(const std::vector<Command>& commands,
                                        std::span<const std::string> words,
                                        const NameSource& names) {
  const std::string last = words.empty() ? std::string() : words.back();
  std::vector<CommandOption> options;
  const TypedWords typed =
      read_typed(commands, words.first(words.empty() ? 0 : words.size() - 1), options);
  std::vector<std::string> found;
  const size_t equals = last.starts_with('-') ? last.find('=') : std::string::npos;
  if (typed.open != nullptr) {
    found = values_of(typed, *typed.open, names);
  } else if (equals != std::string::npos) {
    const CommandOption* const option =
        find_typed(commands, typed, options, last.substr(0, equals));
    if (option != nullptr)
      for (const std::string& value : values_of(typed, *option, names))
        found.push_back(last.substr(0, equals + 1) + value);
  } else if (const CommandOption* const glued = glued_option(commands, typed, options, last);
             glued != nullptr) {
    for (const std::string& value : values_of(typed, *glued, names))
      found.push_back(last.substr(0, 2) + value);
  } else if (last.starts_with('-')) {
    for (const CommandOption& option : typed.command == nullptr ? common_options() : options)
      found.insert(found.end(), option.names.begin(), option.names.end());
  } else {
    found = next_words(commands, typed.arguments);
    if (typed.command != nullptr)
      for (const std::vector<std::string>& all :
           {argument_words(commands, typed), argument_names(typed, names)})
        found.insert(found.end(), all.begin(), all.end());
  }
  std::erase_if(found, [&](const std::string& word) { return !word.starts_with(last); });
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

/// Whether the last word is `SERVICE:PATH`.
bool names_path_inside(const std::vector<Command>& commands, std::span<const std::string> words,
                       const NameSource& names) {
  const size_t colon = words.empty() ? std::string::npos : words.back().find(':');
  if (colon == std::string::npos)
    return false;
  // The side itself would have been proposed.
  std::vector<std::string> with_side(words.begin(), words.end());
  with_side.back().resize(colon);
  const std::vector<std::string> sides = completions_of(commands, with_side, names);
  return std::ranges::find(sides, with_side.back() + ":") != sides.end();
}

/// Whether bash has split a word here: at the `=` of a flag, or at colons.
bool is_break(std::string_view word, std::string_view before) {
  if (word == "=")
    return before.starts_with('-');
  return !word.empty() && word.find_first_not_of(':') == word.npos;
}

/// A word as the shell will hand it on; a quote may still be open.
std::string unquoted(std::string word) {
  const char quote = word.empty() ? ' ' : word[0];
  if (quote != '"' && quote != '\'')
    return word;
  word.erase(0, 1);
  if (word.ends_with(quote))
    word.pop_back();
  return word;
}

/// Bash makes three words of `--flag=value` and of `fs::File`: one again, and how much of the last
/// one it does not want back.
std::pair<std::vector<std::string>, size_t> joined(std::span<const std::string> given) {
  std::vector<std::string> words;
  size_t cut = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    cut = 0;
    if (!words.empty() && is_break(given[i], words.back())) {
      words.back() += given[i];
      cut = words.back().size();
      if (++i < given.size())
        words.back() += unquoted(given[i]);
    } else {
      words.push_back(unquoted(given[i]));
    }
  }
  return {std::move(words), cut};
}

}  // namespace

Completions completions(const std::vector<Command>& commands, std::span<const std::string> given,
                        const NameSource& names) {
  auto [words, cut] = joined(given);
  // `environment` is taken for `enclave`.
  if (words.size() > 1 && (words[0] == "environment" || words[0] == "env"))
    words[0] = "enclave";
  Completions found{completions_of(commands, words, names)};
  found.is_path_inside = found.words.empty() && names_path_inside(commands, words, names);
  for (std::string& word : found.words)
    word.erase(0, cut);
  return found;
}

}  // namespace fettle
