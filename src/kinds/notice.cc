/// Something that is said once about an object, as an event of Kubernetes: the record is the proof
/// that it was said. The key's name is unlike that of every other thing to say:
/// `NAMESPACE/KIND/NAME|REASON|what it is about`.
///
/// attributes  {"type": "Normal" | "Warning", "reason": one word, as `CreatedImagePullJob`,
///             "object": `NAMESPACE/KIND/NAME`, "text"}
/// outputs     {}

#include "base/text.h"
#include "kinds/kinds.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class NoticeKind : public Kind {
 public:
  Name name() const override { return "notice"; }
  Sort sort() const override { return Sort::action; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"type", Field::text, "Normal"},
                               {"reason", Field::text, {}},
                               {"object", Field::text, {}},
                               {"text", Field::text, ""}};
    const Value normal = TRY(schema.normalise(attributes));
    const std::string_view type = normal.text_at("type");
    if (type != "Normal" && type != "Warning")
      return user_error(cat("`type` must be `Normal` or `Warning`, not `", type, "`"));
    return normal;
  }
};

}  // namespace

const Kind& notice_kind() {
  static const NoticeKind kind;
  return kind;
}

}  // namespace fettle
