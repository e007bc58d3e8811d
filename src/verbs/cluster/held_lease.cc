#include "verbs/cluster/held_lease.h"

#include <chrono>

#include "base/rfc3339.h"
#include "base/text.h"
#include "value/with.h"
#include "verbs/cluster/cluster_objects.h"
#include "workloads/rollout.h"

namespace fettle {
namespace {

using kubernetes::ApiReason;
using kubernetes::ResourceType;
using workloads::edited;

constexpr std::string_view identity = "fettle-hand-back";
constexpr Duration held_for = 2min, renewed_after = 20s;

}  // namespace

Status HeldLease::hold() {
  if (renewed_)
    return keep();
  std::string before;
  TRY(await_so(
      patience_, cat("the lease `", to_string(name_), "` is held"),
      [&]() -> Result<bool> {
        const Value there = TRY(find_object(client_, kubernetes::types::leases, name_, stop_));
        const std::string holder(there.at("spec").text_at("holderIdentity"));
        if (holder != identity)
          before = holder;
        return written(there, identity, held_for);
      },
      stop_));
  renewed_ = patience_.clock();
  // Whoever had it sees that it has gone within the time for which it had it.
  return before.empty() ? Status() : patience_.pause(15s, stop_);
}

Status HeldLease::keep() {
  if (!renewed_ || patience_.clock() - *renewed_ < renewed_after)
    return {};
  TRY(await_so(
      patience_, cat("the lease `", to_string(name_), "` is renewed"),
      [&]() -> Result<bool> {
        const Value there = TRY(find_object(client_, kubernetes::types::leases, name_, stop_));
        const std::string_view holder = there.at("spec").text_at("holderIdentity");
        if (holder != identity)
          return world_error(cat("the lease `", to_string(name_), "` was taken by `", holder,
                                 "` meanwhile, for this took too long: the same command goes on"));
        return written(there, identity, held_for);
      },
      stop_));
  renewed_ = patience_.clock();
  return {};
}

Status HeldLease::give_back() {
  renewed_.reset();
  const auto there = client_.get(kubernetes::types::leases, name_, stop_);
  if (there && there->at("spec").text_at("holderIdentity") == identity)
    TRY(written(*there, "", 1s));
  return {};
}

Result<bool> HeldLease::written(const Value& there, std::string_view holder, Duration time) {
  const std::string now = write_precise_moment(now_from_clock());
  const Value& old = there.at("spec");
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  std::vector<Entry> changes{
      {"holderIdentity", holder}, {"leaseDurationSeconds", seconds}, {"renewTime", now}};
  if (old.text_at("holderIdentity") != holder) {
    changes.push_back({"acquireTime", now});
    changes.push_back({"leaseTransitions", old.integer_at("leaseTransitions") + 1});
  }
  const Value spec = edited(old, std::move(changes));
  const kubernetes::WriteOptions options{.urgency = kubernetes::Urgency::free};
  const ResourceType& type = kubernetes::types::leases;
  const auto answer =
      there.is_null()
          ? client_.create(
                type, {name_.space, ""},
                Value::dict(
                    {{"apiVersion", type.api_version()},
                     {"kind", type.kind},
                     {"metadata", Value::dict({{"name", name_.name}, {"namespace", name_.space}})},
                     {"spec", spec}}),
                options, stop_)
          : client_.replace(type, name_, with(there, "spec", spec), options, stop_);
  if (!answer && (answer.error().reason == ApiReason::conflict ||
                  answer.error().reason == ApiReason::already_exists))
    return false;
  if (!answer)
    return static_cast<const Error&>(answer.error());
  return true;
}

}  // namespace fettle
