#pragma once
/// A `ServiceConfig` as the attributes of a service, and back where a script asks for it.

#include "kinds/service.h"
#include "packages/draft.h"
#include "packages/instructions/instruction.h"

namespace fettle {

/// Whether a container that has it gets no more than its own: `name` is `NET_ADMIN` or
/// `CAP_NET_ADMIN`, `device` is `HOST[:INSIDE[:RIGHTS]]`.
bool is_harmless_capability(std::string_view name);
bool is_harmless_device(std::string_view device);

/// What is wanted of the service `name`; images, directories and artifacts that it uses become
/// resources or findings. Errors: a value that has no plain form.
Result<Service> wanted_service(InstructionCall& call, const std::string& name,
                               starlark::Value config);

/// `files` of a service or task: `{path: artifact name or Directory}`.
Result<Value> file_attributes(Draft& draft, starlark::Value files);

/// What of the machine a container would have beside what every one has.
struct MachineReach {
  Dict bind_mounts;
  bool is_privileged = false;
  bool sees_processes = false;
  List devices{}, capabilities{};
};
/// Findings when somebody (`the service …`) wants to reach out of the container and may not.
void check_reach(Draft& draft, std::string_view who, const MachineReach& reach);

/// A recipe of any of the three types as attributes.
Result<Value> recipe_attributes(const Draft& draft, starlark::Thread& thread,
                                starlark::Value recipe);

/// A finding when a recipe names a port that the service does not have.
void check_recipe(Draft& draft, const ServiceState& service, const Value& recipe);

/// The `Service` value that a script is given.
starlark::Value service_value(Draft& draft, starlark::Thread& thread, const std::string& name,
                              const ServiceState& service);

/// A Starlark value as a plain one, its references turned into holes.
Result<Value> plain_with_holes(const Draft& draft, starlark::Thread& thread, starlark::Value value);

}  // namespace fettle
