#include <algorithm>
#include <limits>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "documents/servers.h"
#include "programs/python_package.h"
#include "remote/run_answers.h"
#include "remote/session.h"
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

/// `/api/runs…` and `/api/schedules`: those of a server. None: the path is another one.
Result<std::optional<Value>> runs_document(Face& face, const WebTarget& asked) {
  const RouteMatch match = find_route(routes_of_runs(), asked.segments);
  if (match.route == nullptr)
    return std::optional<Value>();
  if (match.route->method != "GET")
    return user_error("this is posted: `curl -X POST`, or the client of `fettle api --python`");
  const std::optional<ServedCaller> caller = face.served();
  if (!caller)
    return user_error(
        "only a server has runs and schedules: name one with `--server URL`, $FETTLE_SERVER, or "
        "`fettle context use NAME`");
  TRY(check_parameters(*match.route, asked));
  const Path home = TRY(face.home_folder()), runs = home / "serve" / "runs";
  if (match.route->pattern == "/api/schedules")
    return std::optional(document_of(schedules_for(caller->grant, home)));
  const std::vector<RunView> all = runs_for(caller->grant, runs);
  if (match.parts.empty())
    return std::optional(document_of(all));
  constexpr uint64_t most = std::numeric_limits<int64_t>::max();
  const uint64_t number = TRY(route_number("run", match.parts.at("run"), 0, most));
  const auto found = std::ranges::find(all, static_cast<int64_t>(number), &RunView::number);
  if (found == all.end())
    return user_error(cat("there is no run ", number, "; `/api/runs` lists them"));
  if (match.route->parameters.empty())
    return std::optional(value_of(*found));
  const CommandNeeds needs =
      needs_to_watch(caller->grant, *found, cat("GET /api/runs/", number, "/output"));
  if (std::optional<Error> refusal = refusal_by_rights(caller->grant, needs))
    return *std::move(refusal);
  const auto after = asked.query.find("after");
  const uint64_t place =
      TRY(route_number("after", after == asked.query.end() ? "" : after->second, 0, most));
  return std::optional(pieces_document(*found, TRY(read_pieces(runs, found->number, place))));
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
  if (const std::optional<Value> told = TRY(runs_document(face, asked))) {
    print_json(*told);
    return 0;
  }
  Workplace* const place = TRY(face.workplace());
  print_json(TRY(document_by_routes(*place, asked)));
  return 0;
}

}  // namespace

Command api_command() {
  return CommandGroup{"servers", {}}.reader(
      "api", "[PATH]", 0, 1,
      "Prints what a server answers to `GET PATH`: documents of the page, and runs.",
      {"fettle api /api/environments", "fettle api '/api/events?environment=shop&text=failed'",
       "fettle api --openapi > openapi.json", "fettle api --python > fettle.py"},
      api,
      {{{"--openapi"}, "", "the whole interface as an OpenAPI 3.1 document"},
       {{"--python"}, "", "a client, as one file of Python without libraries"}});
}

}  // namespace fettle
