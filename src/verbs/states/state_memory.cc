/// The world and its memory, outside of a run: `describe`, `refresh` and `restore`.

#include <algorithm>

#include "base/text.h"
#include "core/open_payload.h"
#include "kinds/kinds.h"
#include "kinds/state.h"
#include "states/target_index.h"
#include "value/jmespath.h"
#include "verbs/states/state_keys.h"
#include "verbs/states/state_results.h"
#include "verbs/states/states.h"
#include "workplace/machines.h"

namespace fettle {
namespace {

/// The tag that a memory is about. No value: it is no tag.
std::optional<StateTag> memory_tag(std::string_view text) {
  std::optional<StateTag> tag = StateTag::parse(text);
  return tag && tag->function.empty() ? tag : std::nullopt;
}

/// The wish of a restored record: no state has asked for it yet.
constexpr Digest restored_wish{0, 1};

/// The resource that a memory is about. It may be removed as if `present` had made it under this
/// name.
Result<Resource> remembered_resource(const Name& environment, const StateTag& tag,
                                     const Name& name) {
  Resource resource;
  resource.key = {environment, state_kind().name(), tag.key()};
  resource.driver = "state";
  StateInvocation present;
  present.state = tag.state;
  present.function = "present";
  present.id = tag.id;
  present.name = name;
  resource.attributes = write(present);
  return resource;
}

}  // namespace

Result<Description> describe_states(const Workplace& place, RunFunctions& functions,
                                    const std::string& pattern, bool is_hard,
                                    std::stop_token stop) {
  if (!stop.stop_possible())
    stop = place.interrupt->acts_token();
  Description described;
  std::vector<Entry> states;
  bool is_any = false;
  for (const std::string& ref : functions.catalogue().refs()) {
    const std::string path = cat("states.", ref, ".describe");
    if (!functions.plugins().has(path) || !states::matches(pattern, ref))
      continue;
    is_any = true;
    PluginCall call;
    call.path = path;
    const Result<PluginAnswer> answer = functions.plugins().call(call, stop);
    if (!answer) {
      Error error = Error(answer.error()).context(cat("describing `", ref, "`"));
      if (is_hard)
        return error;
      described.warnings.push_back(std::move(error));
      continue;
    }
    if (answer->result.is_dict())
      states.insert(states.end(), answer->result.entries().begin(), answer->result.entries().end());
  }
  if (!is_any)
    return user_error(cat("no module that matches `", pattern, "` has a function `describe`"));
  described.states = Value::dict(std::move(states));
  return described;
}

Result<Value> filter_described(const Value& states, const std::string& expression) {
  const JmesPath path = TRY(JmesPath::read(expression).context("reading `--filter`"));
  std::vector<Value> resources;
  for (const Entry& one : states.entries())
    if (one.value.is_dict())
      for (const Entry& state : one.value.entries())
        resources.push_back(
            Value::dict({{"name", one.key}, {"ref", state.key}, {"resource", state.value}}));
  const Value picked = TRY(path.of(Value::list(std::move(resources))));
  const auto is_resource = [](const Value& item) {
    return item.at("name").is_text() && item.at("ref").is_text() &&
           item.find("resource") != nullptr;
  };
  if (!picked.is_list() || !std::ranges::all_of(picked.items(), is_resource))
    return picked;
  std::map<Name, std::vector<Entry>> by_id;
  for (const Value& item : picked.items())
    by_id[item.at("name").text()].push_back({item.at("ref").text(), item.at("resource")});
  std::vector<Entry> entries;
  for (auto& [id, bodies] : by_id)
    entries.push_back({id, Value::dict(std::move(bodies))});
  return Value::dict(std::move(entries));
}

namespace {

Value told(bool result, Value ret, Value comment = {}) {
  return Value::dict(
      {{"result", result}, {"ret", std::move(ret)}, {"comment", std::move(comment)}});
}

/// The state that was left, even if the call failed.
Value left_by(const Key& key, const Record& record) {
  if (key.kind == command_kind().name())
    return left_by_command(record.outputs);
  if (key.kind != state_kind().name()) {
    if (!record.applied)
      return {};
    return dict_of(record.applied->attributes);
  }
  return remembered(record.outputs);
}

/// The memory of states, by tag.
Value memory_of(const Known& known) {
  std::vector<Entry> entries;
  for (const auto& [key, record] : known)
    if (const std::optional<StateTag> tag = memory_tag(key.name))
      if (const Value left = left_by(key, *record); left.is_dict() && !left.entries().empty()) {
        Mask mask;  // a secret may be a key, which cannot be marked
        if (record->applied)
          mask.add_marked(dict_of(record->applied->attributes));
        mask.add_marked(left);
        entries.push_back(
            {tag->memory(), mask.secrets().empty() ? left : with_masked_keys(left, mask)});
      }
  return Value::dict(std::move(entries));
}

/// The records of an environment under today's keys. Changes that this makes are added to
/// `changes`.
Result<Known> known_of_today(const Workplace& place, const Name& environment,
                             std::vector<Change>& changes) {
  Known known = TRY(place.store->known(environment));
  if (TRY(place.store->note(environment, states_by_name_note)))
    changes = rename_known(upgraded_keys(known), known);
  return known;
}

Result<Value> forget_state(const Workplace& place, const Name& environment,
                           const states::ExecCall& call) {
  const Value& asked = call.positional.empty() ? call.named.at("tag") : call.positional[0];
  const std::optional<StateTag> tag = memory_tag(asked.is_text() ? asked.text().view() : "");
  if (!tag)
    return user_error("`esm.remove` needs a tag, as `esm.show` lists them: `state_|-id_|-id_|-`");
  const std::unique_ptr<Edit> edit = TRY(begin_edit(place, environment.str(), false));
  std::vector<Change> changes;
  const Known known = TRY(known_of_today(place, environment, changes));
  for (const auto& [key, record] : known)
    if (key.name == tag->key()) {
      TRY(edit->write(changes));
      TRY(edit->put_note(states_by_name_note, {}));
      const Change forget{Change::forget, key, {}, {}};
      TRY(edit->write(std::vector{forget}));
      return told(true, asked);
    }
  return told(false, Value(), cat("nothing is remembered about `", tag->key(), "`"));
}

/// The version of a memory: Idem wrote 1, without saying so, and 2, as `[2, 0, 0]` or `2.0.0`.
/// Error: it is a newer one.
Result<int64_t> version_of(const Value& memory) {
  constexpr int64_t oldest = 1, newest = 2;
  const Value& version = memory.at("__esm_metadata__").at("version");
  int64_t major = oldest;
  if (version.is_list() && !version.items().empty() && version.items()[0].is_integer())
    major = version.items()[0].integer().value_or(newest + 1);
  else if (version.is_text())
    major = std::atoll(version.text().str().c_str());
  if (major > newest)
    return user_error(cat("this memory has version ", to_text(version), "; versions up to ", newest,
                          " can be read"));
  return std::max(major, oldest);
}

/// The memory of one state.
struct StateMemory {
  Name name;
  Value state;
};

/// Reads a memory by the tags of version 2. Errors: a key or a value is not valid.
Result<std::map<StateTag, StateMemory>> read_memory(const Value& memory) {
  std::map<StateTag, StateMemory> states;
  std::vector<StateTag> tags;
  for (const Entry& entry : memory.entries()) {
    if (entry.key == "__esm_metadata__")
      continue;
    const std::optional<StateTag> tag = memory_tag(entry.key);
    if (!tag || !entry.value.is_dict())
      return user_error(cat("`", entry.key,
                            "` must be `state_|-id_|-id_|-` with a dictionary: nothing is "
                            "remembered"));
    const std::string_view name = entry.value.text_at("name");
    states.insert_or_assign(*tag,
                            StateMemory{name.empty() ? tag->name() : Name(name), entry.value});
    tags.push_back(*tag);
  }
  if (TRY(version_of(memory)) == 1)
    for (const auto& [before, after] : upgraded_tags(tags)) {
      auto state = states.extract(before);
      state.key() = after;
      states.insert(std::move(state));
    }
  return states;
}

}  // namespace

Result<std::optional<Value>> run_memory_exec(const Workplace& place, const Name& environment,
                                             const states::ExecCall& call) {
  if (!call.path.starts_with("esm."))
    return std::optional<Value>();
  const std::string_view function = std::string_view(call.path).substr(4);
  if (function == "remove")
    return std::optional(TRY(forget_state(place, environment, call)));
  const Known known = TRY(place.store->known(environment));
  if (function == "show")
    return std::optional(told(true, memory_of(known)));
  // There is nothing to do: the store checks what it reads, and a lease ends with its process.
  if (function == "validate")
    return std::optional(told(true, static_cast<int64_t>(known.size())));
  if (function == "unlock")
    return std::optional(told(true, Value(), "a run that has ended holds no locks"));
  if (function == "version")
    return std::optional(told(true, "2.0.0"));
  return std::optional<Value>();
}

Result<size_t> remember_states(const Workplace& place, const std::string& environment,
                               const Value& memory, bool waits) {
  if (!memory.is_dict())
    return user_error("memory must be a dictionary of states by tag");
  const std::map<StateTag, StateMemory> states = TRY(read_memory(memory));
  TRY(machine_of(place, environment));  // or nobody would know where they are
  const std::unique_ptr<Edit> edit = TRY(begin_edit(place, environment, waits));
  TRY(ensure_environment(place, *edit, Value::dict({{"states", true}})));
  std::vector<Change> changes;
  const Known known = TRY(known_of_today(place, environment, changes));
  TRY(edit->write(std::exchange(changes, {})));
  TRY(edit->put_note(states_by_name_note, {}));
  for (const auto& [tag, remembered] : states) {
    const Resource resource = TRY(remembered_resource(environment, tag, remembered.name));
    const auto before = known.find(resource.key);
    auto record = std::make_shared<Record>(before == known.end() ? Record{} : *before->second);
    if (!record->applied)
      record->applied = resource;
    StateOutputs outputs;
    outputs.new_state = remembered.state;
    outputs.called = read_one<&StateOutputs::called>(record->outputs);
    record->outputs = write(outputs);
    record->finished = place.clock();
    record->wanted_by.try_emplace(Name(states::states_set), restored_wish);
    changes.push_back({Change::record, resource.key, std::move(record), {}});
  }
  TRY(edit->write(changes));
  return changes.size();
}

}  // namespace fettle
