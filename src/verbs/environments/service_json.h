#pragma once
/// A service's configuration as people have it in JSON: the attributes, what `service inspect`
/// prints, or the fields of a `ServiceConfig` as Kurtosis writes them.

#include "base/result.h"
#include "value/value.h"

namespace fettle {

/// As attributes of a service, not yet normalised. Errors: no mapping, ports or files that cannot
/// be understood.
Result<Value> attributes_of_json(const Value& document);

}  // namespace fettle
