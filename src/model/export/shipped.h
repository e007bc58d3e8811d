#pragma once
/// The resource types that ship with fettle.

#include "model/export/declaration.h"

namespace fettle::model {

Declarations shipped_declarations();

}  // namespace fettle::model
