#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "server/openapi.h"
#include "server/routes.h"

namespace fettle {
namespace {

Result<int> api(Face& face) {
  const std::string target = face.parsed.argument(0);
  const bool asks_for_all = face.parsed.flag("openapi") || target == "/api/openapi.json";
  if (target.empty() && !asks_for_all)
    return user_error(
        "expected a path, such as `/api/environments`; `fettle api --openapi` lists all of them");
  if (asks_for_all) {
    print_json_of_original(openapi_document(face.build().version));
    return 0;
  }
  const WebTarget asked = TRY(parse_target(target));
  Workplace* const place = TRY(face.workplace());
  print_json(TRY(document_by_routes(*place, asked)));
  return 0;
}

}  // namespace

Command api_command() {
  Command command = CommandGroup{"servers", {}}.reader(
      "api", "[PATH]", 0, 1,
      "Prints what a server answers to `GET PATH`: the documents of the page.",
      {"fettle api /api/environments", "fettle api '/api/events?environment=shop&text=failed'",
       "fettle api --openapi > openapi.json"},
      api, {{{"--openapi"}, "", "the whole interface as an OpenAPI 3.1 document"}});
  return command;
}

}  // namespace fettle
