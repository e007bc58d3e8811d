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

}  // namespace fettle
