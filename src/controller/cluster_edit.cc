#include "controller/cluster_edit.h"

namespace fettle {

Status ClusterEdit::write(std::span<const Change> changes) {
  // A record does not tell an act that was left for later from one that failed; the event does.
  std::set<Key> skipped;
  for (const Change& change : changes)
    if (change.type == Change::event && change.logged.type == EventType::skipped)
      skipped.insert(change.logged.key);
  for (const Change& change : changes)
    if (change.type == Change::record)
      note(change.key, change.written, skipped.contains(change.key));
    else if (change.type == Change::forget)
      note(change.key, nullptr, false);
  return {};
}

void ClusterEdit::note(const Key& key, const RecordPointer& record, bool is_skipped) {
  const Attempt* const attempt = record != nullptr && record->attempt ? &*record->attempt : nullptr;
  failures_.erase(key);
  if (key.kind == "revision" || key.kind == "pull_job") {
    if (record == nullptr)
      forgotten_.insert(key);
    else
      forgotten_.erase(key);
  }
  if (attempt != nullptr && (!attempt->failed || attempt->course)) {
    under_way_.insert(key);
    return;
  }
  under_way_.erase(key);
  ended_.insert(key);
  if (attempt != nullptr && !is_skipped)
    failures_[key] = record;
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
