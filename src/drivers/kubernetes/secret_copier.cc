#include "drivers/kubernetes/secret_copier.h"

#include "base/text.h"
#include "cluster/types.h"

namespace fettle {
namespace {

using kubernetes::ApiReason;
using kubernetes::ObjectName;
namespace types = cluster::types;

constexpr const char* copier_name = "fettle";

std::string why_not_read(const kubernetes::ApiError& error, const ObjectName& source) {
  if (error.reason == ApiReason::not_found)
    return "it is not there";
  if (error.reason == ApiReason::forbidden)
    return cat("the controller has no right to get secrets in `", source.space,
               "`; `fettle install kubernetes --pull-secrets ", source.space, "` gives it");
  return error.message;
}

std::string why_not_written(const kubernetes::ApiError& error) {
  if (error.reason == ApiReason::not_found)
    return cat("there is no namespace `", cluster::copy_space, "`");
  if (error.reason == ApiReason::forbidden)
    return cat("the controller has no right to create and patch secrets in `", cluster::copy_space,
               "`; `fettle install kubernetes --pull-secrets …` gives it");
  return error.message;
}

}  // namespace

std::optional<std::vector<ObjectName>> SecretCopier::copies_for(const Value& job, Instant now,
                                                                const std::stop_token& stop) {
  if (copies_ == nullptr || !copies_->are_wanted())
    return std::nullopt;
  std::vector<ObjectName> there;
  for (const ObjectName& source : cluster::secrets_of(job)) {
    const ObjectName name = cluster::copy_of(source);
    std::string why;
    // The job is known, so who removes copies leaves it from now on.
    if (copies_->alone(name.name, stop, [&] { why = keep(source, now, stop); }) && why.empty())
      there.push_back(name);
  }
  return there;
}

std::string SecretCopier::keep(const ObjectName& source, Instant now, const std::stop_token& stop) {
  if (std::optional<std::string> why = copies_->recent(source, now))
    return *std::move(why);
  std::string why = copy(source, stop);
  copies_->note(source, now, why);
  return why;
}

/// Forced: OpenKruise's manager writes the jobs of a copy as well, and takes ours over.
std::string SecretCopier::copy(const ObjectName& source, const std::stop_token& stop) {
  const auto read = client_.get(types::secrets, source, stop);
  if (!read)
    return why_not_read(read.error(), source);
  const Value wanted = cluster::copied_secret(*read, objects_.all(types::pull_jobs.kind));
  const ObjectName name = cluster::copy_of(source);
  const auto send = [&] {
    return client_.patch(
        types::secrets, name, kubernetes::PatchType::apply, wanted,
        {.urgency = kubernetes::Urgency::progress, .field_manager = copier_name, .is_forced = true},
        stop);
  };
  auto written = send();
  // The type of a Secret never changes, so after its source was made anew it may be another one.
  if (!written && written.error().reason == ApiReason::invalid &&
      client_.remove(types::secrets, name, {}, stop))
    written = send();
  return written ? std::string() : why_not_written(written.error());
}

}  // namespace fettle
