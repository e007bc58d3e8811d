/// The page of the manual about resources, made of the tables of their members.

#include "app/kinds.h"
#include "base/text.h"
#include "kinds/service.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view introduction =
    R"(# Resources

Packages, models, states and manifests all become resources of the types below. Documents such as those of `service inspect -o json` use the
same names. Each type has a header in `src/kinds/`.

*Attributes* describe what is wanted. *Outputs* are what an act left behind; other resources can embed them. *Seen* is the state in which the
thing was found. An attribute can be a *hole*, which is filled with an output of another resource before the act. An attribute without a
default is required, and null means the same as leaving it out.
)";

std::string default_of(const Member& row) {
  if (row.leaving != Member::never)
    return "left out";
  return row.otherwise ? cat("`", write_json(*row.otherwise), "`") : "–";
}

std::string table_of(std::string_view title, const Members& members, bool has_defaults) {
  if (members.rows().empty())
    return {};
  std::string text =
      cat("\n", title, has_defaults ? " | default | meaning\n--|--|--\n" : " | meaning\n--|--\n");
  for (const Member& row : members.rows())
    text += has_defaults ? cat("`", row.name, "` | ", default_of(row), " | ", row.meaning, "\n")
                         : cat("`", row.name, "` | ", row.meaning, "\n");
  return text;
}

}  // namespace

std::string page_of_resources() {
  std::string page(introduction);
  for (const TypedKind* kind : listed_kinds()) {
    page += cat("\n## `", kind->name(), "`\n");
    page += table_of("attribute", kind->attributes(), true);
    if (kind->name() == "service")
      page += table_of("port", Port::members(), true);
    page += table_of("output", kind->outputs(), false);
    page += table_of("seen", kind->state(), false);
  }
  return page;
}

}  // namespace fettle
