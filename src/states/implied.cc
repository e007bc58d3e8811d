/// Adds needs that nobody writes: Idem's TREQ, and the need of a state for the one that makes its
/// profile.

#include "base/text.h"
#include "states/compilation.h"

namespace fettle::states {
namespace {

class Implier {
 public:
  explicit Implier(Compilation& with) : with_(with) {}

  void run() {
    find_profiles();
    std::vector<Chunk>& chunks = with_.made.chunks;
    for (uint32_t i = 0; i < chunks.size(); ++i) {
      if (with_.modules[i] != nullptr)
        for (const ImpliedNeeds& implied : with_.modules[i]->implied)
          if (implied.function == chunks[i].function)
            for (const Name& ref : implied.require)
              need(i, ref, group_of(ref));
      if (chunks[i].settings != nullptr && !chunks[i].settings->acct_profile.empty())
        if (const auto made = profiles_.find(chunks[i].settings->acct_profile);
            made != profiles_.end())
          need(i, "acct.profile", made->second);
    }
  }

 private:
  void find_profiles() {
    for (uint32_t i = 0; i < with_.made.chunks.size(); ++i) {
      const Chunk& chunk = with_.made.chunks[i];
      if (chunk.state != "acct" || chunk.function != "profile")
        continue;
      Name name = chunk.name;
      for (const auto& [parameter, value] : chunk.arguments)
        if (parameter == "profile_name" && value.is_text())
          name = value.text();
      profiles_[name].push_back(i);
    }
  }

  /// All chunks of a ref, `state` or `state.function`.
  const std::vector<uint32_t>& group_of(const Name& ref) {
    const auto [known, is_new] = groups_.emplace(ref, std::vector<uint32_t>());
    if (is_new)
      for (uint32_t i = 0; i < with_.made.chunks.size(); ++i) {
        const Chunk& chunk = with_.made.chunks[i];
        if (chunk.state == ref || cat(chunk.state, ".", chunk.function) == ref.view())
          known->second.push_back(i);
      }
    return known->second;
  }

  void need(uint32_t self, const Name& ref, const std::vector<uint32_t>& group) {
    std::vector<uint32_t>& targets = with_.made.targets;
    if (group.empty() || (group.size() == 1 && group[0] == self))
      return;
    if (targets.size() + group.size() > most_targets) {
      with_.report.error(
          with_.made.chunks[self].at,
          cat("the requisites of this run name more than ", most_targets, " states together"));
      return;
    }
    Need need;
    need.is_implied = true;
    need.state = ref;
    need.target = "*";
    need.at = with_.made.chunks[self].at;
    need.begin = static_cast<uint32_t>(targets.size());
    for (const uint32_t target : group)
      if (target != self)
        targets.push_back(target);
    need.count = static_cast<uint32_t>(targets.size()) - need.begin;
    with_.made.chunks[self].needs.push_back(std::move(need));
  }

  Compilation& with_;
  std::map<Name, std::vector<uint32_t>> profiles_;
  std::map<Name, std::vector<uint32_t>> groups_;
};

}  // namespace

void add_implied(Compilation& compilation) { Implier(compilation).run(); }

}  // namespace fettle::states
