#include "states/call_attributes.h"

#include "base/text.h"
#include "kinds/kinds.h"

namespace fettle::states {
namespace {

/// The keys of a call's attributes, each made once.
struct CallNames {
  Name arguments = "arguments", failure = "failure", function = "function", id = "id",
       name = "name", settings = "settings", state = "state";
};

const CallNames& call_names() {
  static const CallNames names;
  return names;
}

const Name replaced_name = "replaced";

}  // namespace

CallAttributes::CallAttributes(const CompiledStates& compiled, const std::vector<Key>& keys,
                               Holes& holes)
    : compiled_(compiled), keys_(keys), holes_(holes) {
  for (const Chunk& chunk : compiled.chunks)
    if (chunk.is_remover)
      removers_.emplace(compiled.targets[chunk.needs[0].begin], &chunk);
}

Value CallAttributes::of(size_t i) const {
  const Chunk& chunk = compiled_.chunks[i];
  std::vector<Entry> arguments;
  arguments.reserve(chunk.arguments.size());
  for (const auto& [name, value] : chunk.arguments)
    arguments.push_back({name, holes_.rebound(value, chunk)});
  const CallNames& names = call_names();
  return Value::dict(
      {{names.arguments, arguments.empty() ? nothing_ : Value::dict(std::move(arguments))},
       {names.failure, chunk.failure},
       {names.function, chunk.function},
       {names.id, chunk.id},
       {names.name, holes_.name_of(chunk)},
       {names.settings, settings_of(i)},
       {names.state, chunk.state}});
}

Value CallAttributes::of_test(const Chunk& chunk, const char* function,
                              std::vector<Entry> settings) const {
  const CallNames& names = call_names();
  return Value::dict({{names.arguments, nothing_},
                      {names.failure, ""},
                      {names.function, function},
                      {names.id, chunk.id},
                      {names.name, chunk.name},
                      {names.settings, Value::dict(std::move(settings))},
                      {names.state, "test"}});
}

Value CallAttributes::of_lost(const Chunk& chunk, bool remembers) const {
  const bool is_final = chunk.has_nothing_to_undo;
  const std::string comment =
      is_final ? cat("nothing to undo: `", chunk.state, "` has no function `present`")
               : "nothing to undo: its name refers to something that was never created";
  constexpr const char* why = "its name refers to something that is not in memory";
  const CallNames& names = call_names();
  return Value::dict({{names.arguments, Value::dict({{"comment", comment}})},
                      {names.failure, remembers || is_final ? "" : why},
                      {names.function, "succeed_with_comment"},
                      {names.id, chunk.id},
                      {names.name, chunk.id},
                      {names.settings, nothing_},
                      {names.state, "test"}});
}

Value CallAttributes::settings_of(size_t i) const {
  const Chunk& chunk = compiled_.chunks[i];
  std::vector<Entry> entries;
  if (chunk.settings != nullptr)
    entries = settings(chunk, *chunk.settings);
  if (chunk.is_remover)
    entries.push_back({replaced_name, replaced_of(compiled_.targets[chunk.needs[0].begin])});
  else if (const Chunk* remover = remover_of(i))
    entries.push_back({"remover", key_of(*remover)});
  if (const Value watched = watched_by(chunk, true); !watched.is_null())
    entries.push_back({"watches", watched});
  return entries.empty() ? nothing_ : Value::dict(std::move(entries));
}

/// What a chunk has replaced and not yet removed.
Value CallAttributes::replaced_of(uint32_t target) const {
  const Key& key = keys_[target];
  return Value::deferred({Part(Output{key.kind, key.name, path_step(replaced_name.view())})});
}

const Chunk* CallAttributes::remover_of(size_t i) const {
  const auto found = removers_.find(i);
  return found == removers_.end() ? nullptr : found->second;
}

Value CallAttributes::watched_by(const Chunk& chunk, bool with_changes) const {
  std::vector<Entry> watched;
  const auto has_to_succeed = [&](Requisite requisite) {
    return requisite == Requisite::watch || (with_changes && requisite == Requisite::onchanges);
  };
  for (const Need& need : chunk.needs)
    if (has_to_succeed(need.requisite) && !need.any)
      for (uint32_t t = need.begin; t < need.begin + need.count; ++t)
        if (const uint32_t target = compiled_.targets[t]; keys_[target].kind == state_kind().name())
          watched.push_back({keys_[target].name, tag_of(compiled_.chunks[target])});
  return watched.empty() ? Value() : Value::dict(std::move(watched));
}

std::vector<Entry> CallAttributes::settings(const Chunk& chunk, const Settings& settings) const {
  std::vector<Entry> entries;
  const auto add = [&](const char* name, const auto& items) {
    std::vector<Value> values;
    for (const auto& item : items)
      values.push_back(holes_.rebound(Value(item), chunk));
    if (!values.empty())
      entries.push_back({name, Value::list(std::move(values))});
  };
  add("sensitive", settings.sensitive);
  add("ignore_changes", settings.ignore_changes);
  add("unset", settings.unset);
  add("unless", settings.unless);
  add("onlyif", settings.onlyif);
  add("check_cmd", settings.check_cmd);
  if (settings.create_before_destroy)
    entries.push_back({"recreate_on_update",
                       Value::dict({{"create_before_destroy", *settings.create_before_destroy}})});
  if (settings.recreate_if_deleted)
    entries.push_back({"recreate_if_deleted", true});
  if (settings.failhard)
    entries.push_back({"failhard", true});
  if (settings.retry)
    entries.push_back({"retry", Value::dict({{"attempts", settings.retry->attempts},
                                             {"until", settings.retry->until},
                                             {"interval", settings.retry->interval},
                                             {"splay", settings.retry->splay}})});
  if (!settings.own_wait.is_null())
    entries.push_back({"wait", settings.own_wait});
  if (!settings.acct_profile.empty())
    entries.push_back({"acct_profile", settings.acct_profile});
  return entries;
}

}  // namespace fettle::states
