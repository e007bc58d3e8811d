#pragma once
/// Services.

#include "verbs/environments/environments.h"

namespace fettle {

/// Each port by its id, with `application` and the `url` on this machine.
Value ports_value(const ServiceView& service);
/// A service as `enclave inspect` tells it.
Value service_value(const ServiceView& service);

}  // namespace fettle
