#pragma once
/// Single services, edited from outside a package: the next run of the package sees it as drift.

#include "verbs/workplace.h"

namespace fettle {

/// Services that a package or somebody removed; only their records are left.
std::set<Key> removed_services(const Known& known, const Kinds& kinds);

/// The records of the services that nobody removed, by name.
Result<std::vector<RecordPointer>> services_there(const Workplace& place, const Name& environment);

/// The record of a service by name, uuid or the beginning of its uuid. Errors: there is none (with
/// a suggestion).
Result<RecordPointer> find_service(const Workplace& place, const Name& environment,
                                   const std::string& name);

/// Starts, stops or removes the service of a record, and keeps the record up to date.
Status transit_service(const Workplace& place, const RecordPointer& record, Verb verb);

/// Adds a service or changes one, as the owner `cli`. `attributes` are those of its kind; images,
/// directories and the network it needs are wanted with it.
Result<RecordPointer> put_service(const Workplace& place, const Environment& environment,
                                  const std::string& name, Value attributes);

/// `change` on top of the attributes of a service.
Value merged_attributes(const Value& before, const Value& change);

}  // namespace fettle
