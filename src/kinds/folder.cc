/// A folder of a machine. (`directory` is what outlives the services that write it.)
///
/// attributes  {"path": absolute, "mode", "owner", "group": as a file's, "purged": it is to be away
///             with everything in it}
/// outputs     {"path", "mode", "owner", "group": those that are wanted}
/// seen        as a file's, without digest

#include "kinds/kinds.h"
#include "kinds/owned.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class FolderKind : public Kind {
 public:
  Name name() const override { return "folder"; }
  Sort sort() const override { return Sort::observable; }
  bool is_marked() const override { return false; }
  std::string place(const Value& attributes, const Value& outputs) const override {
    return place_of_path(attributes, outputs);
  }

  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"path", Field::text, {}},
                               {"mode", Field::any, Value()},
                               {"owner", Field::any, Value()},
                               {"group", Field::any, Value()},
                               {"purged", Field::boolean, false}};
    const Value normal = TRY(schema.normalise(attributes));
    TRY(check_path(normal, "path"));
    if (normal.text_at("path").find_first_not_of("/.") == std::string_view::npos &&
        normal.at("path").is_text())
      return user_error("the root folder cannot be managed");
    return normal_rights(normal);
  }

  bool in_place_changes(const Value& before, const Value& after) const override {
    return before.at("path") == after.at("path");
  }

  Comparison compare(const Record& known, const Observation& seen, Presence) const override {
    const Value wanted = as_applied(known);
    if (const auto found = compare_presence(wanted, seen, "folder"))
      return *found;
    return drift_of(rights_that_differ(wanted, *seen.state));
  }
};

}  // namespace

const Kind& folder_kind() {
  static const FolderKind kind;
  return kind;
}

}  // namespace fettle
