#pragma once
/// The resources that services need: `network`, `image` and `directory`.

#include "drivers/engine/site.h"
#include "kinds/network.h"

namespace fettle {

/// Takes one call if all goes well: the range is chosen by looking at this machine, and the engine
/// is only asked what it has if it refuses.
Result<Outcome> make_network(const Site& site, const Act& act, std::stop_token stop);
/// The outputs of a network, which is made if there is none.
Result<NetworkOutputs> ensure_network(const Site& site, const Key& key,
                                      const std::stop_token& stop);
/// Removes a network that is empty once `owner` has left it, and in which nobody has an address.
/// Otherwise it stays.
Status drop_empty_network(const Site& site, const Key& key, const std::string& owner,
                          const std::stop_token& stop);
/// Removes a network, with everything of the environment that is still on it.
Result<Outcome> drop_network(const Site& site, const Act& act, std::stop_token stop);

Result<Outcome> make_image(const Site& site, const Act& act, const ProgressSink& progress,
                           std::stop_token stop);

Result<Outcome> make_directory(const Site& site, const Act& act, std::stop_token stop);
Result<Outcome> drop_directory(const Site& site, const Act& act, std::stop_token stop);

}  // namespace fettle
