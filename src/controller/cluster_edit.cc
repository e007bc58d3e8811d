#include "controller/cluster_edit.h"

namespace fettle {

Status ClusterEdit::write(std::span<const Change> changes) {
  std::map<Key, End> ends;  // of acts whose record comes next
  for (const Change& change : changes) {
    if (change.type == Change::event) {
      const EventType type = change.logged.type;
      if (type == EventType::skipped || type == EventType::failed)
        ends[change.logged.key] = type == EventType::skipped ? End::skipped : End::failed;
    } else if (change.type == Change::record || change.type == Change::forget) {
      const auto end = ends.extract(change.key);
      note(change.key, change.type == Change::record ? change.written : nullptr,
           end.empty() ? End::none : end.mapped());
    }
  }
  return {};
}

void ClusterEdit::note(const Key& key, const RecordPointer& record, End end) {
  const Attempt* const attempt = record != nullptr && record->attempt ? &*record->attempt : nullptr;
  failures_.erase(key);
  if (key.kind == "revision" || key.kind == "pull_job") {
    if (record == nullptr)
      forgotten_.insert(key);
    else
      note_removal(key);
  }
  if (attempt == nullptr)
    failed_acts_.forget(key);
  else if (end != End::none)
    failed_acts_.fail(key, *record, end == End::skipped, instant_from_clock());
  if (attempt != nullptr && (!attempt->failed || attempt->course)) {
    under_way_.insert(key);
    return;
  }
  under_way_.erase(key);
  ended_.insert(key);
  if (attempt != nullptr && end != End::skipped)
    failures_[key] = record;
}

void ClusterEdit::forget(const Key& key) {
  failures_.erase(key);
  failed_acts_.forget(key);
}

void ClusterEdit::note_removal(const Key& revision) {
  forgotten_.erase(revision);
  refusals_.erase(revision);
}

bool ClusterEdit::may_remove(const Key& revision, Instant now) const {
  const auto found = refusals_.find(revision);
  return found == refusals_.end() || found->second.is_over(now);
}

std::optional<Instant> ClusterEdit::removal_due() const {
  std::optional<Instant> first;
  for (const auto& [key, refusal] : refusals_)
    if (!first || refusal.until() < *first)
      first = refusal.until();
  return first;
}

void ClusterEdit::begin_anew() {
  under_way_.clear();
  ended_.clear();
}

void ClusterEdit::end_run() {
  ended_.merge(under_way_);
  under_way_.clear();
}

RecordPointer ClusterEdit::failure(const Key& key) const {
  const auto found = failures_.find(key);
  return found == failures_.end() ? nullptr : found->second;
}

}  // namespace fettle
