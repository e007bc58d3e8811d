#pragma once
/// Bare connections to an engine, for whoever passes its bytes on.

#include "base/file.h"
#include "drivers/engine/address.h"

namespace fettle {

/// Whether there can be one. Errors (`Blame::user`): the address asks for TLS, which nobody here
/// speaks, or is that of an agent.
Status check_dialled(const EngineAddress& address);
/// A socket that never blocks and may still be connecting.
Result<Descriptor> dial_engine(const EngineAddress& address);

}  // namespace fettle
