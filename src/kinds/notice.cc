#include "kinds/notice.h"

#include "base/text.h"
#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

class NoticeKind : public KindOf<ObjectNotice> {
 public:
  NoticeKind() : KindOf("notice", Sort::action) {}

 protected:
  Result<Attributes> settle(Attributes normal) const override {
    const Name type = read<ObjectNotice>(normal).type;
    if (type != "Normal" && type != "Warning")
      return user_error(cat("`type` must be `Normal` or `Warning`, not `", type, "`"));
    return normal;
  }
};

}  // namespace

const Members& ObjectNotice::members() {
  static const Members all{
      member<&ObjectNotice::type>("type", "`Normal` or `Warning`"),
      required<&ObjectNotice::reason>("reason", "one word, as `CreatedImagePullJob`"),
      required<&ObjectNotice::object>("object", "`NAMESPACE/KIND/NAME`"),
      member<&ObjectNotice::text>("text", "what is said")};
  return all;
}

const TypedKind& notice_kind() {
  static const NoticeKind kind;
  return kind;
}

}  // namespace fettle
