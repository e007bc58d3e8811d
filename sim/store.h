#pragma once
/// A store in memory: transactions happen wholly or not at all, the last ones may be lost with the
/// power, and who writes may be told that it failed, or die. One object is the file; each process
/// opens an edit and an index of contents of its own.

#include <deque>
#include <map>
#include <set>
#include <string>

#include "base/prng.h"
#include "store/blobs.h"
#include "store/edit.h"

namespace fettle::sim {

class SimStore {
 public:
  /// What one transaction leaves to the next.
  struct State {
    Known known;
    struct Content {
      uint64_t size = 0;
      uint64_t session = 0;  ///< who put it and has not referred to it; 0: nobody
    };
    std::map<std::string, Content, std::less<>> contents;
    uint64_t token = 0;  ///< of who may write
  };

  const Known& known() const { return states_.back().known; }
  const State& state() const { return states_.back(); }

  /// Somebody takes the right to write, whoever has it.
  uint64_t take_right();
  /// The last transactions, up to `most`, never happened.
  void lose_last(Prng& prng, size_t most);

  /// Runs as one transaction; the state is kept when it succeeds.
  Status transaction(const std::function<Status(State&)>& write);
  /// Whether a record refers to a content.
  static bool is_used(const State& state, std::string_view digest);

  uint64_t begin_session() { return *alive_.insert(++last_session_).first; }
  void end_session(uint64_t session) { alive_.erase(session); }
  bool is_alive(uint64_t session) const { return alive_.contains(session); }

 private:
  static constexpr size_t remembered_states = 6;
  std::deque<State> states_{State{}};
  std::set<uint64_t> alive_;
  uint64_t last_session_ = 0;
};

/// The right of one process to write records. `before` and `after` each transaction may say that it
/// fails or that the process is dead.
class SimEdit : public Edit {
 public:
  SimEdit(SimStore& store, Name environment, std::function<Status()> before,
          std::function<Status(std::span<const Change>)> after)
      : store_(store),
        environment_(std::move(environment)),
        before_(std::move(before)),
        after_(std::move(after)),
        token_(store.take_right()) {}
  const Name& environment() const override { return environment_; }
  uint64_t number() const override { return token_; }
  Status write(std::span<const Change> changes) override;
  Status put_environment(const Environment&) override { return {}; }
  Status put_note(std::string_view, const Value&) override { return {}; }
  Status begin_removal() override { return {}; }
  Status remove_environment() override { return {}; }

 private:
  SimStore& store_;
  Name environment_;
  std::function<Status()> before_;
  std::function<Status(std::span<const Change>)> after_;
  uint64_t token_;
};

/// The contents as one process lists them.
class SimIndex : public BlobIndex {
 public:
  explicit SimIndex(SimStore& store) : store_(store), session_(store.begin_session()) {}
  ~SimIndex() override { store_.end_session(session_); }
  Status add(std::string_view digest, uint64_t size, const std::function<Status()>& move) override;
  Result<std::optional<uint64_t>> find(std::string_view digest) override;
  Result<std::map<std::string, uint64_t, std::less<>>> find_used(
      std::span<const std::string> digests) override;
  Result<bool> is_listed(std::string_view digest) override;
  Status strike(std::string_view digest) override;
  Result<std::vector<std::string>> unused() override;
  Result<bool> remove_unused(std::string_view digest,
                             const std::function<Status()>& remove) override;
  Result<std::string> session() override { return std::to_string(session_); }
  Result<bool> is_alive(std::string_view session) override;

 private:
  SimStore& store_;
  uint64_t session_;
};

}  // namespace fettle::sim
