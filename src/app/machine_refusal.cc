#include "app/machine_refusal.h"

#include "app/kinds.h"
#include "base/text.h"

namespace fettle {
namespace {

Error refusal_of_act(const Key& key) {
  return user_error(cat("`", to_string(key),
                        "` acts on a machine, and a server cannot say on which: run it on that "
                        "machine with `--server local`"));
}

}  // namespace

Status MachineRefusal::ready(std::span<const Resource* const> wanted, std::stop_token stop) {
  for (const Resource* const resource : wanted)
    if (is_kind_of_machine(resource->key.kind))
      return refusal_of_act(resource->key);
  return driver_.ready(wanted, std::move(stop));
}

Result<Outcome> MachineRefusal::apply(const Act& act, const ProgressSink& progress,
                                      std::stop_token stop) {
  if (is_kind_of_machine(act.key.kind))
    return refusal_of_act(act.key);
  return driver_.apply(act, progress, std::move(stop));
}

}  // namespace fettle
