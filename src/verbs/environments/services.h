#pragma once
/// Edits single services from outside a package. The next run of the package sees that as drift.

#include "workplace/edit.h"
#include "workplace/known_services.h"

namespace fettle {

/// The record of a service, found by its name, its uuid or the beginning of that. Errors: there is
/// none (with a suggestion).
Result<RecordPointer> find_service(const Workplace& place, const Name& environment,
                                   const std::string& name);

/// The same, or the record of a failed attempt to add it, which may have left something.
Result<RecordPointer> find_service_or_attempt(const Workplace& place, const Name& environment,
                                              const std::string& name);

/// Starts, stops or removes the services of records. One that runs, or is gone, already is kept as
/// it is.
Result<Summary> transit_services(const Workplace& place, Edit& edit,
                                 const std::vector<RecordPointer>& services, Verb verb);

struct PutService {
  std::string name;
  Value attributes;  ///< those of its kind
  bool is_new = true;
};
/// Adds a service as the owner `cli`, or changes one, whose owner stays. The images, directories
/// and network that it needs are wanted with it. Errors (`Blame::user`): a new one is there
/// already, or one to be changed is not there.
Result<EditResult> put_service(const Workplace& place, Edit& edit, const Environment& environment,
                               PutService service);

/// The attributes of a service with `change` put over them; env, ports and files are merged entry
/// by entry.
Value merged_attributes(const Value& before, const Value& change);

}  // namespace fettle
