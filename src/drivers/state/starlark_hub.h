#pragma once
/// What modules in Starlark may ask of their host:
///
///   call(path, *args, **kwargs)     an exec function
///   not_ready(reason, watch = [])  throttled(reason)
///   hub: call, is_pending(ret), results(), apply(tags = None), sleep(seconds)
///
/// The hub is given to functions with a parameter of that name.

#include "drivers/state/plugin.h"
#include "starlark/starlark.h"

namespace fettle {

/// The call that is under way, and what it said of itself.
struct Asking {
  const PluginCall* call = nullptr;
  PluginAnswer::Verdict verdict = PluginAnswer::Verdict::answered;
  std::string why{};
  Value watch{};    ///< of `not_ready`
  Value running{};  ///< of a reconciler: the results by tag
};

/// Predeclares `call`, `not_ready` and `throttled`; `asking` outlives the session.
void lend_host(starlark::Session& session, Asking& asking);
starlark::Value hub_of(starlark::Thread& thread, Asking& asking);
/// `ctx`: a structure of what the context holds, with what is always there.
Result<starlark::Value> context_of(starlark::Thread& thread, const Value& context);

}  // namespace fettle
