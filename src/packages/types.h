#pragma once
/// The types that packages construct: `ServiceConfig`, `PortSpec`, recipes and the rest. Each is a
/// row of a table with its fields and what they accept; what must hold between fields is checked
/// when the value is made, so an error stands at the line that made it.

#include "starlark/starlark.h"

namespace fettle::types {

extern const starlark::RecordType service_config, port_spec, directory, ready_condition,
    exec_recipe, exit_recipe, get_recipe, post_recipe, store_spec, image_build_spec, image_spec,
    nix_build_spec, user, toleration, gpu_config, service;

// Checks for values that several instructions and types take. The error names the field.
Status check_text_dict(std::string_view field, starlark::Value dict);
Status check_variables(starlark::Value variables);
Status check_files(starlark::Value files);
Status check_tolerations(starlark::Value tolerations);
/// A recipe, a field of its result, and what that is compared with.
Status check_condition(starlark::Value recipe, const std::string& field,
                       const std::string& assertion, starlark::Value target);

/// The parameter, which also takes None when it may be missing: None is no value, but it is seen
/// in the canonical text.
starlark::Parameter may_be_none(starlark::Parameter parameter);

/// Makes every constructor known to the session under its name.
void predeclare(starlark::Session& session);

}  // namespace fettle::types
