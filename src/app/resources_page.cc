/// The page of the manual about resources, made of the tables of their members.

#include "app/kinds.h"
#include "base/text.h"
#include "kinds/service.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view introduction =
    R"(# Resources

Whatever a package, a model, a file of states or a manifest describes becomes resources of the types below. `fettle inspect`, `plan -o json` and
`why` show them with these names. `src/kinds/` has a header for each type.

Attributes are what is wanted, outputs what an act has left and others may embed, and what is seen is how the thing was found. Everywhere an
attribute may be a *hole*, which is filled with an output of another resource before the act. An attribute without a default is required; null says the
same as leaving it out.
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
