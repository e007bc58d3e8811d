/// The output of `help` and `completion`, made from the tables of the commands.

#include <algorithm>

#include "base/text.h"
#include "cli/command.h"

namespace fettle {
namespace {

/// The text with at least two blanks behind it, as wide as `width` letters.
std::string padded(std::string text, size_t width) {
  const auto letters = static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
  return text + std::string(std::max<size_t>(2, width > letters ? width - letters : 0), ' ');
}

std::string summary_line(const Command& command) {
  return cat(padded(cat("  ", command.words), 22),
             command.summary.substr(0, command.summary.find('\n')), "\n");
}

std::string option_lines(const std::vector<CommandOption>& options) {
  std::string text;
  for (const CommandOption& option : options) {
    std::string left =
        cat("  ", join(option.names, ", "), option.value.empty() ? "" : " ", option.value);
    text += cat(padded(left, 38), option.help, "\n");
  }
  return text;
}

}  // namespace

std::string help_of(const Command& command) {
  std::string text = cat(command.summary, "\n\nusage: ", usage_of(command), "\n\nexamples:\n");
  for (const std::string& example : command.examples)
    text += cat("  ", example, "\n");
  if (!command.options.empty())
    text += cat("\nflags:\n", option_lines(command.options));
  return cat(text, "\nflags of every command:\n", option_lines(common_options()));
}

std::string help_of_group(const std::vector<Command>& commands, std::string_view word) {
  std::string text;
  for (const Command& command : commands)
    if (command.words == word)  // explains itself
      return {};
    else if (command.words.starts_with(cat(word, " ")))
      text += summary_line(command);
  return text.empty()
             ? text
             : cat(text, "\n`fettle help ", word, " COMMAND` explains a command, with examples.");
}

std::string help_of_all(const std::vector<Command>& commands) {
  std::string text =
      "fettle keeps environments in the state that you describe, and redoes only what changed.\n";
  std::vector<std::string> groups;
  for (const Command& command : commands)
    if (std::find(groups.begin(), groups.end(), command.group) == groups.end())
      groups.push_back(command.group);
  for (const std::string& group : groups) {
    text += cat("\n", group, ":\n");
    for (const Command& command : commands)
      if (command.group == group)
        text += summary_line(command);
  }
  return text + "\n`fettle help COMMAND` explains a command, with examples.\n";
}

namespace {

Value flag_value(const CommandOption& option) {
  return Value::dict({{"names", Value::list({option.names.begin(), option.names.end()})},
                      {"value", option.value.empty() ? Value() : Value(option.value)},
                      {"help", option.help}});
}

Value command_value(const Command& command) {
  std::vector<Value> flags;
  for (const CommandOption& option : options_of(command))
    flags.push_back(flag_value(option));
  return Value::dict({{"name", command.words},
                      {"group", command.group},
                      {"summary", command.summary},
                      {"usage", usage_of(command)},
                      {"examples", Value::list({command.examples.begin(), command.examples.end()})},
                      {"flags", Value::list(std::move(flags))}});
}

}  // namespace

Value help_value(const std::vector<Command>& commands, std::string_view words) {
  std::vector<Value> asked;
  for (const Command& command : commands)
    if (words.empty() || command.words == words || command.words.starts_with(cat(words, " ")))
      asked.push_back(command_value(command));
  return Value::dict({{"commands", Value::list(std::move(asked))}});
}

std::string completion_script(std::string_view shell) {
  if (shell == "zsh")
    return "#compdef fettle\n_fettle() {\n  local -a found\n"
           "  found=(\"${(@f)$(fettle __complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
           "  local code=$?\n"
           "  if [[ -n ${found[1]} ]]; then compadd -a found; elif ((code != 3)); then _files; "
           "fi\n}\n"
           "if [[ $funcstack[1] == _fettle ]]; then _fettle \"$@\"; else compdef _fettle fettle; "
           "fi";
  if (shell == "fish")
    return "function __fettle_complete\n  set -l words (commandline -opc) (commandline -ct)\n"
           "  fettle __complete $words[2..-1] 2>/dev/null\nend\n"
           "complete -c fettle -f -n 'set -l found (__fettle_complete); "
           "test $status -eq 3 -o (count $found) -gt 0' "
           "-a '(__fettle_complete)'";
  // Bash splits words at `=` and `:`; what it does not find is a file.
  return "_fettle() {\n  local IFS=$'\\n'\n"
         "  COMPREPLY=($(fettle __complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null))\n"
         "  (($? == 3 || ${#COMPREPLY[@]})) || compopt -o default\n"
         "  [[ ${COMPREPLY[0]-} != *[:=/] ]] || compopt -o nospace\n}\ncomplete -F _fettle fettle";
}

Value completion_value(std::string_view shell) {
  return Value::dict({{"shell", shell}, {"script", completion_script(shell)}});
}

std::string reference_of(const std::vector<Command>& commands) {
  std::string text =
      "# Commands\n\nGenerated by `fettle help --markdown` from the tables of the program; do not "
      "edit.\n";
  std::string group;
  for (const Command& command : commands) {
    if (command.group != group)
      text += cat("\n## ", command.group, "\n");
    group = command.group;
    text += cat("\n### fettle ", command.words, "\n\n", command.summary, "\n\n```\n",
                usage_of(command), "\n```\n\n");
    for (const std::string& example : command.examples)
      text += cat("    ", example, "\n");
    if (!command.options.empty())
      text += "\n";
    for (const CommandOption& option : command.options)
      text += cat("* `", join(option.names, "`, `"), option.value.empty() ? "" : " ", option.value,
                  "`: ", option.help, "\n");
  }
  text += "\n## Flags of every command\n\n";
  for (const CommandOption& option : common_options())
    text += cat("* `", join(option.names, "`, `"), option.value.empty() ? "" : " ", option.value,
                "`: ", option.help, "\n");
  return text;
}

}  // namespace fettle
