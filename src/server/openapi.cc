#include "server/openapi.h"

#include "base/text.h"
#include "server/routes.h"
#include "server/shapes.h"

namespace fettle {
namespace {

/// Numbers in paths and queries; everything else is a text.
constexpr std::array<std::string_view, 6> names_of_numbers{"run",  "version", "before",
                                                           "tail", "from",    "after"};

/// Seconds, as `remote/posted_command.h` has them, which a test compares.
constexpr int64_t longest_wait = 600, usual_wait = 60;

Value schema_of_parameter(std::string_view name) {
  if (std::ranges::find(names_of_numbers, name) == names_of_numbers.end())
    return Value::dict({{"type", "string"}});
  return Value::dict({{"type", "integer"}, {"minimum", 0}});
}

Value parameter_of(std::string_view name, bool is_in_path) {
  return Value::dict({{"name", std::string(name)},
                      {"in", is_in_path ? "path" : "query"},
                      {"required", is_in_path},
                      {"schema", schema_of_parameter(name)}});
}

std::vector<std::string_view> names_in_path(std::string_view pattern) {
  std::vector<std::string_view> names;
  for (const std::string_view part : split(pattern, '/'))
    if (part.starts_with('{'))
      names.push_back(part.substr(1, part.size() - 2));
  return names;
}

/// `/api/environments/{environment}/runs/{run}`: `environments_environment_runs_run`. Each pattern
/// has its own, and generators make the name of a function of it, so `.json` is left out.
std::string name_of_operation(std::string_view pattern) {
  std::string name;
  for (const std::string_view part : split(pattern.substr(1), '/'))
    if (part != "api")
      name += cat(name.empty() ? "" : "_",
                  part.starts_with('{') ? part.substr(1, part.size() - 2) : part);
  return name.substr(0, name.find('.'));
}

Value content_of(std::string_view type, Value schema) {
  return Value::dict({{std::string(type), Value::dict({{"schema", std::move(schema)}})}});
}

Value error_response(std::string_view what) {
  return Value::dict(
      {{"description", std::string(what)},
       {"content",
        content_of("application/json", Value::dict({{"$ref", "#/components/schemas/Error"}}))}});
}

Value responses_with(Value good) {
  return Value::dict({{"200", std::move(good)},
                      {"400", error_response("a parameter is unknown or has no such value")},
                      {"401", error_response("the server does not know the token")},
                      {"403", error_response("the token does not have the right")},
                      {"404", error_response("what is asked for is not there")},
                      {"502", error_response("the store or an engine did not answer")},
                      {"503", error_response("there are too many connections or commands")}});
}

Value text_schema(std::string_view what) {
  return Value::dict({{"type", "string"}, {"description", std::string(what)}});
}

/// An object whose members are texts.
Value texts_schema(std::string_view what) {
  return Value::dict({{"type", "object"},
                      {"description", std::string(what)},
                      {"additionalProperties", Value::dict({{"type", "string"}})}});
}

/// What is posted as a command (`remote/posted_command.h`).
Value body_of_commands() {
  const Value words = Value::dict({{"type", "array"},
                                   {"minItems", 1},
                                   {"items", Value::dict({{"type", "string"}})},
                                   {"description", "as behind `fettle` on a command line"}});
  const Value wait = Value::dict({{"type", "integer"},
                                  {"minimum", 0},
                                  {"maximum", longest_wait},
                                  {"default", usual_wait},
                                  {"description", "seconds until the answer comes in any case"}});
  const Value body = Value::dict(
      {{"type", "object"},
       {"required", Value::list({"words"})},
       {"additionalProperties", false},
       {"properties",
        Value::dict({{"words", words},
                     {"folder", text_schema("where it is called, an absolute path")},
                     {"files", texts_schema("the contents of files that it names, by path")},
                     {"variables", texts_schema("of its environment")},
                     {"input", text_schema("its standard input")},
                     {"wait", wait}})}});
  return Value::dict({{"required", true}, {"content", content_of("application/json", body)}});
}

std::vector<Entry> responses_beside(std::string_view pattern, const Value& good) {
  if (pattern.ends_with("/cancel"))
    return {{"409", error_response("the run has ended")}};
  return {{"202", good},
          {"413", error_response("the body is too large")},
          {"415", error_response("the body is no `application/json`")},
          {"504", error_response("what only tells something took too long")}};
}

Value operation_of(const Route& route) {
  std::vector<Value> parameters;
  for (const std::string_view name : names_in_path(route.pattern))
    parameters.push_back(parameter_of(name, /*is_in_path=*/true));
  for (const std::string_view name : route.parameters)
    parameters.push_back(parameter_of(name, /*is_in_path=*/false));
  const Value good =
      Value::dict({{"description", std::string(route.summary)},
                   {"content", content_of("application/json", schema_of_path(route.pattern))}});
  const Value usual = responses_with(good);
  std::vector<Entry> responses(usual.entries().begin(), usual.entries().end());
  std::vector<Entry> operation{{"operationId", name_of_operation(route.pattern)},
                               {"summary", std::string(route.summary)},
                               {"parameters", Value::list(std::move(parameters))}};
  if (route.method == "POST")
    for (Entry& more : responses_beside(route.pattern, good))
      responses.push_back(std::move(more));
  if (route.pattern == "/api/commands")
    operation.push_back({"requestBody", body_of_commands()});
  operation.push_back({"responses", Value::dict(std::move(responses))});
  return Value::dict(std::move(operation));
}

Value text_operation(std::string_view name, std::string_view summary, bool needs_token) {
  std::vector<Entry> operation{{"operationId", std::string(name)},
                               {"summary", std::string(summary)}};
  if (!needs_token)
    operation.push_back({"security", Value::list({})});
  const Value good =
      Value::dict({{"description", std::string(summary)},
                   {"content", content_of("text/plain", Value::dict({{"type", "string"}}))}});
  operation.push_back(
      {"responses",
       needs_token
           ? responses_with(good)
           : Value::dict({{"200", good}, {"503", Value::dict({{"description", "it is not"}})}})});
  return Value::dict({{"get", Value::dict(std::move(operation))}});
}

Value error_schema() {
  const Value text = Value::dict({{"type", "string"}});
  return Value::dict(
      {{"type", "object"},
       {"required", Value::list({"error"})},
       {"properties",
        Value::dict({{"error", Value::dict({{"type", "object"},
                                            {"required", Value::list({"message"})},
                                            {"properties", Value::dict({{"message", text}})}})},
                     {"schema", Value::dict({{"type", "integer"}})}})}});
}

}  // namespace

Value openapi_document(std::string_view version) {
  std::vector<Entry> paths;
  for (const Route& route : routes())
    if (route.answer != nullptr)
      paths.push_back({std::string(route.pattern), Value::dict({{"get", operation_of(route)}})});
  for (const Route& route : routes_of_runs())
    paths.push_back({std::string(route.pattern),
                     Value::dict({{route.method == "GET" ? "get" : "post", operation_of(route)}})});
  paths.push_back(
      {std::string(openapi_path),
       Value::dict(
           {{"get",
             operation_of({"GET", openapi_path, WebRight::read, {}, "this document", nullptr})}})});
  paths.push_back({"/healthz", text_operation("healthz", "whether the server is well", false)});
  paths.push_back(
      {"/metrics", text_operation("metrics", "numbers, in the text format of Prometheus", true)});
  return Value::dict(
      {{"openapi", "3.1.0"},
       {"info",
        Value::dict({{"title", "fettle"},
                     {"version", std::string(version)},
                     {"summary",
                      "What a server of commands tells of its environments, and its commands."}})},
       {"servers", Value::list({Value::dict({{"url", "http://127.0.0.1:9790"}})})},
       {"security", Value::list({Value::dict({{"token", Value::list({})}})})},
       {"paths", Value::dict(std::move(paths))},
       {"components",
        Value::dict(
            {{"schemas", Value::dict({{"Error", error_schema()}})},
             {"securitySchemes",
              Value::dict({{"token", Value::dict({{"type", "http"}, {"scheme", "bearer"}})}})}})}});
}

}  // namespace fettle
