#pragma once
/// Bare connections to an engine, for whoever passes its bytes on.

#include "base/file.h"
#include "drivers/engine/address.h"

namespace fettle {

/// A socket that never blocks and may still be connecting. Errors: the engine is not reached;
/// (`Blame::user`) its address asks for TLS, which nobody here speaks.
Result<Descriptor> dial_engine(const EngineAddress& address);

}  // namespace fettle
