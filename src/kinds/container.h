#pragma once
/// Ports of a container as models and states describe them, in the form that the kind `service`
/// takes.

#include "base/result.h"
#include "value/value.h"

namespace fettle {

/// Ports by name, each a number such as 80 or a string such as `53/udp`; `wait` is how long a TCP
/// port may take to answer, or null. Errors (`Blame::user`): not a port.
Result<Value> container_ports(const Value& ports, const Value& wait);

}  // namespace fettle
