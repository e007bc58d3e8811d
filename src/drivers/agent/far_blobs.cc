#include "drivers/agent/far_blobs.h"

#include "base/text.h"

namespace fettle {

Result<bool> FarBlobs::has(std::string_view digest) {
  const std::string wanted(digest);
  while (!TRY(near_.has(wanted))) {
    std::unique_lock lock(mutex_);
    if (!numbers_.contains(wanted)) {
      lock.unlock();
      TRY(fetch(wanted));
      return true;
    }
    // Somebody else has asked for it: if he gets it, it is here.
    news_.wait(lock, [&] { return is_ended_ || !numbers_.contains(wanted); });
    if (is_ended_)
      return world_error("the connection was lost");
  }
  return true;
}

Result<Blob> FarBlobs::open(std::string_view digest) {
  TRY(has(digest));
  return near_.open(digest);
}

Status FarBlobs::fetch(const std::string& digest) {
  std::unique_ptr<Draft> draft = TRY(near_.begin());
  std::unique_lock lock(mutex_);
  const uint64_t number = ++last_;
  numbers_[digest] = number;
  arrivals_[number].draft = std::move(draft);
  lock.unlock();
  const Status asked = line_.send(ActWord::need, number, digest);
  lock.lock();
  Arrival& arrival = arrivals_.at(number);
  news_.wait(lock, [&] { return is_ended_ || arrival.is_over || !asked; });
  Status got = !asked            ? asked
               : arrival.is_over ? arrival.failed
                                 : Status(world_error("the connection was lost"));
  if (got) {
    const Result<std::string> made = arrival.draft->finish();
    if (!made)
      got = made.error();
    else if (*made != digest)
      got = world_error(cat("the server sent another content than `", digest, "`"));
  }
  arrivals_.erase(number);
  numbers_.erase(digest);
  news_.notify_all();
  if (!got && !is_cancelled(got.error()))
    got.error() = std::move(got.error()).context(cat("fetching the content ", digest));
  return got;
}

bool FarBlobs::hear(const ActMessage& message) {
  const std::lock_guard lock(mutex_);
  const auto found = arrivals_.find(message.number);
  if (found == arrivals_.end() || found->second.is_over)
    return false;
  Arrival& arrival = found->second;
  if (message.word == ActWord::content) {
    if (arrival.failed)
      arrival.failed = arrival.draft->add(message.body);
    return true;
  }
  if (message.word == ActWord::content_lost)
    arrival.failed = world_error(printable(message.body));
  arrival.is_over = true;
  news_.notify_all();
  return true;
}

void FarBlobs::end() {
  const std::lock_guard lock(mutex_);
  is_ended_ = true;
  news_.notify_all();
}

}  // namespace fettle
