#include "states/intent.h"

#include <map>
#include <set>

#include "base/text.h"
#include "kinds/command.h"
#include "kinds/engine_needs.h"
#include "kinds/image_reference.h"
#include "kinds/kinds.h"
#include "kinds/service.h"
#include "states/call_attributes.h"
#include "states/managed_path.h"
#include "states/pace.h"
#include "states/types.h"
#include "value/with.h"

namespace fettle::states {
namespace {

const Name end_name = "states_|-end";

class Mapper {
 public:
  Mapper(const CompiledStates& compiled, const IntentOptions& options)
      : compiled_(compiled),
        options_(options),
        intent_(std::make_shared<Intent>()),
        holes_(compiled, made_.keys, options.environment, options.known),
        calls_(compiled, made_.keys, holes_) {
    intent_->environment = options.environment;
    intent_->sets[states_set] = options.prune ? Leftover::remove : Leftover::keep;
    intent_->pools = compiled.pools;
  }

  StatesIntent map() {
    find_keys();
    find_lost();
    std::vector<Resource>& resources = intent_->resources[states_set];
    resources.reserve(compiled_.chunks.size());
    for (size_t i = 0; i < compiled_.chunks.size(); ++i)
      if (!made_.keys[i].kind.empty())
        resources.push_back(resource_of(i));
    add_end(resources);
    for (Resource& needed : engine_.resources())
      resources.push_back(std::move(needed));
    add_looks(resources);
    std::ranges::move(guards_, std::back_inserter(resources));
    made_.intent = std::move(intent_);
    return std::move(made_);
  }

 private:
  void find_keys() {
    made_.keys.reserve(compiled_.chunks.size());
    mapped_.reserve(compiled_.chunks.size());
    for (const Chunk& chunk : compiled_.chunks) {
      const MappedState* mapped =
          chunk.failure.empty() && (!chunk.is_listener || chunk.function != "mod_watch")
              ? find_mapped(chunk.state, chunk.function)
              : nullptr;
      mapped_.push_back(mapped);
      made_.keys.push_back(chunk.is_delayed ? Key() : key_in(chunk, mapped));
      if (mapped != nullptr && mapped->is_own_name && !chunk.is_delayed)
        check_own_name(chunk);
    }
  }

  /// Finds states that are to be undone and cannot be, or have lost their names. Each becomes a
  /// call that says so.
  void find_lost() {
    lost_.assign(compiled_.chunks.size(), false);
    for (size_t i = 0; i < compiled_.chunks.size(); ++i)
      if (!made_.keys[i].kind.empty() &&
          (compiled_.chunks[i].has_nothing_to_undo || holes_.has_lost_name(compiled_.chunks[i]))) {
        lost_[i] = true;
        mapped_[i] = nullptr;
        made_.keys[i] = key_in(compiled_.chunks[i], nullptr);
      }
  }

  /// A thing that the engine calls by its name alone may be described once.
  void check_own_name(const Chunk& chunk) {
    const auto [other, is_new] = own_names_.emplace(made_.keys.back(), chunk.id);
    if (is_new)
      return;
    error(chunk,
          user_error(cat("ID ", other->second, " describes `", to_string(other->first), "`, too")));
    made_.keys.back() = Key();
  }

  Key key_in(const Chunk& chunk, const MappedState* mapped) const {
    if (mapped == nullptr)
      return {options_.environment, state_kind().name(), key_of(chunk)};
    Key key{options_.environment, mapped->kind().name(),
            mapped->is_own_name ? chunk.name : key_of(chunk)};
    if (!mapped->is_absent || options_.known == nullptr)
      return key;
    for (const Kind* kind : kinds_of(chunk.state))  // what it was is what goes away
      if (const Key other{key.environment, kind->name(), key.name}; options_.known->contains(other))
        return other;
    return key;
  }

  Resource resource_of(size_t i) {
    const Chunk& chunk = compiled_.chunks[i];
    const MappedState* mapped = mapped_[i];
    Resource resource;
    resource.key = made_.keys[i];
    resource.origin = compiled_.place_of(chunk.at);
    resource.pool = chunk.pool;
    resource.driver = mapped == nullptr ? state_kind().name() : Name(mapped->driver);
    if (lost_[i])
      resource.attributes =
          calls_.of_lost(chunk, options_.known != nullptr && !options_.known->empty());
    else if (mapped == nullptr)
      resource.attributes = as_known(resource.key, calls_.of(i));
    else
      describe(chunk, *mapped, resource);
    own_path(chunk, resource);
    add_needs(i, resource);
    if (mapped != nullptr)
      add_guard(i, *mapped, resource);
    if (has_check(i))
      add_check(i, resource);
    if (mapped != nullptr && chunk.settings != nullptr && chunk.settings->retry)
      try_again(*chunk.settings->retry, resource);
    if (chunk.settings != nullptr)
      add_pace(*chunk.settings, resource);
    return resource;
  }

  /// Each path has one owner. A listener counts as its state.
  void own_path(const Chunk& chunk, const Resource& resource) {
    const std::optional<std::string> path = managed_path(resource.key, resource.attributes);
    if (chunk.is_listener || chunk.is_remover)
      made_.seconds.insert(resource.key);
    else if (path)
      own_known_path(chunk, resource, *path);
  }

  void own_known_path(const Chunk& chunk, const Resource& resource, const std::string& path) {
    const auto [owner, is_new] = made_.owners.emplace(path, resource.key);
    if (!is_new)
      error(chunk, user_error(manages_too(owner->second, path)));
  }

  /// What is wanted as it was last time is kept once.
  Attributes as_known(const Key& key, Attributes attributes) const {
    if (options_.known == nullptr)
      return attributes;
    const auto record = options_.known->find(key);
    const bool is_same = record != options_.known->end() && record->second->applied &&
                         record->second->applied->attributes == attributes;
    return is_same ? record->second->applied->attributes : attributes;
  }

  void error(const Chunk& chunk, const Error& cause) {
    made_.refused.emplace_back(&chunk - compiled_.chunks.data(), to_string(cause));
    const Position at = chunk.at;
    Error made = user_error(
        cat(chunk.state, ".", chunk.function, " of ID ", chunk.id, ": ", to_string(cause)));
    if (at.file < compiled_.files.size())
      made.where = {compiled_.files[at.file], static_cast<int>(at.line),
                    static_cast<int>(at.column)};
    made_.errors.push_back(std::move(made));
  }

  void describe(const Chunk& chunk, const MappedState& mapped, Resource& resource) {
    // Files and links are put in place as a whole, containers are replaced, and commands run again.
    if (chunk.settings != nullptr && chunk.settings->create_before_destroy &&
        resource.key.kind == folder_kind().name() && !mapped.is_absent)
      error(chunk, user_error("a folder cannot be recreated: it may hold what others made"));
    if (chunk.settings != nullptr && chunk.settings->retry && !chunk.settings->retry->until)
      error(chunk, user_error("`retry` until False is not supported here"));
    Chunk named = chunk;
    if (compiled_.is_inverted && !chunk.bound_name.is_null())
      named.bound_name = holes_.name_of(chunk);
    const Result<Value> given = mapped.attributes(named);
    const Result<Attributes> attributes =
        given ? kind_named(resource.key.kind).normalise(holes_.rebound(*given, chunk))
              : Result<Attributes>(given.error());
    if (!attributes) {
      error(chunk, attributes.error());
      return;
    }
    resource.attributes = *attributes;
    if (resource.key.kind == command_kind().name() && is_unguarded(resource.attributes))
      resource.redo = Redo::always;
    if (resource.key.kind != service_kind().name() || mapped.is_absent)
      return;
    const Hole<Name> image = read_one<&Service::image>(resource.attributes);
    if (const Status good = image.is_text() ? check_image_reference(image.get()) : Status(); !good)
      error(chunk, good.error());
    else
      use_engine(resource);
  }

  const Kind& kind_named(const Name& name) const {
    for (const Kind* kind : {&file_kind(), &folder_kind(), &link_kind(), &command_kind()})
      if (kind->name() == name)
        return *kind;
    return service_kind();
  }

  static bool is_unguarded(const Attributes& attributes) {
    const HostCommand command = read<HostCommand>(attributes);
    const auto is_empty = [](const Hole<Name>& text) { return text.is_text() && text.empty(); };
    return is_empty(command.creates) && is_empty(command.unless) && is_empty(command.onlyif) &&
           !command.reload_only.get();
  }

  /// An image that another state says is called by the service that uses it.
  void use_engine(Resource& resource) {
    const Hole<Name> image = read_one<&Service::image>(resource.attributes);
    engine_.add(resource, image.is_text() ? image.get() : Name(cat("of ", resource.key.name)),
                image.value());
  }

  /// One need for all entries of a requisite. A hole is a need by itself; what a `prereq` looks at
  /// waits for it.
  void add_needs(size_t i, Resource& resource) {
    const Chunk& chunk = compiled_.chunks[i];
    std::map<std::pair<Requisite, bool>, size_t> places;
    for (const Need& need : chunk.needs) {
      if (need.requisite == Requisite::prereq) {
        add_prereq(need, chunk.rank, resource);
        continue;
      }
      if (need.is_remembered) {
        if (need.requisite == Requisite::arg_bind && !need.memory.empty())
          resource.needs.push_back({{holes_.remembered_key(need.memory)},
                                    false,
                                    When::succeeded,
                                    Unmet::fail,
                                    Bond::past});
        continue;
      }
      const auto [place, is_new] =
          places.emplace(std::pair(need.requisite, need.any), resource.needs.size());
      if (is_new)
        resource.needs.push_back(need_for(need));
      for (uint32_t t = need.begin; t < need.begin + need.count; ++t)
        if (const uint32_t target = compiled_.targets[t]; !made_.keys[target].kind.empty())
          add_target(target, place->second, resource);
    }
    std::erase_if(resource.needs, [](const fettle::Need& need) { return need.keys.empty(); });
    if (const Chunk* remover = calls_.remover_of(i))
      resource.needs.push_back({{{options_.environment, state_kind().name(), key_of(*remover)}},
                                false,
                                When::succeeded,
                                Unmet::fail,
                                Bond::past});
    if (chunk.is_listener)
      resource.needs.push_back({{end_key()}, false, When::finished, Unmet::fail, Bond::order});
  }

  /// A thing with a check has succeeded when its check has.
  void add_target(uint32_t target, size_t place, Resource& resource) const {
    const Key& key = made_.keys[target];
    if (!has_check(target)) {
      resource.needs[place].keys.push_back(key);
      return;
    }
    const Key checked = check_key(options_.environment, compiled_.chunks[target]);
    const bool is_of_change = resource.needs[place].when == When::changed ||
                              resource.needs[place].when == When::stirred ||
                              resource.needs[place].bond == Bond::refresh;
    resource.needs[place].keys.push_back(is_of_change ? key : checked);
    if (is_of_change && !resource.needs[place].any)
      resource.needs.push_back(
          {{checked}, false, When::succeeded, resource.needs[place].unmet, Bond::order});
  }

  bool has_check(size_t i) const {
    const Chunk& chunk = compiled_.chunks[i];
    return mapped_[i] != nullptr && !chunk.is_swapped && chunk.settings != nullptr &&
           !chunk.settings->check_cmd.empty();
  }

  /// Adds the commands that test whether a thing that is as wanted is any good.
  void add_check(size_t i, const Resource& resource) {
    const Chunk& chunk = compiled_.chunks[i];
    Settings checks;
    checks.check_cmd = chunk.settings->check_cmd;
    checks.own_wait = chunk.settings->own_wait;
    Resource check;
    check.key = check_key(options_.environment, chunk);
    check.driver = state_kind().name();
    check.origin = resource.origin;
    check.needs = {{{resource.key}, false, When::succeeded, Unmet::fail, Bond::order}};
    check.pace = {Wait::exponential, 200ms, 3s, 2};
    add_pace(*chunk.settings, check);
    check.attributes =
        calls_.of_test(chunk, "succeed_without_changes", calls_.settings(chunk, checks));
    guards_.push_back(std::move(check));
  }

  /// Adds a look that changes nothing and says whether `unless` and `onlyif` allow the act.
  void add_guard(size_t i, const MappedState& mapped, Resource& resource) {
    const Chunk& chunk = compiled_.chunks[i];
    Settings guards;
    if (!mapped.takes_guards && chunk.settings != nullptr) {
      guards.unless = chunk.settings->unless;
      guards.onlyif = chunk.settings->onlyif;
    }
    std::vector<Entry> settings = calls_.settings(chunk, guards);
    const bool has_conditions = !settings.empty();
    if (const Value watched = calls_.watched_by(chunk, false); !watched.is_null())
      settings.push_back({"watches", watched});
    if (settings.empty())
      return;
    settings.push_back({"is_guard", true});
    Resource guard;
    guard.key = guard_key(options_.environment, chunk);
    guard.driver = state_kind().name();
    guard.origin = resource.origin;
    guard.mandate = Mandate::look;
    guard.needs = resource.needs;
    guard.attributes = calls_.of_test(chunk, "succeed_with_changes", std::move(settings));
    resource.needs.push_back({{guard.key},
                              false,
                              has_conditions ? When::changed : When::succeeded,
                              Unmet::fail,
                              Bond::order});
    guards_.push_back(std::move(guard));
  }

  /// The act is due when a look at the state that it precedes says that there would be changes.
  void add_prereq(const Need& need, uint32_t rank, Resource& resource) {
    fettle::Need looks{{}, need.any, When::changed, Unmet::skip, Bond::order};
    for (uint32_t t = need.begin; t < need.begin + need.count; ++t) {
      const uint32_t target = compiled_.targets[t];
      if (made_.keys[target].kind.empty())
        continue;
      // A command that runs each time needs no look.
      if (mapped_[target] == find_mapped("cmd", "run") && !has_guards(compiled_.chunks[target]))
        continue;
      const auto known = looked_at_.emplace(target, rank).first;
      known->second = std::min(known->second, rank);
      looks.keys.push_back(look_key(target));
    }
    if (!looks.keys.empty())
      resource.needs.push_back(std::move(looks));
  }

  static bool has_guards(const Chunk& chunk) {
    const auto creates = [](const auto& argument) { return argument.first == "creates"; };
    return std::ranges::any_of(chunk.arguments, creates) ||
           (chunk.settings != nullptr &&
            !(chunk.settings->unless.empty() && chunk.settings->onlyif.empty()));
  }

  Key look_key(uint32_t target) const { return states::look_key(made_.keys[target]); }

  /// Adds looks at the states that a `prereq` precedes. Each looks when all that its state needs is
  /// there, unless that itself comes after the `prereq`.
  void add_looks(std::vector<Resource>& resources) {
    for (const auto& [target, rank] : looked_at_) {
      const auto found = std::find_if(resources.begin(), resources.end(), [&](const Resource& one) {
        return one.key == made_.keys[target];
      });
      Resource look = *found;
      look.key = look_key(target);
      look.mandate = Mandate::look;
      const std::set<Key> later = later_needs_of(target, rank);
      std::erase_if(look.needs, [&](fettle::Need& need) {
        const size_t left =
            std::erase_if(need.keys, [&](const Key& key) { return later.contains(key); });
        return need.when == When::finished || need.keys.empty() || (need.any && left > 0);
      });
      look.needs.push_back({{made_.keys[target]}, false, When::succeeded, Unmet::fail, Bond::past});
      resources.push_back(std::move(look));
    }
  }

  /// The needs of a chunk that come after a rank. Its conditions do then, too.
  std::set<Key> later_needs_of(uint32_t chunk, uint32_t rank) const {
    std::set<Key> later;
    for (const Need& need : compiled_.chunks[chunk].needs)
      for (uint32_t t = need.begin; t < need.begin + need.count; ++t)
        if (const uint32_t target = compiled_.targets[t]; compiled_.chunks[target].rank >= rank) {
          later.insert(made_.keys[target]);
          later.insert(check_key(options_.environment, compiled_.chunks[target]));
        }
    if (!later.empty())
      later.insert(guard_key(options_.environment, compiled_.chunks[chunk]));
    return later;
  }

  static fettle::Need need_for(const Need& need) {
    const RequisiteRow& row = row_of(need.requisite);
    return {{}, need.any, row.when, row.unmet, row.bond};
  }

  Key end_key() const { return {options_.environment, mark_kind().name(), end_name}; }

  /// Listeners come after everything else.
  void add_end(std::vector<Resource>& resources) {
    const auto listens = [](const Chunk& chunk) { return chunk.is_listener; };
    if (std::none_of(compiled_.chunks.begin(), compiled_.chunks.end(), listens))
      return;
    Resource end;
    end.key = end_key();
    end.driver = "host";
    end.redo = Redo::always;
    end.attributes = *mark_kind().normalise(Value::dict({}));
    fettle::Need all{{}, false, When::finished, Unmet::fail, Bond::order};
    for (size_t i = 0; i < compiled_.chunks.size(); ++i)
      if (!compiled_.chunks[i].is_listener && !made_.keys[i].kind.empty())
        all.keys.push_back(made_.keys[i]);
    end.needs.push_back(std::move(all));
    resources.push_back(std::move(end));
  }

  const CompiledStates& compiled_;
  const IntentOptions& options_;
  std::shared_ptr<Intent> intent_;
  StatesIntent made_;
  std::vector<const MappedState*> mapped_;
  std::vector<bool> lost_;         ///< chunks to undo whose names lead nowhere
  std::map<Key, Name> own_names_;  ///< with the IDs that have them
  EngineNeeds engine_{options_.environment};
  std::vector<Resource> guards_;
  std::map<uint32_t, uint32_t>
      looked_at_;  ///< states that a `prereq` precedes, with the lowest rank of those
  Holes holes_;
  CallAttributes calls_;
};

}  // namespace

Key guard_key(const Name& environment, const Chunk& chunk) {
  return {environment, state_kind().name(), state_tag(chunk).beside("guard")};
}

Key check_key(const Name& environment, const Chunk& chunk) {
  return {environment, state_kind().name(), state_tag(chunk).beside("check")};
}

Key look_key(const Key& target) {
  return {target.environment, target.kind, cat(target.name, StateTag::separator, "look")};
}

StatesIntent intent_of(const CompiledStates& compiled, const IntentOptions& options) {
  return Mapper(compiled, options).map();
}

StatesIntent lenient_intent_of(CompiledStates& compiled, IntentOptions options) {
  StatesIntent made = intent_of(compiled, options);
  while (!made.refused.empty()) {
    options.prune = false;  // who knows what it was to be
    for (auto& [chunk, reason] : made.refused)
      compiled.chunks[chunk].failure = Name(reason);
    made = intent_of(compiled, options);
  }
  return made;
}

}  // namespace fettle::states
