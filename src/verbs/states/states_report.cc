/// When states ran, several results of one state as one, and the summary of a report.

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/text.h"
#include "value/changes.h"
#include "verbs/states/state_results.h"

namespace fettle {

void StateTimes::event(const Event& event) {
  Times& times = times_[event.key];
  if (event.type == EventType::started && !times.began)
    times.began = event.time;
  if (event.type == EventType::done || event.type == EventType::failed ||
      event.type == EventType::blocked || event.type == EventType::skipped)
    times.ended = event.time;
  if (const Value& lines = event.detail.at("printed");
      event.type == EventType::removed && lines.is_list())
    said_[event.key] = lines.items().size() == 1 ? lines.items()[0] : lines;
  if (other_ != nullptr)
    other_->event(event);
}

void StateTimes::progress(const Key& key, const Progress& progress) {
  if (other_ != nullptr)
    other_->progress(key, progress);
}

void StateTimes::moved(const Run& run) {
  if (other_ != nullptr)
    other_->moved(run);
}

const StateTimes::Times* StateTimes::find(const Key& key) const {
  const auto found = times_.find(key);
  return found == times_.end() ? nullptr : &found->second;
}

Value StateTimes::said(const Key& key) const {
  const auto found = said_.find(key);
  return found == said_.end() ? Value() : found->second;
}

Value merged(const Value& first, const Value& last, const Value& computed) {
  Value made = last;
  for (const char* key : {"start_time", "old_state", "__run_num"})
    made = with(made, key, first.at(key));
  std::vector<Value> comments;
  for (const Value* entry : {&first, &last}) {
    const Value& comment = entry->at("comment");
    const auto add = [&](const Value& line) {
      const bool says_nothing = line.is_null() || (line.is_text() && line.text().empty());
      if (!says_nothing && std::ranges::find(comments, line) == comments.end())
        comments.push_back(line);
    };
    if (comment.is_list())
      std::ranges::for_each(comment.items(), add);
    else
      add(comment);
  }
  if (!comments.empty())
    made = with(made, "comment", Value::list(std::move(comments)));
  const Value& before = first.at("old_state");
  const Value& after = last.at("new_state");
  if (before.is_dict() && after.is_dict())
    made = with(made, "changes", changes_between(before, after, computed));
  else if (is_empty_dict(last.at("changes")))  // what was made or removed is still reported
    made = with(made, "changes", first.at("changes"));
  return made;
}

const StateResult* StatesReport::find(std::string_view tag) const {
  const auto found =
      std::ranges::find_if(results, [&](const StateResult& one) { return one.tag == tag; });
  return found == results.end() ? nullptr : &*found;
}

Value StatesReport::document() const {
  std::vector<Entry> entries;
  for (const StateResult& result : results)
    entries.push_back({result.tag, result.entry});
  return Value::dict(std::move(entries));
}

std::string digest_of(const StatesReport& tested) {
  std::map<std::string_view, Digest> digests;  // in the order of the source
  for (const StateResult& one : tested.results)
    digests[one.tag.view()] =
        Value::list({one.tag, one.entry.at("result"), one.is_unmet, one.entry.at("changes")})
            .digest();
  std::string text;
  for (const auto& [tag, digest] : digests)
    text.append(reinterpret_cast<const char*>(&digest), sizeof digest);
  return sha256_hex(text);
}

Value plan_file_of(const StatesReport& tested, const std::string& environment) {
  std::vector<Value> steps;
  for (const StateResult& one : tested.results)
    if (one.entry.at("result") != Value(true) || !is_empty_dict(one.entry.at("changes")))
      steps.push_back(Value::dict(
          {{"verb", one.is_pruned                                            ? "remove"
                    : one.is_unmet || one.entry.at("result") == Value(false) ? "blocked"
                                                                             : "ensure"},
           {"key", one.tag}}));
  return plan_file_of({environment, digest_of(tested), {}, false, false}, std::move(steps));
}

int StatesReport::exit_code() const {
  if (!errors.empty())
    return 2;
  if (is_stopped)
    return 130;
  if (!fault.empty())
    return 1;
  const auto is_failed = [](const StateResult& one) {
    return !one.is_unmet && one.entry.at("result") == Value(false);
  };
  if (std::ranges::any_of(results, is_failed))
    return 1;
  const auto is_open = [](const StateResult& one) {
    return one.is_pending || one.entry.at("result").is_null();
  };
  return requires_re_run || std::ranges::any_of(results, is_open) ? 3 : 0;
}

}  // namespace fettle
