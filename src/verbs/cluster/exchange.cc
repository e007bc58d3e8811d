#include "verbs/cluster/exchange.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"
#include "cluster/types.h"
#include "value/with.h"
#include "verbs/cluster/cluster_objects.h"

namespace fettle {
namespace {

using kubernetes::ApiReason;
using kubernetes::Client;
using kubernetes::ObjectName;
using kubernetes::ResourceType;

/// Whose versions differ.
const std::vector<ResourceType>& versioned_types() {
  static const std::vector<ResourceType> all{
      cluster::types::clone_sets, cluster::types::stateful_sets, cluster::types::daemon_sets,
      cluster::types::sidecar_sets};
  return all;
}

bool has_spec(const Value& entry) { return entry.at("fieldsV1").find("f:spec") != nullptr; }

bool is_applied(const Value& entry) {
  return entry.text_at("operation") == "Apply" && has_spec(entry);
}

bool is_of_fettle(const Value& entry) {
  return entry.text_at("manager") == installation_name && entry.text_at("operation") == "Update" &&
         has_spec(entry);
}

/// A server that does not know yet what a definition says answers like this, and so does one whose
/// definitions ask for a conversion that nobody makes.
bool may_pass(const kubernetes::ApiError& error) {
  return error.may_retry() || error.reason == ApiReason::internal ||
         error.reason == ApiReason::not_found;
}

}  // namespace

Result<std::vector<std::string>> missing_rights(Client& client,
                                                const std::vector<NeededRight>& needed,
                                                const std::stop_token& stop) {
  std::vector<std::string> missing;
  std::set<std::tuple<std::string, std::string, std::string>> asked;
  for (const NeededRight& right : needed) {
    const std::string resource = full_plural(right.type);
    if (asked.emplace(right.verb, resource, right.space).second &&
        !TRY(is_allowed(client, right.verb, right.type, right.space, stop)))
      missing.push_back(cat("you may not ", right.verb, " `", resource, "`",
                            right.space.empty() ? "" : cat(" in `", right.space, "`")));
  }
  return missing;
}

std::string stored_version(const Value& definition) {
  for (const Value& version : items_of(definition.at("spec").at("versions")))
    if (version.bool_at("storage"))
      return std::string(version.text_at("name"));
  return {};
}

std::optional<ResourceType> versioned_type(const Value& definition) {
  const std::string name = name_of(definition).name;
  for (const ResourceType& type : versioned_types())
    if (full_plural(type) == name) {
      ResourceType found = type;
      found.version = stored_version(definition);
      return found;
    }
  return {};
}

Status Exchange::await_no_pods(const Value& deployment) {
  const ObjectName name = name_of(deployment);
  const Value& labels = deployment.at("spec").at("selector").at("matchLabels");
  std::vector<std::string> terms;
  if (labels.is_dict())
    for (const Entry& entry : labels.entries())
      terms.push_back(cat(entry.key, "=", to_text(entry.value)));
  if (terms.empty())
    return world_error(cat("Deployment `", to_string(name), "` selects no pods by labels"));
  const kubernetes::ListOptions options{.label_selector = join(terms, ","), .limit = 1};
  return await_so(
      patience_, cat("all pods of Deployment `", to_string(name), "` are gone"),
      [&]() -> Result<bool> {
        const auto pods = client_.list(kubernetes::types::pods, name.space, options, stop_);
        if (!pods)
          return static_cast<const Error&>(pods.error());
        return pods->items.empty();
      },
      stop_);
}

Status Exchange::for_each(const ResourceType& type, const ForEach& act) {
  kubernetes::ListOptions options{.limit = 500};
  do {
    kubernetes::ListPage page{};
    TRY(await_so(
        patience_, cat("`", full_plural(type), "` can be listed"),
        [&]() -> Result<bool> {
          auto listed = client_.list(type, {}, options, stop_);
          // What came before is there to be seen again.
          if (!listed && listed.error().reason == ApiReason::expired)
            options.rest.clear();
          if (!listed && (may_pass(listed.error()) || listed.error().reason == ApiReason::expired))
            return false;
          if (!listed)
            return static_cast<const Error&>(listed.error());
          page = std::move(*listed);
          return true;
        },
        stop_));
    for (const Value& object : page.items)
      TRY(act(object));
    options.rest = page.rest;
  } while (!options.rest.empty());
  return {};
}

Status Exchange::rewrite(const ResourceType& type, const Value& object,
                         const RewriteObject& rewritten, bool may_stay) {
  const ObjectName name = name_of(object);
  Value current = object;
  return await_so(
      patience_, cat(shown_object(type, name), " is rewritten"),
      [&]() -> Result<bool> {
        if (current.is_null() || is_going(current))
          return true;
        const auto made = rewritten(current);
        if (!made)
          return true;
        const auto answer =
            client_.replace(made->type, name, made->object,
                            {.field_manager = std::string(installation_name)}, stop_);
        if (answer) {
          tell(type, name, "rewritten", cat("into ", made->type.version));
          TRY(keep_owners(made->type, current, *answer));
          return true;
        }
        if (TRY(is_settled(made->type, name, answer.error(), may_stay)))
          return true;
        current = TRY(find_object(client_, type, name, stop_));
        return false;
      },
      stop_);
}

Result<bool> Exchange::is_settled(const ResourceType& type, const ObjectName& name,
                                  const kubernetes::ApiError& error, bool may_stay) {
  if (error.reason == ApiReason::conflict || may_pass(error))
    return false;
  if (!may_stay || (error.reason != ApiReason::invalid && error.reason != ApiReason::forbidden &&
                    error.reason != ApiReason::bad_request))
    return static_cast<const Error&>(error);
  report_.warnings.push_back(cat(shown_object(type, name), " is not rewritten into `", type.version,
                                 "`, for the server refuses: ", error.server_message));
  return true;
}

/// Whoever applies a manifest by server-side apply owns its fields, and our write has taken them.
/// They are given back, so that the next manifest is not refused. Of ours stays that the spec was
/// written in this version.
Status Exchange::keep_owners(const ResourceType& type, const Value& before, const Value& after) {
  const Value& fields = before.at("metadata").at("managedFields");
  if (std::ranges::none_of(items_of(fields), is_applied))
    return {};
  std::vector<Value> kept;
  for (const Value& entry : items_of(fields))
    if (!is_of_fettle(entry))
      kept.push_back(entry);
  for (const Value& entry : items_of(after.at("metadata").at("managedFields")))
    if (is_of_fettle(entry))
      kept.push_back(
          with(entry, "fieldsV1", Value::dict({{"f:spec", Value::dict(std::vector<Entry>())}})));
  const auto answer = client_.patch(
      type, name_of(after), kubernetes::PatchType::json,
      Value::list({Value::dict({{"op", "test"},
                                {"path", "/metadata/resourceVersion"},
                                {"value", after.at("metadata").at("resourceVersion")}}),
                   Value::dict({{"op", "replace"},
                                {"path", "/metadata/managedFields"},
                                {"value", Value::list(std::move(kept))}})}),
      {.field_manager = std::string(installation_name)}, stop_);
  // Somebody has written it since; who owns what is theirs.
  if (!answer && answer.error().reason != ApiReason::conflict &&
      answer.error().reason != ApiReason::invalid)
    return static_cast<const Error&>(answer.error());
  return {};
}

Status Exchange::put_definition(const Value& before, const Value& wanted, std::string status) {
  const ObjectName name = name_of(wanted);
  const Value answer =
      TRY(client_.replace(kubernetes::types::definitions, name, wanted,
                          {.field_manager = std::string(installation_name)}, stop_));
  const auto version = [](const Value& object) {
    return object.at("metadata").at("resourceVersion");
  };
  tell(kubernetes::types::definitions, name,
       version(answer) == version(before) ? "unchanged" : std::move(status));
  return {};
}

}  // namespace fettle
