#pragma once
/// Programs of users that speak JSON lines: plugins of models, handlers, modules of states. One
/// line is asked; of the lines that come back one is the answer. `docs/programs.md` is the
/// contract.
///
///   Program program({.arguments = {path}});
///   const Value answer = TRY(program.call({.request = Value::dict({{"call", "read"}})}, stop));
///
/// A program is started for a call and gets one line. One whose answer says `"serves": "many"` is
/// kept from then on, one call at a time to each child; one that says `"serves": "together"` has
/// one child that any number of calls share, told apart by their `id`. A child that ended is
/// started again. When a shared one ends, each call that was under way and may be repeated is made
/// again in a child of its own, so that only the call that ended it fails.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "base/process.h"
#include "value/value.h"

namespace fettle {

enum class ServeMode : uint8_t {
  once,      ///< started for each call; its input ends behind the line
  many,      ///< kept, one call at a time
  together,  ///< kept, calls at once
};

struct ProgramCall {
  Value request{};            ///< a dict; secrets in it are told to the program
  Duration time_limit = 60s;  ///< 0 is none
  /// Gets the lines `{"log": …}`.
  std::function<void(std::string_view text)> on_log{};
  /// Gets the lines `{"ask": NUMBER, …}`, which only a kept child may write. The result is sent
  /// back. Runs on the thread of the call.
  std::function<Result<Value>(const Value& asked)> on_ask{};
  /// Whether it may be made again when its process ended, which another call may have done.
  bool may_repeat = false;
};

class KeptChild;

/// One program. May be called from any thread.
class Program {
 public:
  /// `how`: the arguments, the folder and the environment.
  explicit Program(Invocation how, ServeMode serving = ServeMode::once);
  ~Program();  ///< no call may be under way; kept children are ended
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// The answer, a dict, be it `error`. Errors (`Blame::world`) tell the last lines that it wrote:
  /// it cannot be started, it crashed, took too long or said what is no answer.
  Result<Value> call(const ProgramCall& call, std::stop_token stop);

 private:
  Result<Value> call_once(const ProgramCall& call, const std::stop_token& stop) const;
  Result<Value> call_kept(const ProgramCall& call, const std::stop_token& stop, bool is_shared);
  Result<Value> call_alone(const ProgramCall& call, const std::stop_token& stop) const;
  Result<std::shared_ptr<KeptChild>> take_child(bool is_shared, bool wants_new);
  void give_back(std::shared_ptr<KeptChild> child, bool is_shared);

  const Invocation how_;
  std::mutex mutex_;
  ServeMode serving_;
  std::vector<std::shared_ptr<KeptChild>> idle_;  ///< children that no call uses
  std::shared_ptr<KeptChild> shared_;             ///< the child of all calls at once
};

/// The answer, or the error that it tells: in the program's own words, its `trace` as the excerpt.
Result<Value> good_answer(Result<Value> answer);

/// Programs by their paths, each with its children. May be used from any thread.
class Programs {
 public:
  Program& at(const std::string& path);

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Program>> known_;
};

}  // namespace fettle
