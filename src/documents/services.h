#pragma once
/// Services of environments, and what is done with them. Engines publish ports on the loopback
/// address of this machine; that address is written here and nowhere else in documents.

#include "documents/parts.h"
#include "verbs/environments/environments.h"

namespace fettle {

/// A service as `enclave inspect` and `run` tell it: `name`, `uuid`, `status`, `container`,
/// `ip_address`, `ports` (each by its id, with `application` and the `url` on this machine),
/// `image`.
Value value_of(const ServiceView& service);
/// The same as in `service ls`: `name`, `uuid`, `status`, `ports`.
Value briefs_of(const std::vector<ServiceView>& services);
/// `service inspect`: everything about it. `attributes` have outputs of others in place of holes.
Value document_of(const Workplace& place, const ServiceView& service, const Attributes& attributes);

/// A service that was added or changed: `name`, `outputs`.
Value put_document(std::string_view name, const Outputs& outputs);
/// A service that was stopped, started, restarted or removed: `name`, `status`, and `changed`,
/// whether it was not so before.
Value transit_document(std::string_view name, std::string_view status, bool is_changed);
/// The port of this machine on which a port is published: `protocol`, `ip`, `number`.
Value port_document(std::string_view protocol, int64_t number);

}  // namespace fettle
