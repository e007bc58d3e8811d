#include "kubernetes/request_budget.h"

#include <algorithm>
#include <cmath>

namespace fettle::kubernetes {

std::string_view to_string(Urgency urgency) {
  switch (urgency) {
    case Urgency::availability:
      return "availability";
    case Urgency::progress:
      return "progress";
    case Urgency::status:
      return "status";
    case Urgency::events:
      return "events";
    case Urgency::free:
      return "free";
  }
  return {};
}

RequestBudget::RequestBudget(double qps, int burst)
    : qps_(qps), burst_(std::max(1, burst)), tokens_(burst_) {}

RequestBudget::Ticket RequestBudget::join(Urgency urgency) {
  waiting_.at(static_cast<size_t>(urgency)).push_back(++last_);
  return last_;
}

void RequestBudget::leave(Ticket ticket) {
  for (std::deque<Ticket>& row : waiting_)
    std::erase(row, ticket);
}

double RequestBudget::tokens_at(Instant now) const {
  if (!has_begun_)
    return burst_;
  const double seconds = std::chrono::duration<double>(now - counted_).count();
  return std::min(burst_, tokens_ + std::max(0.0, seconds) * qps_);
}

std::optional<RequestBudget::Ticket> RequestBudget::admit(Instant now) {
  const auto row = std::ranges::find_if(waiting_, [](const auto& each) { return !each.empty(); });
  const double tokens = tokens_at(now);
  if (row == waiting_.end() || now < paused_until_ || (qps_ > 0 && tokens < 1))
    return {};
  tokens_ = tokens - 1;
  counted_ = has_begun_ ? std::max(now, counted_) : now;
  has_begun_ = true;
  const Ticket ticket = row->front();
  row->pop_front();
  return ticket;
}

std::optional<Instant> RequestBudget::due(Instant now) const {
  if (std::ranges::all_of(waiting_, [](const auto& each) { return each.empty(); }))
    return {};
  Instant then = std::max(now, paused_until_);
  if (const double missing = 1 - tokens_at(now); qps_ > 0 && missing > 0)
    then = std::max(then, now + Duration(static_cast<int64_t>(std::ceil(missing / qps_ * 1e9))));
  return then;
}

}  // namespace fettle::kubernetes
