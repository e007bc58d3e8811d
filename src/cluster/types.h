#pragma once
/// The types of objects in a cluster that are kept or written here.

#include "kubernetes/resource_type.h"

namespace fettle::cluster::types {

using kubernetes::types::pods;
inline const kubernetes::ResourceType revisions{"apps", "v1", "controllerrevisions",
                                                "ControllerRevision"};
inline const kubernetes::ResourceType clone_sets{"apps.kruise.io", "v1beta1", "clonesets",
                                                 "CloneSet"};

}  // namespace fettle::cluster::types
