#pragma once
/// Rules for names and durations. Every error states its rule.

#include "base/result.h"
#include "base/time.h"

namespace fettle {

/// RFC 1035 label: lower case letters, digits and `-`, a letter first, at most 63.
Status check_service_name(std::string_view name);
/// Whether the key of a persistent directory is one that Docker and Podman take: as the name of an
/// artifact.
Status check_persistent_key(std::string_view key);
/// Whether Kubernetes would take it, too: as the name of a service.
Status check_portable_key(std::string_view key);
/// RFC 6335: lower case letters, digits and `-`, a letter among them, at most 15.
Status check_port_id(std::string_view id);
Status check_artifact_name(std::string_view name);
/// A name in a network: as that of an artifact. `what`: `alias`.
Status check_network_name(std::string_view what, std::string_view name);
Status check_label_key(std::string_view key);
Status check_label_value(std::string_view value);

/// Reads a time to wait: a duration such as `1.5s` or `2m30s` that is not negative.
Result<Duration> parse_waiting(std::string_view text);

/// Letters of other alphabets by those that a name may have: `größe` is `groesse`, `naïve` is
/// `naive`; what has no such letter becomes `u` and its number.
std::string in_plain_letters(std::string_view text);

/// The last element of a path or locator, as a name that an environment may have.
std::string environment_name_from(std::string_view path);

}  // namespace fettle
