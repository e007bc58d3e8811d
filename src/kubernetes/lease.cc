#include "kubernetes/lease.h"

#include "base/rfc3339.h"
#include "base/wait.h"
#include "value/with.h"

namespace fettle::kubernetes {
namespace {

constexpr int64_t longest_lease_seconds = 365 * 24 * 3'600;
constexpr Duration release_limit = 2s;
/// The clocks are not read at once, so that less is no sleep.
constexpr Duration longest_nap = 100ms;

/// As long as the holder says; what is no number is no time.
Duration duration_of(const Value& spec) {
  return std::clamp<int64_t>(spec.integer_at("leaseDurationSeconds"), 0, longest_lease_seconds) *
         Duration(1s);
}

}  // namespace

LeaseStep Election::ask(LeaseStep::Kind kind, Moment now, Value lease) {
  asked_ = kind;
  sent_ = now.instant;
  Duration limit = settings_.renew_deadline / 2;  // so that one without an answer is not the last
  if (renewed_)                                   // an answer after the deadline is of no use
    limit = std::min(limit,
                     std::max<Duration>(1ms, *renewed_ + settings_.renew_deadline - now.instant));
  return {.kind = kind, .lease = std::move(lease), .limit = limit};
}

LeaseStep Election::begin(Moment now) {
  renewed_.reset();
  is_doubtful_ = true;
  return ask(LeaseStep::Kind::get, now);
}

std::optional<Instant> Election::may_write_until() const {
  if (!renewed_)
    return {};
  return *renewed_ + settings_.renew_deadline;
}

LeaseStep Election::retry(Moment now) {
  if (renewed_ && now.instant >= *may_write_until()) {
    renewed_.reset();
    return {.kind = LeaseStep::Kind::lost};
  }
  if (renewed_)
    return {.kind = LeaseStep::Kind::wait,
            .until = std::min(sent_ + settings_.retry, *may_write_until())};
  const auto jitter = static_cast<uint64_t>(settings_.retry.count()) * 6 / 5;
  return {
      .kind = LeaseStep::Kind::wait,
      .until = now.instant + settings_.retry + Duration(static_cast<int64_t>(prng_.below(jitter)))};
}

LeaseStep Election::wake(Moment now) {
  if (renewed_ && now.instant >= *may_write_until())
    return retry(now);
  return is_doubtful_ ? ask(LeaseStep::Kind::get, now) : claim(now);
}

void Election::observe(const Value& lease, Instant now) {
  const Value& spec = lease.at("spec");
  if (lease_.is_null() || spec != lease_.at("spec"))
    observed_ = now;
  lease_ = lease;
  holder_ = spec.text_at("holderIdentity");
}

Value Election::written(Moment now) const {
  const std::string time = write_precise_moment(now.wall);
  const Value empty = Value::dict(std::vector<Entry>());
  const Value& old = lease_.at("spec");
  const bool is_ours = holder_ == settings_.identity;
  Value spec = with(old.is_dict() ? old : empty,
                    {{"holderIdentity", settings_.identity},
                     {"leaseDurationSeconds", settings_.duration / Duration(1s)},
                     {"renewTime", time}});
  if (!is_ours || old.find("acquireTime") == nullptr)
    spec = with(spec, "acquireTime", time);
  if (!is_ours)
    spec = with(spec, "leaseTransitions",
                lease_.is_null() ? 0 : old.integer_at("leaseTransitions") % INT32_MAX + 1);
  if (!lease_.is_null())
    return with(lease_, "spec", spec);
  return Value::dict({{"apiVersion", types::leases.api_version()},
                      {"kind", types::leases.kind},
                      {"metadata", Value::dict({{"name", settings_.lease.name},
                                                {"namespace", settings_.lease.space}})},
                      {"spec", spec}});
}

LeaseStep Election::claim(Moment now) {
  return ask(lease_.is_null() ? LeaseStep::Kind::create : LeaseStep::Kind::replace, now,
             written(now));
}

LeaseStep Election::take(const ApiResult<Value>& answer, Moment now) {
  if (answer && !answer->is_dict())
    return take(unreadable_error("the answer is no lease"), now);
  if (asked_ != LeaseStep::Kind::get) {
    is_doubtful_ = !answer;
    if (!answer)
      return retry(now);
    observe(*answer, now.instant);
    // What took too long counts no more: another one may have been elected meanwhile.
    if (renewed_ && now.instant >= *may_write_until())
      return retry(now);
    if (now.instant < sent_ + settings_.renew_deadline)
      renewed_ = sent_;
    return retry(now);
  }
  if (!answer && answer.error().reason != ApiReason::not_found)
    return retry(now);
  if (answer) {
    observe(*answer, now.instant);
  } else {
    lease_ = {};
    holder_.clear();
  }
  const bool is_others = !holder_.empty() && holder_ != settings_.identity;
  if (is_others && renewed_) {
    renewed_.reset();
    return {.kind = LeaseStep::Kind::lost};
  }
  if (is_others && now.instant < observed_ + duration_of(lease_.at("spec")))
    return retry(now);
  return claim(now);
}

std::optional<LeaseStep> Election::release(Moment now) {
  if (!is_leader(now.instant) || lease_.is_null())
    return {};
  renewed_.reset();
  const std::string time = write_precise_moment(now.wall);
  const Value spec = with(lease_.at("spec"), {{"holderIdentity", ""},
                                              {"leaseDurationSeconds", 1},
                                              {"renewTime", time},
                                              {"acquireTime", time}});
  LeaseStep step = ask(LeaseStep::Kind::replace, now, with(lease_, "spec", spec));
  step.limit = release_limit;
  return step;
}

ApiResult<Value> Candidate::send(const LeaseStep& step, std::stop_token stop) {
  const ObjectName& name = election_.settings().lease;
  const WriteOptions options{.urgency = Urgency::free, .limit = step.limit};
  if (step.kind == LeaseStep::Kind::get)
    return client_.call(
        {.path = path_of(types::leases, name), .urgency = Urgency::free, .limit = step.limit},
        std::move(stop));
  return step.kind == LeaseStep::Kind::create
             ? client_.create(types::leases, name, step.lease, options, std::move(stop))
             : client_.replace(types::leases, name, step.lease, options, std::move(stop));
}

void Candidate::publish() {
  const Instant until = election_.may_write_until().value_or(Instant::min());
  if (until == until_.load())
    return;
  slept_until_ = slept_when_sent_;  // first, for it belongs to the later time
  until_ = until;
}

std::optional<Instant> Candidate::may_write_until() const {
  const Instant until = until_;
  const bool has_slept = slept_() > slept_until_.load() + longest_nap;
  return until == Instant::min() || has_slept ? std::optional<Instant>() : until;
}

void Candidate::run(const std::function<void(bool is_leader)>& changed, std::stop_token stop) {
  bool was_leader = false;
  LeaseStep step = election_.begin(moment_from_clocks());
  while (!stop.stop_requested()) {
    if (step.kind == LeaseStep::Kind::wait) {
      std::ignore = pause_for(step.until - instant_from_clock(), stop);
      step = election_.wake(moment_from_clocks());
    } else if (step.kind == LeaseStep::Kind::lost) {
      step = election_.begin(moment_from_clocks());
    } else {
      slept_when_sent_ = slept_();
      const ApiResult<Value> answer = send(step, stop);
      step = election_.take(answer, moment_from_clocks());
    }
    publish();
    const bool is_leader = election_.is_leader(instant_from_clock());
    if (is_leader != was_leader)
      changed(is_leader);
    was_leader = is_leader;
  }
  const std::optional<LeaseStep> release = election_.release(moment_from_clocks());
  publish();
  if (was_leader)
    changed(false);
  // Whoever finds it free writes at once. If writes take longer, it runs out by itself.
  if (release && client_.await_writes(election_.settings().duration))
    give_back(*release);
}

void Candidate::give_back(LeaseStep release) {
  const ApiResult<Value> answer = send(release, {});
  if (answer || answer.error().reason != ApiReason::conflict)
    return;
  // A renewal that the stop broke off may have been done.
  const ApiResult<Value> lease = send({.kind = LeaseStep::Kind::get, .limit = release.limit}, {});
  if (!lease || lease->at("spec").text_at("holderIdentity") != election_.settings().identity)
    return;
  release.lease = with(*lease, "spec", release.lease.at("spec"));
  std::ignore = send(release, {});
}

}  // namespace fettle::kubernetes
