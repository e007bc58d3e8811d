/// A symbolic link of a machine.
///
/// attributes  {"path": absolute, where the link is, "leads_to": any text, "purged"}
/// outputs     {"path", "leads_to"}
/// seen        {"type": as a file's, "leads_to"}

#include "base/text.h"
#include "kinds/kinds.h"
#include "kinds/owned.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class LinkKind : public Kind {
 public:
  Name name() const override { return "link"; }
  Sort sort() const override { return Sort::observable; }
  bool is_marked() const override { return false; }
  std::string place(const Value& attributes, const Value& outputs) const override {
    return place_of_path(attributes, outputs);
  }

  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"path", Field::text, {}},
                               {"leads_to", Field::text, ""},
                               {"purged", Field::boolean, false}};
    Value normal = TRY(schema.normalise(attributes));
    TRY(check_path(normal, "path"));
    const std::string_view target = normal.text_at("leads_to");
    if (!normal.bool_at("purged") && normal.at("leads_to").is_text() &&
        (target.empty() || target.find('\0') != target.npos))
      return user_error("a link must lead somewhere");
    return normal;
  }

  bool in_place_changes(const Value& before, const Value& after) const override {
    return before.at("path") == after.at("path");
  }

  Comparison compare(const Record& known, const Observation& seen, Presence) const override {
    const Value wanted = as_applied(known);
    if (const auto found = compare_presence(wanted, seen, "link"))
      return *found;
    if (wanted.at("leads_to").is_text() && seen.state->at("leads_to") != wanted.at("leads_to"))
      return {
          Verb::update, {"leads_to"}, cat("it leads to `", seen.state->text_at("leads_to"), "`")};
    return {};
  }
};

}  // namespace

const Kind& link_kind() {
  static const LinkKind kind;
  return kind;
}

}  // namespace fettle
