#include "kubernetes/reflector.h"

#include <mutex>

#include "base/condition.h"
#include "base/wait.h"

namespace fettle::kubernetes {
namespace {

/// A watch that ends sooner, with nothing, is a failure.
constexpr Duration shortest_watch = 1s;

Name version_of(const Value& object) { return name_at(object.at("metadata"), "resourceVersion"); }

}  // namespace

ReflectorStep Reflector::list_anew(Instant now) {
  ++list_;
  version_.clear();
  rest_.clear();
  if (streams_)
    return watch(now);
  stage_ = Stage::listing;
  return {.kind = ReflectorStep::Kind::list,
          .list = {.label_selector = settings_.label_selector,
                   .field_selector = settings_.field_selector,
                   .limit = is_whole_ ? 0 : settings_.page,
                   .read = settings_.read}};
}

ReflectorStep Reflector::watch(Instant now) {
  stage_ = version_.empty() ? Stage::streaming : Stage::watching;
  watch_began_ = now;
  heard_ = 0;
  const auto more = static_cast<uint64_t>(settings_.watch_limit.count());
  return {.kind = ReflectorStep::Kind::watch,
          .watch = {.label_selector = settings_.label_selector,
                    .field_selector = settings_.field_selector,
                    .resource_version = version_,
                    .sends_initial_events = stage_ == Stage::streaming,
                    .limit = settings_.watch_limit +
                             Duration(static_cast<int64_t>(prng_.below(more + 1))),
                    .idle_limit = settings_.idle_limit,
                    .read = settings_.read}};
}

ReflectorStep Reflector::wait(Instant now, std::optional<Duration> at_least) {
  Duration pause = settings_.shortest_pause;
  for (int i = 0; i < failures_ && pause < settings_.longest_pause; ++i)
    pause *= 2;
  ++failures_;
  pause = std::min(pause, settings_.longest_pause);
  pause += Duration(static_cast<int64_t>(prng_.below(static_cast<uint64_t>(pause.count()))));
  return {.kind = ReflectorStep::Kind::wait,
          .until = now + std::max(pause, at_least.value_or(Duration(0)))};
}

ReflectorStep Reflector::wake(Instant now) {
  return version_.empty() ? list_anew(now) : watch(now);
}

ReflectorStep Reflector::take_page(const ApiResult<ListPage>& page, Instant now) {
  if (!page) {
    // What was told of the pages before stays told; the next list goes through all of them.
    is_whole_ = page.error().reason == ApiReason::expired && !rest_.empty();
    return is_whole_ ? list_anew(now) : wait(now, page.error().retry_after);
  }
  for (const Value& item : page->items)
    learn(item);
  rest_ = page->rest;
  if (!rest_.empty())
    return {.kind = ReflectorStep::Kind::list,
            .list = {.label_selector = settings_.label_selector,
                     .field_selector = settings_.field_selector,
                     .limit = settings_.page,
                     .rest = rest_,
                     .read = settings_.read}};
  is_whole_ = false;
  version_ = page->resource_version;
  complete();
  return watch(now);
}

void Reflector::learn(const Value& object) {
  const KeptName name = kept_name_of(object);
  const Name uid = name_at(object.at("metadata"), "uid"), version = version_of(object);
  auto known = known_.find(name);
  if (known != known_.end() && known->second.uid != uid) {
    forget(known);
    known = known_.end();
  }
  if (known == known_.end())
    known = known_.emplace(name, Known{.uid = uid, .version = {}}).first;
  known->second.list = list_;
  if (known->second.version == version)
    return;
  known->second.version = version;
  listener_.put(object_name(name), object);
}

void Reflector::forget(AllKnown::iterator known) {
  const auto [name, last] = *known;
  known_.erase(known);
  listener_.gone(object_name(name), last.uid.str());
}

void Reflector::complete() {
  for (auto known = known_.begin(); known != known_.end();) {
    const auto one = known++;
    if (one->second.list != list_)
      forget(one);
  }
  listener_.listed(version_);
  is_synced_ = true;
  heard_ = 0;  // from here on it is the watch that shows that all is well
  listener_.synced();
}

void Reflector::take(const WatchEvent& event) {
  ++heard_;
  if (event.type == WatchEvent::Type::deleted) {
    if (const auto known = known_.find(kept_name_of(event.object)); known != known_.end())
      forget(known);
  } else if (event.type != WatchEvent::Type::bookmark) {
    learn(event.object);
  }
  // Objects of a list come in any order of versions; what it is a list of is told at its end.
  const bool ends_list = stage_ == Stage::streaming && ends_initial_events(event);
  if (stage_ == Stage::watching || ends_list)
    version_ = version_of(event.object).str();
  if (!ends_list)
    return;
  stage_ = Stage::watching;
  complete();
}

ReflectorStep Reflector::end_watch(const ApiResult<void>& result, Instant now) {
  if (stage_ == Stage::watching && heard_ > 0 && now - watch_began_ >= shortest_watch)
    failures_ = 0;
  const bool was_silent =
      settings_.idle_limit > 0s && heard_ == 0 && now - watch_began_ >= settings_.idle_limit;
  if (!result && stage_ == Stage::watching && was_silent)
    version_.clear();
  if (!result &&
      (result.error().reason == ApiReason::expired || result.error().reason == ApiReason::gone)) {
    version_.clear();
    return failures_++ == 0 ? list_anew(now) : wait(now);
  }
  if (stage_ == Stage::streaming && heard_ == 0) {
    // Either the server does not stream lists, or it is not there at all.
    const bool refuses = result || result.error().reason == ApiReason::invalid ||
                         result.error().reason == ApiReason::bad_request ||
                         result.error().reason == ApiReason::forbidden ||
                         result.error().reason == ApiReason::internal;
    streams_ = streams_ && !refuses;
    if (refuses)
      return list_anew(now);
  }
  if (!result)
    return wait(now, result.error().retry_after);
  const bool breaks_off = stage_ == Stage::streaming;
  if (breaks_off || (heard_ == 0 && now - watch_began_ < shortest_watch))
    return wait(now);
  failures_ = 0;
  return version_.empty() ? list_anew(now) : watch(now);
}

namespace {

/// Waits until a watch has ended.
ApiResult<void> watch_to_its_end(Client& client, Reflector& reflector, const WatchOptions& options,
                                 const std::stop_token& stop) {
  struct End {
    std::mutex mutex;
    Condition come;
    std::optional<ApiResult<void>> result;
  };
  const auto end = std::make_shared<End>();
  client.watch(
      reflector.settings().type, reflector.settings().space, options,
      [&reflector](const WatchEvent& event) {
        reflector.take(event);
        reflector.listener().heard(instant_from_clock());
      },
      stop,
      [end](ApiResult<void> result) {
        const std::lock_guard lock(end->mutex);
        end->result = std::move(result);
        end->come.notify_all();
      });
  std::unique_lock lock(end->mutex);
  end->come.wait(lock, [&] { return end->result.has_value(); });
  return std::move(*end->result);
}

}  // namespace

void follow(Client& client, Reflector& reflector, std::stop_token stop) {
  const ReflectorSettings& settings = reflector.settings();
  ReflectorStep step = reflector.begin(instant_from_clock());
  while (!stop.stop_requested()) {
    switch (step.kind) {
      case ReflectorStep::Kind::list: {
        const auto page = client.list(settings.type, settings.space, step.list, stop);
        step = reflector.take_page(page, instant_from_clock());
        if (page)
          reflector.listener().heard(instant_from_clock());
        break;
      }
      case ReflectorStep::Kind::watch: {
        const auto ended = watch_to_its_end(client, reflector, step.watch, stop);
        step = reflector.end_watch(ended, instant_from_clock());
        break;
      }
      case ReflectorStep::Kind::wait:
        if (!pause_for(step.until - instant_from_clock(), stop))
          return;
        step = reflector.wake(instant_from_clock());
        break;
    }
  }
}

}  // namespace fettle::kubernetes
