#include "model/declare/precedence.h"

#include "base/text.h"

namespace fettle::model {
namespace {

struct Rule {
  Attribute* first;
  Attribute* then;
};

/// The words of a rule, without blanks.
std::vector<std::string_view> words_of(std::string_view rule) {
  std::vector<std::string_view> words;
  constexpr std::string_view blanks = " \t\n\r\f\v";
  for (size_t at = rule.find_first_not_of(blanks); at != std::string_view::npos;) {
    const size_t end = std::min(rule.find_first_of(blanks, at), rule.size());
    words.push_back(rule.substr(at, end - at));
    at = rule.find_first_not_of(blanks, end);
  }
  return words;
}

/// The two parts of `a::B.c`. The relation is empty if the text is something else.
std::pair<std::string_view, std::string_view> parts_of(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == 0 || dot == std::string_view::npos ||
      name.find('.', dot + 1) != std::string_view::npos)
    return {name, ""};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

Result<Attribute*> find_relation(Program& program, std::string_view name, const Where& where) {
  const auto [type, relation] = parts_of(name);
  const auto found = std::ranges::find(program.entities, type, &Entity::full_name);
  if (found == program.entities.end())
    return user_error(
        cat("A relation precedence rule was defined for ", type, ", but no such type was defined"),
        where);
  const uint32_t slot = found->slot(program.symbols.intern(relation));
  if (slot == no_slot)
    return user_error(cat("A relation precedence rule was defined for ", name, ", but entity ",
                          type, " doesn't have an attribute ", relation, "."),
                      where);
  if (found->slots[slot]->target == nullptr)
    return user_error(cat("A relation precedence rule was defined for ", name, ", but attribute ",
                          relation, " is not a relationship attribute."),
                      where);
  return found->slots[slot];
}

/// Whether a rule has the right form at all.
Status check_form(const std::string& rule, size_t number, const Where& where) {
  const std::vector<std::string_view> words = words_of(rule);
  if (words.size() == 3 && words[1] == "before" && words[0].data() == rule.data() &&
      words[2].data() + words[2].size() == rule.data() + rule.size() &&
      !parts_of(words[0]).second.empty() && !parts_of(words[2]).second.empty())
    return {};
  return user_error(cat("Metadata defined in ", where.file,
                        " is invalid:\n  relation_precedence_policy.", number, ": `", rule,
                        "` is not of the form `namespace::Entity.relation before "
                        "namespace::Entity.relation`"),
                    where);
}

}  // namespace

Status rank_relations(Program& program, const Project& project) {
  const Where where{(project.folder / "project.yml").string(), 0, 0};
  for (size_t i = 0; i < project.precedence.size(); ++i)
    TRY(check_form(project.precedence[i], i, where));
  std::vector<Rule> rules;
  std::vector<Attribute*> left;  // without a rank yet, in the order of the rules
  for (const std::string& rule : project.precedence) {
    const std::vector<std::string_view> words = words_of(rule);
    Attribute* const first = TRY(find_relation(program, words[0], where));
    Attribute* const then = TRY(find_relation(program, words[2], where));
    rules.push_back({first, then});
    first->comes_before = true;
    for (Attribute* one : {first, then})
      if (std::ranges::find(left, one) == left.end())
        left.push_back(one);
  }
  for (uint32_t rank = 1; !left.empty(); ++rank) {
    const auto next = std::ranges::find_if(left, [&](const Attribute* one) {
      return std::ranges::none_of(
          rules, [&](const Rule& rule) { return rule.then == one && rule.first->precedence == 0; });
    });
    if (next == left.end())
      return user_error("A cycle exists in the relation precedence policy", where);
    (*next)->precedence = rank;
    left.erase(next);
  }
  return {};
}

}  // namespace fettle::model
