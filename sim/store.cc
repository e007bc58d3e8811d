#include "sim/store.h"

#include "base/text.h"
#include "store/references.h"

namespace fettle::sim {

uint64_t SimStore::take_right() {
  static_cast<void>(transaction([](State& state) -> Status {
    ++state.token;
    return {};
  }));
  return state().token;
}

void SimStore::lose_last(Prng& prng, size_t most) {
  for (uint64_t lost = prng.below(most + 1); lost > 0 && states_.size() > 1; --lost)
    states_.pop_back();
}

Status SimStore::transaction(const std::function<Status(State&)>& write) {
  State next = states_.back();
  TRY(write(next));
  states_.push_back(std::move(next));
  if (states_.size() > remembered_states)
    states_.pop_front();
  return {};
}

bool SimStore::is_used(const State& state, std::string_view digest) {
  for (const auto& [key, record] : state.known)
    for (const std::string& used : digests_in(*record))
      if (used == digest)
        return true;
  return false;
}

Status SimEdit::write(std::span<const Change> changes) {
  TRY(before_());
  TRY(store_.transaction([&](SimStore::State& state) -> Status {
    if (state.token != token_)
      return world_error("the lock on `e` was lost");
    for (const Change& change : changes) {
      if (change.type == Change::forget)
        state.known.erase(change.key);
      if (change.type != Change::record)
        continue;
      state.known[change.key] = change.written;
      for (const std::string& digest : digests_in(*change.written))
        if (const auto content = state.contents.find(digest); content != state.contents.end())
          content->second.session = 0;
    }
    return {};
  }));
  return after_(changes);
}

Status SimIndex::add(std::string_view digest, uint64_t size, const std::function<Status()>& move) {
  return store_.transaction([&](SimStore::State& state) -> Status {
    TRY(move());
    state.contents[std::string(digest)] = {size, session_};
    return {};
  });
}

Result<std::optional<uint64_t>> SimIndex::find(std::string_view digest) {
  const auto found = store_.state().contents.find(digest);
  if (found == store_.state().contents.end())
    return std::optional<uint64_t>();
  if (!SimStore::is_used(store_.state(), digest))
    TRY(store_.transaction([&](SimStore::State& state) -> Status {
      state.contents.find(digest)->second.session = session_;
      return {};
    }));
  return std::optional(store_.state().contents.find(digest)->second.size);
}

Result<std::map<std::string, uint64_t, std::less<>>> SimIndex::find_used(
    std::span<const std::string> digests) {
  std::map<std::string, uint64_t, std::less<>> sizes;
  for (const std::string& digest : digests)
    if (const auto found = store_.state().contents.find(digest);
        found != store_.state().contents.end() && SimStore::is_used(store_.state(), digest))
      sizes.emplace(digest, found->second.size);
  return sizes;
}

Result<bool> SimIndex::is_listed(std::string_view digest) {
  return store_.state().contents.contains(digest);
}

Status SimIndex::strike(std::string_view digest) {
  return store_.transaction([&](SimStore::State& state) -> Status {
    state.contents.erase(std::string(digest));
    return {};
  });
}

Result<std::vector<std::string>> SimIndex::unused() {
  std::vector<std::string> found;
  for (const auto& [digest, content] : store_.state().contents)
    if (!store_.is_alive(content.session) && !SimStore::is_used(store_.state(), digest))
      found.push_back(digest);
  return found;
}

Result<bool> SimIndex::remove_unused(std::string_view digest,
                                     const std::function<Status()>& remove) {
  bool removed = false;
  TRY(store_.transaction([&](SimStore::State& state) -> Status {
    const auto found = state.contents.find(digest);
    if (found != state.contents.end() &&
        (store_.is_alive(found->second.session) || SimStore::is_used(state, digest)))
      return {};
    TRY(remove());
    if (found != state.contents.end())
      state.contents.erase(found);
    removed = true;
    return {};
  }));
  return removed;
}

Result<bool> SimIndex::is_alive(std::string_view session) {
  const std::string text(session);
  return store_.is_alive(std::strtoull(text.c_str(), nullptr, 10));
}

}  // namespace fettle::sim
