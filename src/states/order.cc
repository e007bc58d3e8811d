/// The order of states: who waits for whom, and the rank of each.
///
/// The engine carries out an intent by needs, many states at a time, and would find an order by
/// itself. Three things call for one that is known before: users of Idem read results in the order
/// in which Idem starts states, `--runtime serial` runs them so, and a `prereq` has to know what
/// comes after it. The obvious order, each state behind its needs and as close to the file as
/// possible, is not Idem's. Idem starts in *waves*: all states that wait for nothing, in the order
/// of low data, then all that wait for these only, and so on. For example, where `a` requires `c`,
/// a file with `a`, `b`, `c` runs b, c, a, and not c, a, b.
///
/// Two requisites make that harder. A state with `prereq: x` runs before `x` and only if `x` would
/// have changes, so `x` is looked at first; to be looked at, `x` has to have what it needs. So the
/// state waits for everything that `x` waits for, and `x` waits for the state. A state with
/// `listen: x` comes behind `x` in Idem's waves, although `mod_watch` is called only when all
/// others have ended. Either may close a circle where Idem has none. The order is therefore tried
/// in three steps, each of which gives up a little more:
///
/// 1. all of this;
/// 2. without `listen`;
/// 3. where a state with a `prereq` is still on a circle or waits for one, it waits only for the
///    states from which `x` takes arguments, since nobody can look at `x` without them.
///
/// A circle that is still left is an error, with all its links and their places.
///
/// Afterwards `listen` becomes a state of its own (`ID_listen`), and so does the removal of the old
/// thing after its replacement (`ID_delete_old`, for `create_before_destroy`). Both come after all
/// others.
///
/// Invariants, unless there is a circle:
/// * Each chunk has a rank of its own, and a higher one than what it waits for.
/// * Ranks depend on the chunks alone, not on what was done before.

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "base/text.h"
#include "states/compilation.h"
#include "states/wait_graph.h"

namespace fettle::states {
namespace {

class Orderer {
 public:
  explicit Orderer(Compilation& with) : with_(with), made_(with.made) {}

  /// In Idem, a listener comes after what it listens to. Here, that order and the looks for a
  /// `prereq` are given up if they would lead into a circle.
  void run() {
    find_prereqs();
    WaitGraph graph = graph_of(true);
    std::vector<uint32_t> waves = graph.waves();
    if (graph.has_stuck()) {
      graph = graph_of(false);
      waves = graph.waves();
    }
    if (graph.has_stuck() && !prereqs_.empty()) {
      for (Prereq& prereq : prereqs_)
        prereq.waits = !graph.is_stuck(prereq.first) && !graph.is_stuck(prereq.second);
      graph = graph_of(false);
      waves = graph.waves();
    }
    if (graph.has_stuck()) {
      tell_circles(graph);
    } else {
      rank(waves);
      put_prereqs_first();
      delay();
    }
    add_listeners();
    if (!made_.is_inverted)
      add_removers();
  }

 private:
  /// Says that one state is the prereq of another.
  struct Prereq {
    uint32_t first, second;
    Position at;
    bool waits = true;  ///< for all that the second one waits for
  };

  std::span<const uint32_t> targets_of(const Need& need) const {
    return std::span<const uint32_t>(made_.targets).subspan(need.begin, need.count);
  }

  static bool is_ordering(const Need& need) {
    return need.requisite != Requisite::prereq && need.requisite != Requisite::listen;
  }

  void find_prereqs() {
    for (uint32_t i = 0; i < made_.chunks.size(); ++i)
      for (const Need& need : made_.chunks[i].needs)
        if (need.requisite == Requisite::prereq)
          for (const uint32_t target : targets_of(need))
            prereqs_.push_back({i, target, need.at, true});
    std::stable_sort(prereqs_.begin(), prereqs_.end(),
                     [](const Prereq& a, const Prereq& b) { return a.second < b.second; });
  }

  std::span<const Prereq> prereqs_of(uint32_t chunk) const {
    const auto [begin, end] =
        std::equal_range(prereqs_.begin(), prereqs_.end(), Prereq{0, chunk, {}, true},
                         [](const Prereq& a, const Prereq& b) { return a.second < b.second; });
    return {begin, end};
  }

  static bool is_among(std::span<const Prereq> prereqs, uint32_t chunk) {
    return std::any_of(prereqs.begin(), prereqs.end(),
                       [&](const Prereq& one) { return one.first == chunk; });
  }

  WaitGraph graph_of(bool with_listeners) const {
    WaitGraph graph(made_.chunks.size());
    for (uint32_t i = 0; i < made_.chunks.size(); ++i) {
      const std::span<const Prereq> prereqs = prereqs_of(i);
      const uint32_t ready = prereqs.empty() ? i : graph.add_node();
      for (const Prereq& prereq : prereqs) {
        if (prereq.waits)
          graph.add(ready, prereq.first, true);
        else
          for (const Need& need : made_.chunks[i].needs)
            if (need.requisite == Requisite::arg_bind)
              for (const uint32_t target : targets_of(need))
                graph.add(target, prereq.first);
        graph.add(prereq.first, i);
      }
      if (ready != i)
        graph.add(ready, i, true);
      for (const Need& need : made_.chunks[i].needs)
        if (is_ordering(need) || (with_listeners && need.requisite == Requisite::listen))
          for (const uint32_t target : targets_of(need))
            graph.add(target, need.requisite != Requisite::arg_bind && is_among(prereqs, target)
                                  ? i
                                  : ready);
    }
    return graph;
  }

  void rank(const std::vector<uint32_t>& waves) {
    by_rank_.resize(made_.chunks.size());
    std::iota(by_rank_.begin(), by_rank_.end(), 0u);
    std::stable_sort(by_rank_.begin(), by_rank_.end(),
                     [&](uint32_t a, uint32_t b) { return waves[a] < waves[b]; });
    for (uint32_t i = 0; i < by_rank_.size(); ++i)
      made_.chunks[by_rank_[i]].rank = i;
  }

  Need order_on(std::span<const uint32_t> targets, const Chunk& why, Position at) {
    Need need;
    need.requisite = Requisite::order;
    need.is_implied = true;
    need.state = why.state;
    need.target = why.id;
    need.at = at;
    need.begin = static_cast<uint32_t>(made_.targets.size());
    need.count = static_cast<uint32_t>(targets.size());
    made_.targets.insert(made_.targets.end(), targets.begin(), targets.end());
    return need;
  }

  /// Goes through them from the last to the first. So the states for which a state waits as a
  /// prereq are known when it has one itself.
  void put_prereqs_first() {
    std::stable_sort(prereqs_.begin(), prereqs_.end(), [&](const Prereq& a, const Prereq& b) {
      return made_.chunks[a.second].rank > made_.chunks[b.second].rank;
    });
    for (const Prereq& prereq : prereqs_) {
      Chunk& first = made_.chunks[prereq.first];
      std::vector<uint32_t> waited;
      for (const Need& need : made_.chunks[prereq.second].needs)
        if (is_ordering(need))
          for (const uint32_t target : targets_of(need))
            if (made_.chunks[target].rank < first.rank)
              waited.push_back(target);
      std::sort(waited.begin(), waited.end());
      waited.erase(std::unique(waited.begin(), waited.end()), waited.end());
      if (made_.targets.size() + waited.size() > most_targets)
        return with_.report.error(prereq.at, cat("the requisites of this run name more than ",
                                                 most_targets, " states together"));
      if (!waited.empty())
        first.needs.push_back(order_on(waited, made_.chunks[prereq.second], prereq.at));
      const uint32_t targets[]{prereq.first};
      Need need = order_on(targets, first, prereq.at);
      made_.chunks[prereq.second].needs.push_back(std::move(need));
    }
  }

  /// A delayed state delays those that wait for it.
  void delay() {
    for (const uint32_t i : by_rank_)
      for (const Need& need : made_.chunks[i].needs)
        if (is_ordering(need))
          for (const uint32_t target : targets_of(need))
            made_.chunks[i].is_delayed |= made_.chunks[target].is_delayed;
  }

  /// The reason why a chunk is stuck.
  struct Stuck {
    Requisite requisite;
    Position at;
    uint32_t target;
    std::optional<uint32_t> looked_at = std::nullopt;  ///< the one that needs the target
  };

  Stuck stuck_by(const WaitGraph& graph, uint32_t chunk) const {
    for (const Need& need : made_.chunks[chunk].needs)
      if (is_ordering(need))
        for (const uint32_t target : targets_of(need))
          if (graph.is_stuck(target))
            return {need.requisite, need.at, target};
    for (const Prereq& prereq : prereqs_of(chunk))
      if (graph.is_stuck(prereq.first))
        return {Requisite::order, prereq.at, prereq.first};
    for (const Prereq& prereq : prereqs_)
      if (prereq.first == chunk)
        for (const Need& need : made_.chunks[prereq.second].needs)
          if (need.requisite == Requisite::arg_bind)
            for (const uint32_t target : targets_of(need))
              if (graph.is_stuck(target))
                return {need.requisite, need.at, target, prereq.second};
    return {Requisite::order, made_.chunks[chunk].at, chunk};
  }

  /// Reports circles. A state that waits for ever waits for a circle, so following its waits leads
  /// into one.
  void tell_circles(const WaitGraph& graph) {
    constexpr size_t most = 20;
    std::vector<uint32_t> walk_of(made_.chunks.size(), 0);
    size_t told = 0;
    for (uint32_t start = 0; start < made_.chunks.size() && told < most; ++start) {
      if (!graph.is_stuck(start) || walk_of[start] != 0)
        continue;
      uint32_t here = start;
      while (walk_of[here] == 0) {
        walk_of[here] = start + 1;
        here = stuck_by(graph, here).target;
      }
      if (walk_of[here] != start + 1)
        continue;  // it leads into a circle that was reported
      tell_circle(graph, here);
      ++told;
    }
  }

  void tell_circle(const WaitGraph& graph, uint32_t start) {
    constexpr size_t longest = 10;
    std::string text;
    size_t length = 0;
    uint32_t here = start;
    do {
      const Stuck stuck = stuck_by(graph, here);
      if (length < longest)
        text += cat(length == 0 ? "" : ", ", shown(here), " ",
                    stuck.looked_at ? cat("looks at ", shown(*stuck.looked_at), ", which ") : "",
                    row_of(stuck.requisite).phrase, " ", shown(stuck.target), " (",
                    to_string(with_.report.where(stuck.at)), ")");
      ++length;
      here = stuck.target;
    } while (here != start);
    if (length > longest)
      text += cat(", and so on over ", length - longest, " more back to ", shown(start));
    with_.report.error(stuck_by(graph, start).at, cat("A recursive requisite was found: ", text));
  }

  std::string shown(uint32_t chunk) const {
    return cat(made_.chunks[chunk].state, ":", made_.chunks[chunk].id);
  }

  /// `mod_watch` of those that listen, else their function, is called once, after everything else.
  void add_listeners() {
    const auto count = static_cast<uint32_t>(made_.chunks.size());
    uint32_t rank = count;
    std::set<std::pair<Name, Name>> known;
    for (const Chunk& chunk : made_.chunks)
      if (chunk.id.view().ends_with("_listen"))
        known.emplace(chunk.state, chunk.id);
    const auto listens = [](const Need& need) { return need.requisite == Requisite::listen; };
    for (uint32_t i = 0; i < count; ++i) {
      Chunk& chunk = made_.chunks[i];
      if (std::none_of(chunk.needs.begin(), chunk.needs.end(), listens))
        continue;
      Chunk listener = chunk;
      listener.id = cat(chunk.id, "_listen");
      // A function that cannot be told of a change is called again.
      const Module* const module = with_.modules[i];
      if (module == nullptr || module->find("mod_watch") != nullptr)
        listener.function = "mod_watch";
      else if (chunk.state == "cmd")
        listener.function = "run";
      listener.is_listener = true;
      listener.rank = rank++;
      listener.pool = Name();
      if (known.contains({listener.state, listener.id}))
        with_.report.error(chunk.at, cat("the ID ", listener.id, " is the one under which ",
                                         chunk.id, " listens: give it another name"));
      // A listener needs what its state needs, too; without that it does nothing. Whatever only
      // goes first has gone by then.
      std::erase_if(listener.needs,
                    [&](const Need& need) { return need.requisite == Requisite::prereq; });
      std::erase_if(chunk.needs, listens);
      made_.chunks.push_back(std::move(listener));
    }
  }

  static bool is_replaced_first(const Chunk& chunk) {
    return chunk.function == "present" && !chunk.is_delayed && chunk.settings != nullptr &&
           chunk.settings->create_before_destroy.value_or(false) && chunk.failure.empty();
  }

  /// Adds removers. When a replacement is made before the old thing goes, the old one is removed
  /// once all that use it have gone on.
  void add_removers() {
    const auto count = static_cast<uint32_t>(made_.chunks.size());
    std::map<uint32_t, std::vector<uint32_t>> users, conditional;
    for (uint32_t i = 0; i < count; ++i)
      if (is_replaced_first(made_.chunks[i]))
        users[i];
    if (users.empty())
      return;
    for (uint32_t i = 0; i < count; ++i)
      for (const Need& need : made_.chunks[i].needs)
        if (is_ordering(need) && !made_.chunks[i].is_delayed)
          for (const uint32_t target : targets_of(need))
            if (const auto used = users.find(target); used != users.end() && target != i)
              (row_of(need.requisite).unmet == Unmet::skip ? conditional[target] : used->second)
                  .push_back(i);
    uint32_t rank = count;
    for (const auto& [i, used_by] : users) {
      const Chunk& chunk = made_.chunks[i];
      Chunk remover;
      remover.state = chunk.state;
      remover.function = "absent";
      remover.id = cat(chunk.id, "_delete_old");
      remover.name = chunk.name;
      remover.entry = chunk.entry;
      remover.bound_name = chunk.bound_name;
      remover.sls = chunk.sls;
      remover.at = chunk.at;
      remover.order = chunk.order;
      remover.rank = rank++;
      remover.is_remover = true;
      auto settings = std::make_shared<Settings>();
      settings->acct_profile = chunk.settings->acct_profile;
      settings->sensitive = chunk.settings->sensitive;
      remover.settings = std::move(settings);
      remover.needs.push_back(order_on(std::span(&i, 1), chunk, chunk.at));
      remover.needs.back().requisite = Requisite::require;
      if (!used_by.empty())
        remover.needs.push_back(order_on(used_by, chunk, chunk.at));
      if (!used_by.empty())
        remover.needs.back().requisite = Requisite::require;
      if (!conditional[i].empty())
        remover.needs.push_back(order_on(conditional[i], chunk, chunk.at));
      made_.chunks.push_back(std::move(remover));
    }
  }

  Compilation& with_;
  CompiledStates& made_;
  std::vector<Prereq> prereqs_;
  std::vector<uint32_t> by_rank_;
};

}  // namespace

void put_in_order(Compilation& compilation) { Orderer(compilation).run(); }

}  // namespace fettle::states
