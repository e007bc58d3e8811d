#include "node/notice_writer.h"

#include "base/hash.h"
#include "base/rfc3339.h"
#include "base/text.h"

namespace fettle::node {
namespace {

constexpr size_t longest_event_text = 1'000;  ///< bytes, beyond which a server refuses it

}  // namespace

Value event_of(const PullNotice& notice, const std::string& node, Time now, uint64_t number) {
  // Objects of no namespace have their Events in this one.
  const std::string_view space = notice.about.text_at("namespace", "default");
  const std::string_view name = notice.about.text_at("name");
  const std::string unique =
      cat(notice.about.text_at("uid"), " ", node, " ", now.time_since_epoch().count(), " ", number);
  const Value moment = write_moment(now);
  return Value::dict(
      {{"apiVersion", "v1"},
       {"kind", "Event"},
       {"metadata",
        Value::dict({{"name", cat(name, ".", to_string(fingerprint(unique)).substr(0, 16))},
                     {"namespace", space}})},
       {"involvedObject", notice.about},
       {"type", notice.is_warning ? "Warning" : "Normal"},
       {"reason", notice.reason},
       {"message", clipped(notice.text, longest_event_text)},
       {"source", Value::dict({{"component", "fettle-node-daemon"}, {"host", node}})},
       {"firstTimestamp", moment},
       {"lastTimestamp", moment},
       {"count", 1}});
}

NoticeWriter::NoticeWriter(kubernetes::Client& client, std::string node)
    : client_(client),
      node_(std::move(node)),
      thread_([this](const std::stop_token& stop) { write(stop); }) {}

void NoticeWriter::tell(const PullNotice& notice, Time now) {
  if (notice.about.text_at("name").empty())
    return;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(event_of(notice, node_, now, ++number_));
    if (waiting_.size() > most_waiting)
      waiting_.pop_front();
  }
  come_.notify_all();
}

/// What is refused is lost: nobody depends on it.
void NoticeWriter::write(const std::stop_token& stop) {
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

}  // namespace fettle::node
