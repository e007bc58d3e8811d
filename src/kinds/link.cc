#include "kinds/link.h"

#include "base/text.h"
#include "kinds/file.h"
#include "kinds/kinds.h"
#include "kinds/path_kind.h"

namespace fettle {
namespace {

class LinkKind : public PathKind<Link, PathOutputs> {
 public:
  LinkKind() : PathKind("link", Sort::observable) {}

  Comparison compare(const Record& known, const Observation& seen, Presence) const override {
    const Link wanted = read<Link>(as_applied(known));
    if (const auto found = compare_presence(wanted.purged.get(), seen, "link"))
      return *found;
    const Value leads_to = read<PathSeen>(*seen.state).leads_to;
    if (wanted.leads_to.is_text() && leads_to != wanted.leads_to.value())
      return {Verb::update,
              {"leads_to"},
              cat("it leads to `", leads_to.is_text() ? leads_to.text() : Name(), "`")};
    return {};
  }

 protected:
  Status check(Link& wanted) const override {
    const std::string_view target = wanted.leads_to.view();
    if (!wanted.purged.get() && wanted.leads_to.is_text() &&
        (target.empty() || target.find('\0') != target.npos))
      return user_error("a link must lead somewhere");
    return {};
  }
};

}  // namespace

const Members& Link::members() {
  static const Members all{required<&Link::path>("path", "absolute, where the link is"),
                           member<&Link::leads_to>("leads_to", "any text"),
                           member<&Link::purged>("purged", "it should be absent")};
  return all;
}

const TypedKind& link_kind() {
  static const LinkKind kind;
  return kind;
}

}  // namespace fettle
