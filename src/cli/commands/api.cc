#include <algorithm>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "programs/python_package.h"
#include "server/openapi.h"
#include "server/routes.h"

namespace fettle {
namespace {

/// The client in Python, which is part of the program.
Result<int> print_client() {
  const auto files = python_package();
  const auto found = std::ranges::find(files, "fettle_client.py", &PythonFile::path);
  if (found == files.end())
    return world_error("this program was built without its client in Python");
  print(trim(found->text));
  return 0;
}

Result<int> api(Face& face) {
  const std::string target = face.parsed.argument(0);
  const bool asks_for_all = face.parsed.flag("openapi"),
             asks_for_client = face.parsed.flag("python");
  if ((target.empty() ? 0 : 1) + (asks_for_all ? 1 : 0) + (asks_for_client ? 1 : 0) != 1)
    return user_error(
        "expected a path, such as `/api/environments`, or `--openapi`, which lists all of them, or "
        "`--python`");
  if (asks_for_client)
    return print_client();
  if (asks_for_all || target == openapi_path) {
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
  return CommandGroup{"servers", {}}.reader(
      "api", "[PATH]", 0, 1,
      "Prints what a server answers to `GET PATH`: the documents of the page.",
      {"fettle api /api/environments", "fettle api '/api/events?environment=shop&text=failed'",
       "fettle api --openapi > openapi.json", "fettle api --python > fettle.py"},
      api,
      {{{"--openapi"}, "", "the whole interface as an OpenAPI 3.1 document"},
       {{"--python"}, "", "a client, as one file of Python without libraries"}});
}

}  // namespace fettle
