/// Who goes before whom, and in which order states run one after another.
///
/// As Idem has it: all states that wait for nothing run in the order of low data, then all that
/// wait for these, and so on.

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "states/compilation.h"

namespace fettle::states {
namespace {

class Orderer {
 public:
  explicit Orderer(Compilation& with) : with_(with), made_(with.made) {}

  void run() {
    put_prereqs_first();
    find_edges();
    const std::vector<uint32_t> levels = find_levels();
    if (settled_ < made_.chunks.size())
      tell_circles();
    else
      rank(levels);
    add_listeners();
  }

 private:
  std::span<const uint32_t> targets_of(const Need& need) const {
    return std::span<const uint32_t>(made_.targets).subspan(need.begin, need.count);
  }

  /// What a state names as its `prereq` waits for it.
  void put_prereqs_first() {
    const auto count = static_cast<uint32_t>(made_.chunks.size());
    for (uint32_t i = 0; i < count; ++i) {
      std::vector<std::pair<uint32_t, Position>> later;
      for (const Need& need : made_.chunks[i].needs)
        if (need.requisite == Requisite::prereq)
          for (const uint32_t target : targets_of(need))
            later.emplace_back(target, need.at);
      for (const auto& [target, at] : later) {
        Need need;
        need.requisite = Requisite::before;
        need.state = made_.chunks[i].state;
        need.target = made_.chunks[i].id;
        need.at = at;
        need.begin = static_cast<uint32_t>(made_.targets.size());
        need.count = 1;
        made_.targets.push_back(i);
        made_.chunks[target].needs.push_back(std::move(need));
      }
    }
  }

  static bool orders(const Need& need) {
    return need.requisite != Requisite::prereq && need.requisite != Requisite::listen;
  }

  /// From each chunk to those that wait for it, in one array.
  void find_edges() {
    const size_t count = made_.chunks.size();
    waits_for_.assign(count, 0);
    begins_.assign(count + 1, 0);
    for (const Chunk& chunk : made_.chunks)
      for (const Need& need : chunk.needs)
        if (orders(need))
          for (const uint32_t target : targets_of(need))
            ++begins_[target + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    waiting_.resize(begins_[count]);
    std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (uint32_t i = 0; i < count; ++i)
      for (const Need& need : made_.chunks[i].needs)
        if (orders(need))
          for (const uint32_t target : targets_of(need)) {
            waiting_[next[target]++] = i;
            ++waits_for_[i];
          }
  }

  /// The wave in which each chunk runs. What is delayed delays those that wait for it.
  std::vector<uint32_t> find_levels() {
    std::vector<uint32_t> levels(made_.chunks.size(), 0), ready;
    for (uint32_t i = 0; i < made_.chunks.size(); ++i)
      if (waits_for_[i] == 0)
        ready.push_back(i);
    while (!ready.empty()) {
      const uint32_t here = ready.back();
      ready.pop_back();
      ++settled_;
      for (uint32_t e = begins_[here]; e < begins_[here + 1]; ++e) {
        const uint32_t other = waiting_[e];
        levels[other] = std::max(levels[other], levels[here] + 1);
        made_.chunks[other].is_delayed |= made_.chunks[here].is_delayed;
        if (--waits_for_[other] == 0)
          ready.push_back(other);
      }
    }
    return levels;
  }

  void rank(const std::vector<uint32_t>& levels) {
    std::vector<uint32_t> order(made_.chunks.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return levels[a] < levels[b]; });
    for (uint32_t i = 0; i < order.size(); ++i)
      made_.chunks[order[i]].rank = i;
  }

  /// The first need of a chunk that waits for something that waits for ever.
  std::pair<const Need*, uint32_t> stuck_need(uint32_t chunk) const {
    for (const Need& need : made_.chunks[chunk].needs)
      if (orders(need))
        for (const uint32_t target : targets_of(need))
          if (waits_for_[target] > 0)
            return {&need, target};
    return {nullptr, 0};
  }

  /// Whoever waits for ever waits for a circle: following what it waits for leads into one.
  void tell_circles() {
    constexpr size_t most = 20;
    std::vector<uint32_t> walk_of(made_.chunks.size(), 0);
    size_t told = 0;
    for (uint32_t start = 0; start < made_.chunks.size() && told < most; ++start) {
      if (waits_for_[start] == 0 || walk_of[start] != 0)
        continue;
      uint32_t here = start;
      while (walk_of[here] == 0) {
        walk_of[here] = start + 1;
        here = stuck_need(here).second;
      }
      if (walk_of[here] != start + 1)
        continue;  // it leads into one that was told
      tell_circle(here);
      ++told;
    }
  }

  void tell_circle(uint32_t start) {
    constexpr size_t longest = 10;
    std::string text;
    size_t length = 0;
    const Position at = stuck_need(start).first->at;
    uint32_t here = start;
    do {
      const auto [need, target] = stuck_need(here);
      if (length < longest)
        text += cat(length == 0 ? "" : ", ", shown(here), " ", phrase(need->requisite), " ",
                    shown(target), " (", to_string(with_.report.where(need->at)), ")");
      ++length;
      here = target;
    } while (here != start);
    if (length > longest)
      text += cat(", and so on over ", length - longest, " more back to ", shown(start));
    with_.report.error(at, cat("A recursive requisite was found: ", text));
  }

  std::string shown(uint32_t chunk) const {
    return cat(made_.chunks[chunk].state, ":", made_.chunks[chunk].id);
  }

  static std::string_view phrase(Requisite requisite) {
    switch (requisite) {
      case Requisite::require:
        return "requires";
      case Requisite::watch:
        return "watches";
      case Requisite::onchanges:
        return "runs on changes of";
      case Requisite::onfail:
        return "runs on failure of";
      case Requisite::arg_bind:
        return "takes arguments from";
      default:
        return "comes after";
    }
  }

  /// `mod_watch` of those that listen is called once, after everything else.
  void add_listeners() {
    const auto count = static_cast<uint32_t>(made_.chunks.size());
    uint32_t rank = count;
    for (uint32_t i = 0; i < count; ++i) {
      Chunk& chunk = made_.chunks[i];
      const auto listens = [](const Need& need) { return need.requisite == Requisite::listen; };
      if (std::none_of(chunk.needs.begin(), chunk.needs.end(), listens))
        continue;
      Chunk listener = chunk;
      listener.id = cat(chunk.id, "_listen");
      listener.name =
          chunk.name == chunk.id || !is_several(i) ? listener.id : Name(cat(chunk.name, "_listen"));
      listener.function = "mod_watch";
      listener.is_listener = true;
      listener.rank = rank++;
      listener.pool = Name();
      std::erase_if(listener.needs, [&](const Need& need) { return !listens(need); });
      std::erase_if(chunk.needs, listens);
      made_.chunks.push_back(std::move(listener));
    }
  }

  /// Whether other chunks of the state have the same ID, by `names`.
  bool is_several(uint32_t i) const { return with_.bodies[i]->name_order > 0; }

  Compilation& with_;
  Compiled& made_;
  std::vector<uint32_t> waits_for_;  ///< how many are not settled yet
  std::vector<uint32_t> begins_;     ///< in `waiting_`, of each chunk
  std::vector<uint32_t> waiting_;
  size_t settled_ = 0;
};

}  // namespace

void put_in_order(Compilation& compilation) { Orderer(compilation).run(); }

}  // namespace fettle::states
