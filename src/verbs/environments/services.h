#pragma once
/// Single services, edited from outside a package: the next run of the package sees it as drift.

#include "workplace/edit.h"
#include "workplace/known_services.h"

namespace fettle {

/// The record of a service by name, uuid or the beginning of its uuid. Errors: there is none (with
/// a suggestion).
Result<RecordPointer> find_service(const Workplace& place, const Name& environment,
                                   const std::string& name);

/// The same, or the record of an attempt to add it that failed, which may have left something.
Result<RecordPointer> find_service_or_attempt(const Workplace& place, const Name& environment,
                                              const std::string& name);

/// Starts, stops or removes the services of records. What runs, or is gone, already is kept so.
Result<Summary> transit_services(const Workplace& place, Edit& edit,
                                 const std::vector<RecordPointer>& services, Verb verb);

struct PutService {
  std::string name;
  Value attributes;  ///< those of its kind
  bool is_new = true;
};
/// Adds a service, as the owner `cli`, or changes one, whose owner stays. Images, directories and
/// the network it needs are wanted with it. Errors (`Blame::user`): a new one is there already, one
/// to be changed is not.
Result<Edited> put_service(const Workplace& place, Edit& edit, const Environment& environment,
                           PutService service);

/// `change` on top of the attributes of a service; entries of env, ports and files one by one.
Value merged_attributes(const Value& before, const Value& change);

}  // namespace fettle
