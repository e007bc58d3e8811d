#include "node/pulls.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "base/text.h"
#include "kinds/image_reference.h"
#include "kubernetes/object_cache.h"

namespace fettle::node {
namespace {

constexpr size_t longest_status_message = 1'000;  ///< bytes; a NodeImage has hundreds of them
constexpr Duration shortest_refusal = 1s, longest_refusal = 30s;

std::string_view version_of_object(const Value& object) {
  return object.at("metadata").text_at("resourceVersion");
}
std::string_view uid_of_object(const Value& object) { return object.at("metadata").text_at("uid"); }

/// What the status of an object says about an order; null: nothing, or of another version.
Value told_of(const Value& object, const ImageOrder& order) {
  const Value& image = object.at("status").at("imageStatuses").at(order.image);
  for (const Value& tag : items_of(image.at("tags")))
    if (tag.text_at("tag") == order.tag && tag.integer_at("version") == order.version)
      return tag;
  return {};
}

/// None: there is none, or one from which no duration can be told.
std::optional<Time> time_in(const Value& dict, std::string_view key) {
  const Result<Time> time = read_moment(dict.text_at(key));
  return time && *time > Time() ? std::optional(*time) : std::nullopt;
}

/// Whether one order is another one as it is by now, and not one that was given anew.
bool is_same(const ImageOrder& one, const ImageOrder& other) {
  return one.version == other.version && one.created == other.created;
}

/// A reference to the NodeImage, as Events have it.
Value reference_to(const Value& object) {
  return Value::dict({{"apiVersion", node_images.api_version()},
                      {"kind", node_images.kind},
                      {"name", object.at("metadata").text_at("name")},
                      {"uid", uid_of_object(object)}});
}

}  // namespace

void NodePulls::drop(Task& task) {
  if (task.command != 0) {
    ends_.push_back(task.command);
    commands_.erase(task.command);
  }
  task.command = 0;
}

void NodePulls::forget_all() {
  for (auto& [key, task] : tasks_)
    drop(task);
  tasks_.clear();
  object_ = passed_over_ = Value();
  answered_.clear();
  wanted_at_write_ = seen_after_write_ = Value();
  may_differ_ = true;
}

void NodePulls::object_gone() { forget_all(); }

void NodePulls::take_object(const Value& object, const Moment& now) {
  if (uid_of_object(object) != uid_of_object(object_))
    forget_all();
  if (kubernetes::is_older(version_of_object(object), answered_) &&
      object.at("spec") == object_.at("spec")) {
    passed_over_ = object;
    return;
  }
  answered_.clear();
  passed_over_ = Value();
  learn(object, now);
}

void NodePulls::listed(const Moment& now) {
  answered_.clear();
  if (const Value object = std::exchange(passed_over_, Value()); !object.is_null())
    learn(object, now);
}

void NodePulls::learn(const Value& object, const Moment& now) {
  may_differ_ |=
      object.at("spec") != object_.at("spec") || object.at("status") != seen_after_write_;
  object_ = object;
  if (std::exchange(was_outrun_, false))
    writes_from_ = now.instant;
  std::map<ImageAndTag, ImageOrder> orders;
  if (object.at("metadata").text_at("deletionTimestamp").empty())
    orders = read_orders(object);
  for (auto known = tasks_.begin(); known != tasks_.end();) {
    const auto wanted = orders.find(known->first);
    const bool stays = wanted != orders.end() && is_same(wanted->second, known->second.order);
    if (!stays) {
      drop(known->second);
      may_differ_ = true;
    }
    known = stays ? std::next(known) : tasks_.erase(known);
  }
  for (auto& [key, order] : orders) {
    if (const auto known = tasks_.find(key); known != tasks_.end()) {
      go_on(known->second, std::move(order));
      continue;
    }
    Task& task = tasks_.emplace(key, adopted(order, now)).first->second;
    if (const Status valid = check_image_reference(order.reference());
        !valid && task.stage != Stage::done)
      finish(task, false, valid.error().message, now);
  }
}

void NodePulls::go_on(Task& task, ImageOrder order) const {
  const Value told = told_of(object_, order);
  const bool is_overruled = task.stage != Stage::done && time_in(told, "completionTime");
  task.overruled = is_overruled ? told : Value();
  task.order = std::move(order);
}

NodePulls::Task NodePulls::adopted(const ImageOrder& order, const Moment& now) const {
  Task task{.order = order};
  task.stage = order.is_always_pulled ? Stage::to_pull : Stage::to_look;
  const Value told = told_of(object_, order);
  task.started = time_in(told, "startTime");
  if (time_in(told, "completionTime")) {
    task.stage = Stage::done;
    task.has_succeeded = told.text_at("phase") == "Succeeded";
    task.told = told;
    return task;
  }
  if (task.started && order.active_deadline)
    task.deadline =
        now.instant + std::min<Duration>(*task.started - now.wall, 0s) + *order.active_deadline;
  return task;
}

void NodePulls::ended(uint64_t id, const PullOutcome& outcome, const Moment& now) {
  const auto command = commands_.find(id);
  if (command == commands_.end())
    return;
  Task& task = tasks_.at(command->second.key);
  commands_.erase(command);
  task.command = 0;
  may_differ_ = true;
  if (outcome.kind == PullOutcome::Kind::away)
    return take_away(task, outcome, now);
  if (std::exchange(task.away_since, {})) {
    task.message.clear();
    task.pause = Duration(0);
  }
  switch (outcome.kind) {
    case PullOutcome::Kind::there:
      if (!outcome.image_id.empty())
        task.image_id = cat(task.order.image, "@", outcome.image_id);
      return finish(task, true, {}, now);
    case PullOutcome::Kind::absent:
      task.stage = Stage::to_pull;
      return;
    case PullOutcome::Kind::refused:
      return finish(task, false, outcome.message, now);
    case PullOutcome::Kind::failed:
    case PullOutcome::Kind::away:
      return fail_attempt(task, outcome, now);
  }
}

void NodePulls::take_away(Task& task, const PullOutcome& outcome, const Moment& now) {
  if (!task.away_since)
    task.away_since = now.instant;
  if (now.instant - *task.away_since >= task.order.timeout) {
    task.away_since.reset();
    return fail_attempt(task, outcome, now);
  }
  task.message = outcome.message;
  rest(task, now);
}

void NodePulls::fail_attempt(Task& task, const PullOutcome& outcome, const Moment& now) {
  if (!task.started)
    task.started = now.wall;
  ++task.failures;
  if (task.failures > task.order.backoff_limit)
    return finish(task, false, outcome.message, now);
  task.message =
      cat("attempt ", task.failures, " of ", task.order.backoff_limit + 1, ": ", outcome.message);
  rest(task, now);
}

void NodePulls::rest(Task& task, const Moment& now) const {
  task.pause = std::clamp(task.pause * 2, settings_.shortest_pause, settings_.longest_pause);
  task.rests_until = now.instant + task.pause;
  task.stage = Stage::resting;
}

void NodePulls::finish(Task& task, bool has_succeeded, std::string text, const Moment& now) {
  drop(task);
  may_differ_ = true;
  task.stage = Stage::done;
  task.overruled = Value();
  task.has_succeeded = has_succeeded;
  task.completed = now.wall;
  const bool was_there = !task.started;
  task.started = task.started.value_or(now.wall);
  task.message = clipped(text, longest_status_message);
  ++(has_succeeded ? succeeded_ : failed_);
  PullNotice notice{.is_warning = !has_succeeded,
                    .reason = has_succeeded ? "PullImageSucceed" : "PullImageFailed",
                    .about = reference_to(object_)};
  const std::string name = cat("image `", task.order.reference(), "`");
  if (has_succeeded) {
    const Duration taken = std::chrono::floor<std::chrono::milliseconds>(
        std::max<Duration>(now.wall - *task.started, 0s));
    notice.text = was_there ? cat(name, " was there")
                            : cat(name, " is there, ", to_string(taken), " after its pull began");
    notices_.push_back(std::move(notice));
    return;
  }
  notice.text = cat(name, " cannot be pulled: ", task.message);
  for (const Value& owner : task.order.owners) {
    PullNotice to_owner = notice;
    to_owner.about = owner;
    notices_.push_back(std::move(to_owner));
  }
  notices_.push_back(std::move(notice));
}

void NodePulls::end_overdue(const Moment& now) {
  for (auto& [key, task] : tasks_)
    if (task.stage != Stage::done && task.deadline && now.instant >= *task.deadline)
      finish(task, false,
             cat("it was not pulled within its deadline of ",
                 to_string(task.order.active_deadline.value_or(Duration(0))),
                 task.message.empty() ? "" : "; ", task.message),
             now);
}

size_t NodePulls::under_way(PullCommand::Kind kind) const {
  return static_cast<size_t>(
      std::ranges::count_if(commands_, [&](const auto& each) { return each.second.kind == kind; }));
}

void NodePulls::begin_due(NodeStep& step, const Moment& now) {
  std::vector<Tasks::value_type*> due;
  for (auto& each : tasks_) {
    Task& task = each.second;
    if (task.stage == Stage::resting && task.rests_until <= now.instant)
      task.stage = task.order.is_always_pulled ? Stage::to_pull : Stage::to_look;
    if (task.stage == Stage::to_look || task.stage == Stage::to_pull)
      due.push_back(&each);
  }
  std::ranges::stable_sort(due, {}, [](const Tasks::value_type* each) {
    return std::pair(each->second.failures, each->second.order.created);
  });
  size_t looks = under_way(PullCommand::Kind::look), pulls = under_way(PullCommand::Kind::pull);
  for (Tasks::value_type* const each : due) {
    const bool is_look = each->second.stage == Stage::to_look;
    const size_t most = is_look ? settings_.most_looks : settings_.most_pulls;
    size_t& count = is_look ? looks : pulls;
    if (most != 0 && count >= most)
      continue;
    ++count;
    begin(each->second, each->first, step, now);
  }
}

void NodePulls::begin(Task& task, const ImageAndTag& key, NodeStep& step, const Moment& now) {
  const bool is_look = task.stage == Stage::to_look;
  PullCommand command{.id = ++last_command_,
                      .kind = is_look ? PullCommand::Kind::look : PullCommand::Kind::pull,
                      .order = task.order};
  task.stage = is_look ? Stage::looking : Stage::pulling;
  task.command = command.id;
  if (!is_look) {
    may_differ_ = true;
    if (!task.started)
      task.started = now.wall;
    if (!task.deadline && task.order.active_deadline)
      task.deadline = now.instant + *task.order.active_deadline;
    command.limit = task.order.timeout;
    if (task.deadline)
      command.limit = std::min(command.limit, *task.deadline - now.instant);
  }
  commands_.emplace(command.id, Command{key, command.kind});
  step.begin.push_back(std::move(command));
}

NodeStep NodePulls::step(const Moment& now) {
  NodeStep step;
  end_overdue(now);
  begin_due(step, now);
  offer_status(step, now);
  step.wake = next_wake();
  step.end = std::exchange(ends_, {});
  step.notices = std::exchange(notices_, {});
  return step;
}

Value NodePulls::status() const {
  std::map<std::string, std::vector<Value>> images;
  int64_t succeeded = 0, failed = 0, pulling = 0, waiting = 0;
  for (const auto& [key, task] : tasks_) {
    if (!task.overruled.is_null()) {
      ++(task.overruled.text_at("phase") == "Succeeded" ? succeeded : failed);
      images[key.first].push_back(task.overruled);
      continue;
    }
    const bool is_done = task.stage == Stage::done;
    int64_t& count = !is_done             ? (task.started ? pulling : waiting)
                     : task.has_succeeded ? succeeded
                                          : failed;
    ++count;
    if (!task.told.is_null()) {
      images[key.first].push_back(task.told);
      continue;
    }
    std::vector<Entry> entry{{"tag", task.order.tag},
                             {"version", task.order.version},
                             {"phase", !is_done             ? (task.started ? "Pulling" : "Waiting")
                                       : task.has_succeeded ? "Succeeded"
                                                            : "Failed"}};
    if (is_done && task.has_succeeded)
      entry.push_back({"progress", 100});
    if (task.started)
      entry.push_back({"startTime", write_moment(*task.started)});
    if (task.completed)
      entry.push_back({"completionTime", write_moment(*task.completed)});
    if (!task.image_id.empty())
      entry.push_back({"imageID", task.image_id});
    if (!task.message.empty())
      entry.push_back({"message", clipped(task.message, longest_status_message)});
    images[key.first].push_back(Value::dict(std::move(entry)));
  }
  std::vector<Entry> statuses;
  for (auto& [image, tags] : images)
    statuses.push_back({image, Value::dict({{"tags", Value::list(std::move(tags))}})});
  return Value::dict({{"desired", static_cast<int64_t>(tasks_.size())},
                      {"succeeded", succeeded},
                      {"failed", failed},
                      {"pulling", pulling},
                      {"waiting", waiting},
                      {"imageStatuses", Value::dict(std::move(statuses))}});
}

void NodePulls::offer_status(NodeStep& step, const Moment& now) {
  if (object_.is_null() || is_writing_ || !may_differ_ || now.instant < writes_from_)
    return;
  may_differ_ = false;
  const Value wanted = status();
  const Value& seen = object_.at("status");
  // A server may leave out fields that it does not know. What was written is not written again.
  if (wanted == wanted_at_write_ && seen == seen_after_write_)
    return;
  const Value change = status_change(seen, wanted);
  if (change.is_null())
    return;
  step.status =
      Value::dict({{"metadata", Value::dict({{"resourceVersion", version_of_object(object_)}})},
                   {"status", change}});
  wanted_at_write_ = wanted;
  version_at_write_ = version_of_object(object_);
  is_writing_ = true;
}

std::optional<Instant> NodePulls::next_wake() const {
  std::optional<Instant> wake;
  const auto note = [&](Instant instant) { wake = std::min(wake.value_or(instant), instant); };
  if (may_differ_ && !is_writing_ && !object_.is_null())
    note(writes_from_);
  for (const auto& [key, task] : tasks_) {
    if (task.stage == Stage::resting)
      note(task.rests_until);
    if (task.stage != Stage::done && task.deadline)
      note(*task.deadline);
  }
  return wake;
}

void NodePulls::status_written(const kubernetes::ApiResult<Value>& answer, const Moment& now) {
  is_writing_ = false;
  if (!answer) {
    wanted_at_write_ = Value();
    may_differ_ = true;
    // Somebody else's write was faster; their object is known by now, or on its way.
    const bool is_outrun = answer.error().reason == kubernetes::ApiReason::conflict;
    const bool is_newer_known = version_of_object(object_) != version_at_write_;
    was_outrun_ = is_outrun && !is_newer_known;
    refused_pause_ = std::clamp(refused_pause_ * 2, shortest_refusal, longest_refusal);
    writes_from_ =
        now.instant + (is_outrun && is_newer_known ? settings_.write_pause : refused_pause_);
    return;
  }
  refused_pause_ = Duration(0);
  writes_from_ = now.instant + settings_.write_pause;
  if (uid_of_object(*answer) != uid_of_object(object_))
    return;  // the object went meanwhile
  seen_after_write_ = answer->at("status");
  if (kubernetes::is_older(version_of_object(*answer), version_of_object(object_)))
    return;  // a watch was faster
  answered_ = version_of_object(*answer);
  passed_over_ = Value();
  learn(*answer, now);
}

Value status_change(const Value& seen, const Value& wanted) {
  std::vector<Entry> changes;
  for (const Entry& entry : wanted.entries())
    if (entry.key != "imageStatuses" && seen.at(entry.key) != entry.value)
      changes.push_back(entry);
  const Value &images = wanted.at("imageStatuses"), &seen_images = seen.at("imageStatuses");
  std::vector<Entry> image_changes;
  for (const Entry& entry : images.entries())
    if (seen_images.at(entry.key) != entry.value)
      image_changes.push_back(entry);
  if (seen_images.is_dict())
    for (const Entry& entry : seen_images.entries())
      if (images.find(entry.key) == nullptr)
        image_changes.push_back({entry.key, Value()});
  if (!image_changes.empty())
    changes.push_back({"imageStatuses", Value::dict(std::move(image_changes))});
  return changes.empty() ? Value() : Value::dict(std::move(changes));
}

}  // namespace fettle::node
