#include "drivers/kubernetes/event_writer.h"

#include <algorithm>

#include "base/hash.h"
#include "base/rfc3339.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr double most_at_once = 25;
constexpr double more_after = 300;  ///< seconds
constexpr size_t most_waiting = 1'000, most_objects = 10'000;
constexpr size_t longest_text = 1'000;  ///< bytes, beyond which a server refuses it

}  // namespace

Value event_object(const ObjectNotice& notice, const workloads::Object& about, Time now,
                   uint64_t number) {
  // Objects of no namespace have their Events in this one.
  const Name space = about.space.empty() ? Name("default") : about.space;
  const std::string unique = cat(about.uid, " ", now.time_since_epoch().count(), " ", number);
  const Value moment = write_moment(now);
  return Value::dict(
      {{"apiVersion", "v1"},
       {"kind", "Event"},
       {"metadata",
        Value::dict({{"name", cat(about.name, ".", to_string(fingerprint(unique)).substr(0, 16))},
                     {"namespace", space}})},
       {"involvedObject", Value::dict({{"apiVersion", about.document.at("apiVersion")},
                                       {"kind", about.kind},
                                       {"namespace", about.space},
                                       {"name", about.name},
                                       {"uid", about.uid}})},
       {"type", notice.type},
       {"reason", notice.reason},
       {"message", clipped(std::string(notice.text.view()), longest_text)},
       {"source", Value::dict({{"component", "fettle"}})},
       {"firstTimestamp", moment},
       {"lastTimestamp", moment},
       {"count", 1}});
}

bool EventLimit::take(const Name& uid, Time now) {
  if (by_object_.size() >= most_objects)
    by_object_.clear();
  const auto [found, is_new] = by_object_.try_emplace(uid, Allowance{most_at_once, now});
  Allowance& allowance = found->second;
  const double passed = std::chrono::duration<double>(now - allowance.at).count();
  allowance.left = std::min(most_at_once, allowance.left + std::max(passed, 0.0) / more_after);
  allowance.at = now;
  if (allowance.left < 1)
    return false;
  allowance.left -= 1;
  return true;
}

EventWriter::EventWriter(kubernetes::Client& client)
    : client_(client), thread_([this](const std::stop_token& stop) { write(stop); }) {}

void EventWriter::tell(const ObjectNotice& notice, const workloads::Object& about, Time now) {
  {
    const std::lock_guard lock(mutex_);
    if (!limit_.take(about.uid, now))
      return;
    waiting_.push_back(event_object(notice, about, now, ++number_));
    if (waiting_.size() > most_waiting)
      waiting_.pop_front();
  }
  come_.notify_all();
}

/// What is refused is lost: nobody depends on it.
void EventWriter::write(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!come_.wait(lock, stop, [&] { return !waiting_.empty(); }))
      return;
    const Value next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const std::string space(next.at("metadata").text_at("namespace"));
    (void)client_.create(kubernetes::types::events, {space, ""}, next,
                         {.urgency = kubernetes::Urgency::events}, stop);
  }
}

}  // namespace fettle
