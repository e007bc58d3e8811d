#pragma once
/// A service's configuration as people have it in JSON: the attributes, what `service inspect`
/// prints (`documents/services.h`), or the fields of a `ServiceConfig` as Kurtosis writes them. What
/// a document says can so be given back: the reader stands beside the maker.

#include "base/result.h"
#include "value/value.h"

namespace fettle {

/// The attributes of a service, not yet normalised. Errors: the document is no mapping, or its
/// ports or files cannot be understood.
Result<Value> attributes_of_json(const Value& document);

/// The same the other way: attributes, as they may be shown, as Kurtosis' `service inspect -o json`
/// has them. What is not set is left out. `outputs` have the ports that are open on this machine;
/// null: none is.
Value kurtosis_config_of(const Value& attributes, const Value& outputs);

}  // namespace fettle
