#include "cli/commands/state_configuration.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "value/yaml_tree.h"

namespace fettle {
namespace {

// Idem has a section for each program of its family; the last that says something counts.
constexpr std::string_view sections[] = {"acct", "pop_config", "evbus", "rend", "idem"};

std::string kind_of(const TreeNode& node) {
  if (node.is_list())
    return "a list";
  if (node.is_dict())
    return "a dictionary";
  const Value& scalar = node.scalar();
  return scalar.is_bool()      ? "a boolean"
         : scalar.is_text()    ? "a text"
         : scalar.is_integer() ? "a whole number"
         : scalar.is_null()    ? "null"
                               : "a fraction";
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// The words that a flag would be given, and what it wants when the file has something else.
struct Words {
  std::vector<std::string> words{};
  std::string_view wanted{};
};

Words words_of(const CommandOption& option, const TreeNode& node) {
  const Value& scalar = node.scalar();
  if (option.value.empty()) {
    if (!scalar.is_bool())
      return {{}, "true or false"};
    return {{scalar.boolean() ? "true" : "false"}};
  }
  if (option.value == "N" || option.value == "BYTES") {
    if (scalar.is_integer())
      return {{to_text(scalar)}};
    if (scalar.is_text() && is_digits(scalar.text()))
      return {{scalar.text().str()}};
    return {{}, "a whole number"};
  }
  if (node.is_text())
    return {{scalar.text().str()}};
  if (!option.repeated)
    return {{}, "a text"};
  constexpr std::string_view wanted = "a text or a list of texts";
  if (!node.is_list())
    return {{}, wanted};
  Words found;
  for (const TreeNode* item : node.items()) {
    if (!item->is_text())
      return {{}, wanted};
    found.words.push_back(item->text().str());
  }
  return found;
}

}  // namespace

Error Configuration::refused(const std::string& flag, std::string message) const {
  Error error = user_error(std::move(message));
  if (const auto said = said_.find(flag); said != said_.end()) {
    error.where = said->second;
    error.excerpt = excerpt(text_, said->second.line, said->second.column);
  }
  return error;
}

Result<Configuration> Configuration::apply(Face& face, std::span<const CommandOption> options) {
  Configuration made;
  const char* variable = std::getenv("IDEM_CONFIG");
  const std::string file = face.parsed.text("config", variable == nullptr ? "" : variable);
  if (file.empty())
    return made;
  made.text_ = TRY(read_given(file));
  made.folder_ = std::filesystem::absolute(file).parent_path();
  const Tree tree =
      TRY(read_yaml_tree(made.text_, file, {YamlSchema::pyyaml, Duplicates::last_wins}));
  const auto refused = [&](const TreeNode& node, std::string message) {
    const Place at = node.place();
    const Where where{file, static_cast<int>(at.line), static_cast<int>(at.column)};
    Error error(Blame::user, std::move(message), where);
    error.excerpt = excerpt(made.text_, where.line, where.column);
    return error;
  };
  if (tree.root().is_null())
    return made;
  if (!tree.root().is_dict())
    return refused(tree.root(),
                   cat("a configuration is a dictionary with `idem`, not ", kind_of(tree.root())));
  std::map<std::string, const CommandOption*> known;
  std::vector<std::string> keys;
  for (const CommandOption& option : options) {
    // The longest of the first spelling's names is the one of a configuration, with `_`.
    const auto name = std::ranges::find_if(
        option.names, [](const std::string& each) { return each.starts_with("--"); });
    if (name == option.names.end() || *name == "--config" || *name == "--enclave")
      continue;
    known.emplace(name->substr(2), &option);
    keys.push_back(replace_all(name->substr(2), "-", "_"));
  }
  static const CommandOption output{{"--output"}, "FORMAT", ""};
  known.emplace("output", &output);
  keys.emplace_back("output");
  const std::map<std::string, std::vector<std::string>> given = face.parsed.options;
  for (const std::string_view section : sections) {
    const TreeNode* part = tree.root().find(section);
    if (part == nullptr || part->is_null())
      continue;
    if (!part->is_dict())
      return refused(*part, cat("`", section, "` is a dictionary, not ", kind_of(*part)));
    for (const TreeMember& entry : part->entries()) {
      const std::string key = entry.key->text().str();
      const std::string flag = replace_all(key, "_", "-");
      const auto option = known.find(flag);
      if (option == known.end()) {
        if (section != "idem")
          continue;
        if (const std::string near = suggestion(key, keys); !near.empty())
          return refused(*entry.key, cat("`idem` has no setting `", key, "`", near));
        const Place at = entry.key->place();
        print_warning(face, cat(file, ":", at.line, ":", at.column, ": the setting `", key,
                                "` has no meaning here"));
        continue;
      }
      if (given.contains(flag) || entry.value->is_null() || option->second->help == "ignored")
        continue;
      Words said = words_of(*option->second, *entry.value);
      if (!said.wanted.empty())
        return refused(*entry.value,
                       cat("`", key, "` must be ", said.wanted, ", not ", kind_of(*entry.value)));
      const Place at = entry.value->place();
      made.said_[flag] = {file, static_cast<int>(at.line), static_cast<int>(at.column)};
      face.parsed.options[flag] = std::move(said.words);
    }
  }
  return made;
}

}  // namespace fettle
