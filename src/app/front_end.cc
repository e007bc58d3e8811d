#include "app/front_end.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/commands.h"
#include "cli/commands/package_options.h"
#include "cli/commands/workload_common.h"

namespace fettle {
namespace {

using Words = std::vector<std::string>;

/// Moves flags that stand before the command behind its first word.
Words with_command_first(Words words) {
  const Words flags = take_flags(all_commands(), words, 0);
  words.insert(words.begin() + (words.empty() ? 0 : 1), flags.begin(), flags.end());
  return words;
}

/// Replaces Kurtosis' word for an environment, also as the word of commands.
Words with_word_of_commands(Words words) {
  Words rest = words;
  size_t at = take_flags(all_commands(), rest, 0).size();
  if (at < words.size() && words[at] == "help")
    ++at;
  if (at < words.size() && (words[at] == "environment" || words[at] == "env"))
    words[at] = "enclave";
  return words;
}

/// A plan of files of states is a run of them that only looks.
Words with_plan_of_states(Words words) {
  if (std::ranges::any_of(words, [](const std::string& word) { return word.ends_with(".sls"); })) {
    words[0] = "state";
    words.insert(words.begin() + 1, "--test");
  }
  return words;
}

/// The file that `-f` names. None: it names nothing. `--file` exists for models only.
std::optional<std::string> file_asked(const Words& words) {
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "-f" || words[i] == "--filename")
      return i + 1 < words.size() ? words[i + 1] : std::string();
    for (const std::string_view flag : {"-f=", "--filename="})
      if (words[i].starts_with(flag))
        return words[i].substr(flag.size());
  }
  return std::nullopt;
}

/// A plan of manifests is what `diff` shows. In the project of a model, standard input is a model.
/// Compose files are packages.
Words with_plan_of_manifests(Words words) {
  const std::optional<std::string> file = file_asked(words);
  std::error_code failure;
  const bool is_of_model =
      file &&
      (file->ends_with(".cf") || (*file == "-" && std::filesystem::exists("project.yml", failure)));
  if (file && !is_of_model && !names_compose_file(*file))
    words[0] = "diff";
  return words;
}

/// Whether the value of a flag of `describe workload` is the next word.
bool takes_next_word(const std::string& word) {
  static const std::vector<CommandOption> options = [] {
    for (const Command& command : all_commands())
      if (command.words == "describe workload")
        return options_of(command);
    return common_options();
  }();
  const CommandOption* const option = find_option(options, word);
  return option != nullptr && !option->value.empty();
}

/// `describe cloneset web` is about a workload; states have `describe PATTERN`.
Words with_described_workload(Words words) {
  size_t at = 1;
  while (at < words.size() && words[at].starts_with('-'))
    at += takes_next_word(words[at]) ? 2 : 1;
  if (at >= words.size())
    return words;
  const size_t slash = words[at].find('/');
  const bool has_name =
      slash != std::string::npos ||
      (words.size() > at + 1 && !words[at + 1].empty() && words[at + 1][0] != '-');
  const auto kind = kind_named(words[at].substr(0, slash));
  if (!has_name || !kind)
    return words;
  const bool is_pod = *kind == "Pod";
  if (is_pod && slash == std::string::npos)
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
  else if (is_pod)
    words[at] = words[at].substr(slash + 1);
  words.insert(words.begin() + 1, is_pod ? "pod" : "workload");
  return words;
}

}  // namespace

std::vector<std::string> with_front_end(std::vector<std::string> words) {
  const Words first = with_command_first(words);
  if (!first.empty() && first[0] == "plan")
    return with_plan_of_manifests(with_plan_of_states(first));
  if (!first.empty() && first[0] == "describe")
    return with_described_workload(first);
  return with_word_of_commands(std::move(words));
}

bool is_kurtosis_name(std::string_view program) {
  return program.substr(program.rfind('/') + 1) == "kurtosis";
}

int code_of_kurtosis(int code) {
  constexpr int first_of_signals = 129;
  return code == 0 || code >= first_of_signals ? code : failed_code;
}

std::vector<std::string> with_help_of_bare_group(std::vector<std::string> words) {
  if (words.size() == 1 && !help_of_group(all_commands(), words[0]).empty())
    words.insert(words.begin(), "help");
  return words;
}

}  // namespace fettle
