#pragma once
/// What NodeImages say about images on nodes. A NodeImage is the contract between whoever wants
/// images and the daemon of a node, whoever has written either of them: `spec` is what is asked of
/// the node, `status` what has come of it. Of images that nobody asked for, it says nothing.

#include "controller/fleet_access.h"

namespace fettle {

/// The images that a node was asked for, by name. A status of an earlier order does not count.
std::vector<ImageView> images_asked_of_node(const Value& node_image);

}  // namespace fettle
