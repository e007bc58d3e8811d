/// A file of a machine.
///
/// attributes  {"path": absolute, "content": text or null, when it does not matter,
///             "digest": sha256 of the content, or of a blob that has it, "mode": "0644", "owner",
///             "group": names, numbers or null, "purged": it is to be away}
/// outputs     {"path", "digest": of what is wanted, so that a blob in use is kept; "mode", "owner"
///             and "group", those that are wanted}
/// seen        {"type": "file" | "folder" | "link" | "other", "digest", "mode", "owner", "group",
///             "uid", "gid"}

#include "base/hash.h"
#include "kinds/kinds.h"
#include "kinds/owned.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class FileKind : public Kind {
 public:
  Name name() const override { return "file"; }
  Sort sort() const override { return Sort::observable; }
  bool is_marked() const override { return false; }
  std::string place(const Value& attributes, const Value& outputs) const override {
    return place_of_path(attributes, outputs);
  }

  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"path", Field::text, {}},        {"content", Field::any, Value()},
                               {"digest", Field::text, ""},      {"mode", Field::any, Value()},
                               {"owner", Field::any, Value()},   {"group", Field::any, Value()},
                               {"purged", Field::boolean, false}};
    const Value normal = TRY(schema.normalise(attributes));
    TRY(check_path(normal, "path"));
    const Value& given = normal.at("content");
    const Value& content = given.is_secret() ? given.inside() : given;
    if (!content.is_null() && !content.is_text() && !content.is_unknown() && !content.is_deferred())
      return user_error("`content` must be a string");
    const Value rights = TRY(normal_rights(normal));
    if (!content.is_text())
      return rights;
    std::vector<Entry> entries(rights.entries().begin(), rights.entries().end());
    entries.push_back({"digest", sha256_hex(content.text())});
    return Value::dict(std::move(entries));
  }

  bool in_place_changes(const Value& before, const Value& after) const override {
    return before.at("path") == after.at("path");
  }

  Comparison compare(const Record& known, const Observation& seen, Presence) const override {
    const Value wanted = as_applied(known);
    if (const auto found = compare_presence(wanted, seen, "file"))
      return *found;
    std::vector<std::string> fields = rights_that_differ(wanted, *seen.state);
    const std::string_view digest = wanted.text_at("digest");
    // Records of earlier versions do not say with what a hole was filled.
    const bool is_lost = digest.empty() && known.outputs.is_dict() &&
                         known.applied->attributes.at("content").has_deferred();
    if (is_lost || (!digest.empty() && digest != seen.state->text_at("digest")))
      fields.insert(fields.begin(), "content");
    return drift_of(std::move(fields));
  }
};

}  // namespace

const Kind& file_kind() {
  static const FileKind kind;
  return kind;
}

}  // namespace fettle
