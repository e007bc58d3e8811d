#pragma once
/// The resources that services need: `network`, `image` and `directory`.

#include "drivers/engine/site.h"

namespace fettle {

/// One call when all goes well: the range is chosen by looking at this machine, and the engine is
/// asked what it has only when it refuses.
Result<Outcome> make_network(const Site& site, const Act& act, std::stop_token stop);
/// The outputs of a network, which is made when there is none.
Result<Value> ensure_network(const Site& site, const Key& key, const std::stop_token& stop);
/// Takes away a network on which nobody is any more once `owner` has left it, and in which nobody
/// has an address; otherwise it stays.
Status drop_empty_network(const Site& site, const Key& key, const std::string& owner,
                          const std::stop_token& stop);
/// With whatever of the environment is still on it.
Result<Outcome> drop_network(const Site& site, const Act& act, std::stop_token stop);

Result<Outcome> make_image(const Site& site, const Act& act, const ProgressSink& progress,
                           std::stop_token stop);

Result<Outcome> make_directory(const Site& site, const Act& act, std::stop_token stop);
Result<Outcome> drop_directory(const Site& site, const Act& act, std::stop_token stop);

}  // namespace fettle
