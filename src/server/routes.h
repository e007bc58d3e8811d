#pragma once
/// What our server can be asked: a table, which is the only place that says so. Requests are
/// dispatched by it, and whatever describes the interface is made from it.
///
/// To add one: a function in `answers.h`, and a row in `routes.cc`. An answer calls a verb and makes
/// a document of `src/documents`; it decides nothing. All run one after the other on one thread,
/// since some verbs and the store may be used by one thread at a time; none of them writes. What acts is
/// a shell in a service, and what is posted.

#include <span>

#include "server/child_calls.h"
#include "workplace/workplace.h"

namespace fettle {

/// What somebody must be allowed to do. Whoever has the page's cookie may read; to act takes the key
/// for terminals beside it (`guard.h`).
enum class WebRight { read, act };

struct RouteCall {
  const Workplace& place;
  std::map<std::string, std::string> parts;    ///< of the path, by the name in the pattern
  std::map<std::string, std::string> query;    ///< those that the route knows
  mutable std::shared_ptr<const void> rest{};  ///< what may be freed after the reply

  const std::string& part(const std::string& name) const { return parts.at(name); }
  std::string parameter(const std::string& name) const;
  /// Error (`Blame::user`): it is no number from 0 to `most`.
  Result<uint64_t> number(const std::string& name, uint64_t otherwise, uint64_t most) const;
  /// The environment in the path; what is secret in it is hidden from here on. Error
  /// (`Blame::user`): the store has none of the name. One that only an engine knows is not taken
  /// over, which asking for a page must not do.
  Result<Environment> environment() const;
};

struct Route {
  std::string_view method;
  std::string_view pattern;  ///< `/api/environments/{environment}/graph`
  WebRight right;
  std::vector<std::string_view> parameters;  ///< of the query; others are refused
  std::string_view summary;
  Result<Value> (*answer)(const RouteCall& call);  ///< null: a stream, a terminal, or by a child
  /// A command that is answered by, because it reads what users wrote.
  Result<ChildCall> (*child)(const RouteCall& call) = nullptr;
};

std::span<const Route> routes();
/// What one's own page does (`plan_acts.h`): what is posted. `fettle api` has none of it.
std::span<const Route> routes_of_acts();
/// What a server of commands answers beside these: its runs and schedules, which `fettle api` tells,
/// and what is posted (`remote/posted_command.h`).
std::span<const Route> routes_of_runs();

/// A route with the parts of its pattern.
struct RouteMatch {
  const Route* route = nullptr;
  std::map<std::string, std::string> parts;
};
/// Null: there is none for this path.
RouteMatch find_route(const std::vector<std::string>& segments);
RouteMatch find_route(std::span<const Route> table, const std::vector<std::string>& segments);
/// Empty: `otherwise`. Error (`Blame::user`): it is no number from 0 to `most`.
Result<uint64_t> route_number(std::string_view name, const std::string& text, uint64_t otherwise,
                              uint64_t most);

/// Error (`Blame::user`): the query has something that the route does not know.
Status check_parameters(const Route& route, const WebTarget& target);

/// What a route answers by a document, with secrets hidden. Errors (`Blame::user`): there is no such
/// path, parameter or thing; it is a stream, or a command answers it.
Result<Value> document_by_routes(const Workplace& place, const WebTarget& target);
/// Looks for the route, checks its parameters and answers, with secrets hidden. A stream is not
/// answered here.
WebReply answer_by_routes(const Workplace& place, const WebTarget& target);

}  // namespace fettle
