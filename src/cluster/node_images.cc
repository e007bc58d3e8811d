#include "cluster/node_images.h"

#include <algorithm>
#include <limits>

#include "base/rfc3339.h"
#include "base/text.h"
#include "cluster/names.h"
#include "cluster/secret_copies.h"
#include "cluster/types.h"
#include "kinds/image_reference.h"
#include "value/with.h"
#include "workloads/decide/pulls.h"

namespace fettle::cluster {
namespace {

using kubernetes::ObjectName;
using workloads::PullSeen;

constexpr Duration node_pause = 30s;  ///< after a node has become ready
constexpr Duration longest_silence = 10min;
constexpr Duration longest_attempt_pause = 30s;
constexpr int64_t default_timeout = 600, default_backoff = 3;
constexpr int64_t spare_seconds = 300;  ///< that an order outlives what it is for
constexpr int64_t day_seconds = 24 * 3600;
constexpr int64_t longest_seconds = 31 * day_seconds;
constexpr int64_t shortest_deadline = 1'800;  ///< of a job that never completes

const Value& dict_of_images(const Value& node_image) {
  static const Value none = Value::dict({});
  const Value& images = node_image.at("spec").at("images");
  return images.is_dict() ? images : none;
}

/// The row of a tag. Null: there is none.
const Value& row_of_tag(const Value& rows, std::string_view tag) {
  static const Value none;
  for (const Value& row : items_of(rows))
    if (row.text_at("tag") == tag)
      return row;
  return none;
}

const Value& status_rows(const Value& node_image, std::string_view name) {
  return node_image.at("status").at("imageStatuses").at(name).at("tags");
}

/// What the node tells of an order. Null: nothing yet.
const Value& status_of_order(const Value& node_image, std::string_view name, const Value& order) {
  static const Value none;
  const Value& row = row_of_tag(status_rows(node_image, name), order.text_at("tag"));
  return row.integer_at("version", -1) == order.integer_at("version") ? row : none;
}

bool is_of_job(const Value& reference) {
  return reference.text_at("kind") == types::pull_jobs.kind &&
         reference.text_at("apiVersion").starts_with(cat(types::pull_jobs.group, "/"));
}

ObjectName job_in(const Value& reference) {
  return {std::string(reference.text_at("namespace")), std::string(reference.text_at("name"))};
}

bool has_reference_to(const Value& order, std::string_view uid) {
  return std::ranges::any_of(items_of(order.at("ownerReferences")),
                             [&](const Value& each) { return each.text_at("uid") == uid; });
}

Name policy_word(const Image& image) {
  return image.pull.view() == "always" ? "Always" : "IfNotPresent";
}

/// Different for each image on each node, so that not all of them are pulled anew at once.
int64_t spread(const Image& image, uint64_t seconds) {
  const Name what = workloads::pull_key(image.node.get(), image.reference.get());
  return static_cast<int64_t>(what.digest().low % seconds);
}

/// Numbers of others, so that a time may be added.
Duration bounded_seconds(int64_t seconds) {
  return std::chrono::seconds(std::clamp<int64_t>(seconds, 0, longest_seconds));
}

/// How long all attempts may take, with the pauses between them.
Duration longest_pull(const Value& policy) {
  const Duration attempt =
      bounded_seconds(policy.integer_at("timeoutSeconds", default_timeout)) + longest_attempt_pause;
  const int64_t attempts =
      std::clamp<int64_t>(policy.integer_at("backoffLimit", default_backoff), 0, 1'000) + 1;
  return std::min(attempt * attempts, bounded_seconds(longest_seconds));
}

/// A version is only ever compared for being the same, so after the last one comes the first.
int64_t next_version(int64_t last) {
  return last < std::numeric_limits<int64_t>::max() ? last + 1 : 0;
}

/// How long an order stays after it has ended (OpenKruise's rules).
int64_t seconds_to_live(const WantedOrder& wanted, const Value& policy) {
  if (policy.text_at("type") == "Never")
    return day_seconds - spare_seconds + spread(wanted.image, 2 * spare_seconds);
  const int64_t timeout = wanted.image.timeout.get();
  const int64_t attempts = std::max<int64_t>(1, wanted.image.attempts.get() - 1);
  const int64_t pulls = std::min(longest_seconds, timeout * std::min(attempts, longest_seconds));
  const int64_t seconds = policy.integer_at("ttlSecondsAfterFinished",
                                            policy.integer_at("activeDeadlineSeconds", pulls));
  return std::min(longest_seconds, seconds) + spare_seconds + spread(wanted.image, spare_seconds);
}

Value pull_policy(const WantedOrder& wanted) {
  const Value& policy = wanted.job.at("spec").at("completionPolicy");
  std::vector<Entry> entries{{"timeoutSeconds", wanted.image.timeout.get()},
                             {"backoffLimit", wanted.image.attempts.get() - 1},
                             {"ttlSecondsAfterFinished", seconds_to_live(wanted, policy)}};
  const int64_t deadline = policy.text_at("type") == "Never"
                               ? std::max(shortest_deadline, wanted.image.timeout.get())
                               : policy.integer_at("activeDeadlineSeconds");
  if (deadline > 0)
    entries.push_back({"activeDeadlineSeconds", deadline});
  return Value::dict(std::move(entries));
}

Value reference_to(const Value& job) {
  const ObjectMeta meta = meta_of(job);
  return Value::dict({{"apiVersion", types::pull_jobs.api_version()},
                      {"kind", types::pull_jobs.kind},
                      {"namespace", meta.space},
                      {"name", meta.name},
                      {"uid", meta.uid}});
}

/// `before`: the tag as it was ordered last; null: it is new. `last`: the version that the node
/// tells of; -1: of none.
Value order_for(const WantedOrder& wanted, std::string_view tag, const Value& before, int64_t last,
                Time now) {
  std::vector<Value> owners;
  for (const Value& each : items_of(before.at("ownerReferences")))
    if (each.text_at("uid") != meta_of(wanted.job).uid.view())
      owners.push_back(each);
  owners.push_back(reference_to(wanted.job));
  return Value::dict({{"tag", tag},
                      {"version", next_version(std::max(before.integer_at("version", -1), last))},
                      {"createdAt", write_moment(now)},
                      {"imagePullPolicy", policy_word(wanted.image)},
                      {"pullPolicy", pull_policy(wanted)},
                      {"ownerReferences", Value::list(std::move(owners))}});
}

/// The Secrets that an image is pulled with, each tried in turn. Those that the daemon cannot read go.
Value secrets_with(const Value& before, const WantedOrder& wanted) {
  std::vector<Value> secrets;
  for (const Value& each : items_of(before)) {
    const bool is_copied = each.text_at("namespace") == copy_space;
    if (wanted.copies ? is_copied : !is_copied || !is_own_copy(each.text_at("name")))
      secrets.push_back(each);
  }
  for (const ObjectName& name : wanted.copies ? *wanted.copies : secrets_of(wanted.job)) {
    const bool is_known = std::ranges::any_of(secrets, [&](const Value& each) {
      return each.text_at("name") == name.name && each.text_at("namespace") == name.space;
    });
    if (!is_known)
      secrets.push_back(wanted.copies
                            ? reference_to_copy(name)
                            : Value::dict({{"namespace", name.space}, {"name", name.name}}));
  }
  return secrets.empty() ? Value() : Value::list(std::move(secrets));
}

Value image_with(const Value& before, const Value& order, const WantedOrder& wanted) {
  std::vector<Value> tags;
  for (const Value& each : items_of(before.at("tags")))
    if (each.text_at("tag") != order.text_at("tag"))
      tags.push_back(each);
  tags.push_back(order);
  std::ranges::sort(tags, {}, [](const Value& each) { return each.text_at("tag"); });
  std::vector<Entry> entries{{"tags", Value::list(std::move(tags))}};
  // Null takes away those that no daemon can read.
  if (Value secrets = secrets_with(before.at("pullSecrets"), wanted);
      !secrets.is_null() || before.find("pullSecrets") != nullptr)
    entries.push_back({"pullSecrets", std::move(secrets)});
  const Value& sandbox = wanted.job.at("spec").at("sandboxConfig");
  const Value& kept = sandbox.is_dict() ? sandbox : before.at("sandboxConfig");
  if (kept.is_dict())
    entries.push_back({"sandboxConfig", kept});
  return Value::dict(std::move(entries));
}

/// The precondition of a write.
std::vector<Entry> version_of(const Value& node_image) {
  const ObjectMeta meta = meta_of(node_image);
  return {{"uid", meta.uid}, {"resourceVersion", meta.version}};
}

PullSeen seen_in(const Value& told) {
  PullSeen seen;
  const std::string_view phase = told.text_at("phase");
  if (phase == "Succeeded")
    seen.phase = PullSeen::Phase::succeeded;
  else if (phase == "Failed")
    seen.phase = PullSeen::Phase::failed;
  if (phase == "Failed")
    seen.error = told.text_at("message", "the node does not say why");
  seen.finished = moment_at(told, "completionTime");
  return seen;
}

/// As an act of ours would have left it.
RecordPointer record_of_order(const Name& node, const Name& reference, const Value& order,
                              const Value& by, const Name& owner, const Name& environment) {
  const Value& policy = order.at("pullPolicy");
  Image image;
  image.reference = reference;
  image.pull = order.text_at("imagePullPolicy") == "Always" ? "always" : "missing";
  image.node = node;
  image.attempts = policy.integer_at("backoffLimit", default_backoff) + 1;
  image.timeout = policy.integer_at("timeoutSeconds", default_timeout);
  image.job = cat(by.text_at("namespace"), "/", by.text_at("name"));
  Resource resource;
  resource.key = {environment, "image", workloads::pull_key(node, reference)};
  resource.driver = driver_name;
  resource.pool = workloads::order_pool;
  resource.leftover = Leftover::forget;
  resource.attributes = write(image);
  auto record = std::make_shared<Record>();
  record->incarnation = 1;
  record->changes = 1;
  record->wanted_by[owner] = resource.attributes.digest();
  record->applied = std::move(resource);
  return record;
}

}  // namespace

NameAndTag name_and_tag(std::string_view reference) {
  auto [name, tag] = split_reference(full_reference(reference));
  for (const std::string_view usual : {"docker.io/library/", "docker.io/"})
    if (name.starts_with(usual)) {
      name = name.substr(usual.size());
      break;
    }
  return {std::move(name), std::move(tag)};
}

bool is_virtual(const Value& node) {
  return node.at("metadata").at("labels").text_at("type") == "virtual-kubelet";
}

Value node_image_for(const Value& node) {
  std::vector<Entry> metadata{{"name", node.at("metadata").at("name")}};
  if (const Value& labels = node.at("metadata").at("labels"); labels.is_dict())
    metadata.push_back({"labels", labels});
  return Value::dict({{"apiVersion", types::node_images.api_version()},
                      {"kind", types::node_images.kind},
                      {"metadata", Value::dict(std::move(metadata))},
                      {"spec", Value::dict({})}});
}

Digest node_digest(const Value& node) {
  if (node.is_null())
    return {};
  const ObjectMeta meta = meta_of(node);
  const Value& ready = condition_of(node.at("status").at("conditions"), "Ready");
  return Value::list({meta.uid, meta.is_leaving, node.at("metadata").at("labels"),
                      ready.at("status"), ready.at("lastTransitionTime")})
      .digest();
}

std::set<ObjectName> jobs_in(const Value& node_image) {
  std::set<ObjectName> jobs;
  for (const Entry& image : dict_of_images(node_image).entries())
    for (const Value& order : items_of(image.value.at("tags")))
      for (const Value& by : items_of(order.at("ownerReferences")))
        if (is_of_job(by))
          jobs.insert(job_in(by));
  return jobs;
}

bool has_order(const Value& node_image, const Image& image, std::string_view job_uid) {
  const NameAndTag what = name_and_tag(image.reference.view());
  const Value& order = row_of_tag(dict_of_images(node_image).at(what.name).at("tags"), what.tag);
  return has_reference_to(order, job_uid) &&
         order.text_at("imagePullPolicy", "IfNotPresent") == policy_word(image).view();
}

bool is_ordered(const Value& node_image, std::string_view reference) {
  const NameAndTag what = name_and_tag(reference);
  return !row_of_tag(dict_of_images(node_image).at(what.name).at("tags"), what.tag).is_null();
}

Value orders_change(const Value& node_image, std::span<const WantedOrder> orders, Time now) {
  std::map<std::string, Value> images;
  for (const WantedOrder& wanted : orders) {
    const NameAndTag what = name_and_tag(wanted.image.reference.view());
    Value& image =
        images.try_emplace(what.name, dict_of_images(node_image).at(what.name)).first->second;
    const Value& before = row_of_tag(image.at("tags"), what.tag);
    const Value& told = row_of_tag(status_rows(node_image, what.name), what.tag);
    const Value order = order_for(wanted, what.tag, before, told.integer_at("version", -1), now);
    image = image_with(image, order, wanted);
  }
  std::vector<Entry> entries;
  for (auto& [name, image] : images)
    entries.push_back({name, std::move(image)});
  return Value::dict({{"metadata", Value::dict(version_of(node_image))},
                      {"spec", Value::dict({{"images", Value::dict(std::move(entries))}})}});
}

KnownOrders read_orders(const Value& node_image, const FindJob& find, const Name& environment) {
  KnownOrders known;
  const Name node = node_image.at("metadata").text_at("name");
  for (const Entry& image : dict_of_images(node_image).entries())
    for (const Value& order : items_of(image.value.at("tags"))) {
      const PullSeen seen = seen_in(status_of_order(node_image, image.key, order));
      for (const Value& by : items_of(order.at("ownerReferences"))) {
        const auto job = is_of_job(by) ? find(job_in(by), by.text_at("uid")) : std::nullopt;
        if (!job || name_and_tag(job->reference) !=
                        NameAndTag{image.key.str(), std::string(order.text_at("tag"))})
          continue;
        if (seen.phase == PullSeen::Phase::succeeded)
          known.present.insert(job->reference);
        if (job->is_over)
          continue;
        RecordPointer record =
            record_of_order(node, job->reference, order, by, job->owner, environment);
        const Key key = record->applied->key;
        known.orders[key] = {job->owner, std::move(record), seen};
      }
    }
  return known;
}

namespace {

/// Decides about one NodeImage.
class NodeImageKeeper {
 public:
  NodeImageKeeper(const Value& node, const Value& node_image, const FindJob& find, Time now)
      : node_(node), node_image_(node_image), find_(find), now_(now) {}

  Upkeep decide() {
    if (node_image_.is_null())
      return make();
    if (meta_of(node_image_).is_leaving)
      return {};
    if (node_.is_null())
      return {.write = Upkeep::Write::remove};
    if (Value change = change_of_spec(); !change.is_null())
      return {.write = Upkeep::Write::change, .body = std::move(change)};
    if (Value change = change_of_status(); !change.is_null())
      return {.write = Upkeep::Write::change_status, .body = std::move(change)};
    return {.next = next_};
  }

 private:
  Upkeep make() {
    const Value& ready = condition_of(node_.at("status").at("conditions"), "Ready");
    if (node_.is_null() || is_virtual(node_) || meta_of(node_).is_leaving ||
        ready.text_at("status") != "True")
      return {};
    if (is_past(moment_at(ready, "lastTransitionTime") + node_pause))
      return {.write = Upkeep::Write::create, .body = node_image_for(node_)};
    return {.next = next_};
  }

  /// If it is not, it is to be looked at then.
  bool is_past(Time moment) {
    if (moment <= now_)
      return true;
    if (!next_ || moment < *next_)
      next_ = moment;
    return false;
  }

  Value change_of_spec() {
    std::vector<Entry> labels =
        changed_entries(node_image_.at("metadata").at("labels"), node_.at("metadata").at("labels"));
    std::vector<Entry> images;
    for (const Entry& image : dict_of_images(node_image_).entries())
      if (std::optional<Value> changed = tidied(image))
        images.push_back({image.key, *std::move(changed)});
    if (labels.empty() && images.empty())
      return {};
    std::vector<Entry> metadata = version_of(node_image_);
    if (!labels.empty())
      metadata.push_back({"labels", Value::dict(std::move(labels))});
    std::vector<Entry> entries{{"metadata", Value::dict(std::move(metadata))}};
    if (!images.empty())
      entries.push_back({"spec", Value::dict({{"images", Value::dict(std::move(images))}})});
    return Value::dict(std::move(entries));
  }

  /// None: it is as it should be. Null: nobody wants the image any more.
  std::optional<Value> tidied(const Entry& image) {
    std::vector<Value> tags;
    bool is_changed = false;
    for (const Value& order : items_of(image.value.at("tags"))) {
      const Value kept = tidied_order(image.key, order);
      is_changed |= kept != order;
      if (!kept.is_null())
        tags.push_back(kept);
    }
    if (!is_changed)
      return std::nullopt;
    return tags.empty() ? Value() : with(image.value, "tags", Value::list(std::move(tags)));
  }

  /// Null: it goes.
  Value tidied_order(const Name& name, const Value& order) {
    std::vector<Value> kept;
    bool is_counted_on = false;
    const auto owners = items_of(order.at("ownerReferences"));
    for (const Value& by : owners) {
      if (!is_of_job(by)) {
        kept.push_back(by);
        continue;
      }
      const auto job = find_(job_in(by), by.text_at("uid"));
      if (!job ||
          name_and_tag(job->reference) != NameAndTag{name.str(), std::string(order.text_at("tag"))})
        continue;
      is_counted_on |= !job->is_over && !job->goes_on;
      kept.push_back(by);
    }
    if (kept.empty() && !owners.empty())
      return {};
    if (!is_counted_on && has_outlived(name, order))
      return {};
    return kept.size() == owners.size()
               ? order
               : with(order, "ownerReferences", Value::list(std::move(kept)));
  }

  bool has_outlived(const Name& name, const Value& order) {
    const Value* const seconds = order.at("pullPolicy").find("ttlSecondsAfterFinished");
    const Value& told = status_of_order(node_image_, name, order);
    const Time ended = moment_at(told, "completionTime");
    if (seconds == nullptr || !seconds->is_integer() || ended == Time())
      return false;
    const int64_t limit =
        std::clamp<int64_t>(seconds->integer().value_or(0), 0, 2 * longest_seconds);
    return is_past(ended + std::chrono::seconds(limit));
  }

  /// Orders that the node does not answer have failed.
  Value change_of_status() {
    std::vector<Entry> statuses;
    for (const Entry& image : dict_of_images(node_image_).entries())
      if (Value tags = answered_for(image); !tags.is_null())
        statuses.push_back({image.key, Value::dict({{"tags", std::move(tags)}})});
    if (statuses.empty())
      return {};
    std::vector<Entry> status = counts_with(statuses);
    status.push_back({"imageStatuses", Value::dict(std::move(statuses))});
    return Value::dict({{"metadata", Value::dict(version_of(node_image_))},
                        {"status", Value::dict(std::move(status))}});
  }

  /// Null: nothing is to be said for the node.
  Value answered_for(const Entry& image) {
    std::map<Name, Value> failed;
    for (const Value& order : items_of(image.value.at("tags")))
      if (const std::string why = silence_of(image.key, order); !why.empty())
        failed[Name(order.text_at("tag"))] = failed_row(order, why);
    if (failed.empty())
      return {};
    std::vector<Value> rows;
    for (const Value& row : items_of(status_rows(node_image_, image.key)))
      if (!failed.contains(Name(row.text_at("tag"))))
        rows.push_back(row);
    for (auto& [tag, row] : failed)
      rows.push_back(std::move(row));
    return Value::list(std::move(rows));
  }

  /// Empty: it answers, or may still do so.
  std::string silence_of(const Name& name, const Value& order) {
    const Time created = moment_at(order, "createdAt");
    const Value& told = status_of_order(node_image_, name, order);
    if (created == Time() || !told.text_at("completionTime").empty())
      return {};
    if (told.is_null())
      return is_past(created + longest_silence) ? "the node does not answer" : "";
    const int64_t deadline = order.at("pullPolicy").integer_at("activeDeadlineSeconds");
    const Time started = moment_at(told, "startTime");
    // One that waits for others of its node may do so for as long as they take.
    if (deadline <= 0 && started == Time())
      return {};
    const Time end = deadline > 0 ? created + bounded_seconds(deadline)
                                  : started + longest_pull(order.at("pullPolicy"));
    return is_past(end + longest_silence) ? "the node has not ended it in time" : "";
  }

  Value failed_row(const Value& order, const std::string& why) const {
    return Value::dict({{"tag", order.at("tag")},
                        {"version", order.integer_at("version")},
                        {"phase", "Failed"},
                        {"completionTime", write_moment(now_)},
                        {"message", why}});
  }

  std::vector<Entry> counts_with(const std::vector<Entry>& changed) const {
    const Value now = Value::dict(std::vector<Entry>(changed));
    int64_t desired = 0, pulling = 0, succeeded = 0, failed = 0;
    for (const Entry& image : dict_of_images(node_image_).entries())
      for (const Value& order : items_of(image.value.at("tags"))) {
        const Value& rows = now.find(image.key) != nullptr ? now.at(image.key).at("tags")
                                                           : status_rows(node_image_, image.key);
        const std::string_view phase = row_of_tag(rows, order.text_at("tag")).text_at("phase");
        ++desired;
        pulling += phase == "Pulling" ? 1 : 0;
        succeeded += phase == "Succeeded" ? 1 : 0;
        failed += phase == "Failed" ? 1 : 0;
      }
    return {
        {"desired", desired}, {"pulling", pulling}, {"succeeded", succeeded}, {"failed", failed}};
  }

  const Value& node_;
  const Value& node_image_;
  const FindJob& find_;
  const Time now_;
  std::optional<Time> next_;
};

}  // namespace

Upkeep upkeep_of(const Value& node, const Value& node_image, const FindJob& find, Time now) {
  return NodeImageKeeper(node, node_image, find, now).decide();
}

}  // namespace fettle::cluster
