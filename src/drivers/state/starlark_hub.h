#pragma once
/// The functions that modules in Starlark may call:
///
///   call(path, *args, **kwargs)     an exec function
///   not_ready(reason, watch = [])  throttled(reason)
///   hub: call, is_pending(ret), results(), apply(tags = None), sleep(seconds)
///
/// The hub is given to functions with a parameter of that name.

#include "drivers/state/plugin.h"
#include "starlark/starlark.h"

namespace fettle {

/// The call under way, and what it said about itself.
struct HubCall {
  const PluginCall* call = nullptr;
  PluginAnswer::Verdict verdict = PluginAnswer::Verdict::answered;
  std::string why{};
  Value watch{};    ///< of `not_ready`
  Value running{};  ///< of a reconciler: the results by tag
};

/// Predeclares `call`, `not_ready` and `throttled`; `asking` must outlive the session.
void lend_host(starlark::Session& session, HubCall& asking);
starlark::Value hub_of(starlark::Thread& thread, HubCall& asking);
/// The value of `ctx`: a structure of the context, with the fields that it always has.
Result<starlark::Value> context_of(starlark::Thread& thread, const Value& context);

}  // namespace fettle
