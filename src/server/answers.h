#pragma once
/// The answers of the routes in `routes.cc`, each a document of one or more verbs.

#include "server/routes.h"

namespace fettle {

Result<Value> tell_environments(const RouteCall& call);
Result<Value> tell_environment(const RouteCall& call);
Result<Value> tell_graph(const RouteCall& call);
Result<Value> tell_resource(const RouteCall& call);
Result<Value> tell_runs(const RouteCall& call);
Result<Value> tell_run(const RouteCall& call);
Result<Value> tell_events(const RouteCall& call);
Result<Value> tell_logs(const RouteCall& call);
Result<Value> tell_artifact(const RouteCall& call);
Result<Value> tell_artifact_file(const RouteCall& call);
Result<Value> tell_versions(const RouteCall& call);
Result<Value> tell_version_sets(const RouteCall& call);
Result<Value> tell_version_diff(const RouteCall& call);
Result<Value> tell_pending(const RouteCall& call);
Result<Value> tell_fleet(const RouteCall& call);
Result<Value> tell_rollout(const RouteCall& call);
/// At a server of commands, whoever lets browsers in answers instead (`remote/page_door.h`).
Result<ChildCall> ask_session(const RouteCall& call);
Result<ChildCall> ask_nodes(const RouteCall& call);

}  // namespace fettle
