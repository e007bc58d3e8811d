#pragma once
/// Other programs. A child leads a process group (or a session) of its own, so that what it starts
/// can be ended with it. It begins with no signal blocked or ignored and with no descriptor of ours
/// but its standard streams.
///
///   const Finished made = TRY(run_process({.arguments = {"git", "status"}}, stop));

#include <csignal>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "base/result.h"
#include "base/time.h"

namespace fettle {

struct Invocation {
  std::vector<std::string> arguments;  ///< the first is the program, looked up in `PATH`
  std::vector<std::pair<std::string, std::string>>
      environment{};                   ///< beside what we have ourselves
  std::vector<std::string> without{};  ///< variables of ours that it does not get
  bool clean_environment = false;      ///< nothing of ours
  bool session = false;                ///< of its own: there is no terminal on which to ask
  Path directory{};                    ///< empty: ours
  std::string input{};
  Duration time_limit{0};     ///< 0 is none
  Duration silence_limit{0};  ///< without a byte of output; 0 is none
  Duration grace = 2s;        ///< between TERM and KILL after a limit
  size_t output_limit = 64 << 20;
  ByteSink on_output{};  ///< gets what is written to stdout instead of `ProcessResult::output`
  ByteSink on_errors{};
  /// It is a program that we need ourselves (git, ssh, an engine), with words of ours.
  bool is_own = false;
  /// Runs in the child just before the program. It may only make system calls: no memory may be
  /// asked for, no lock taken. An answer other than 0 is an `errno` that fails the start.
  std::function<int()> prepare{};
};

struct ProcessResult {
  int code = 0;    ///< the exit code, or 128 + the signal that ended it
  int signal = 0;  ///< 0 when it exited by itself
  std::string output;
  std::string errors;
};

/// Why only programs that we need ourselves are started: this process works for somebody who may not
/// have others run here. Set once, before anything is read. Empty: any may be started.
std::string& why_only_own_programs();

/// Runs to the end. A code other than 0 is no error; a program that cannot be started, the limits
/// and the stop token are, and the whole process group is ended then, for a stop within 100 ms.
/// What a program that ended by itself left running in its group stays.
Result<ProcessResult> run_process(const Invocation& command, std::stop_token stop);

/// Kills the groups of all children that somebody waits for, when the process has to leave at once.
void kill_children();

/// Starts and does not wait: a session of its own that outlives us, with `output` (or nothing) as
/// stdout and stderr. `input` and the limits are not used.
Result<pid_t> start_detached(const Invocation& command, const Path& output = {});

/// A child with which one talks: its stdin and stdout are one socket.
class Dialogue {
 public:
  enum class Errors { ours, kept };
  /// `kept`: what it writes to stderr is read from `errors()`, else it goes where ours goes.
  static Result<Dialogue> start(const Invocation& command, Errors errors = Errors::ours);
  Dialogue(Dialogue&&) noexcept;
  Dialogue& operator=(Dialogue&&) = delete;
  ~Dialogue();  ///< ends the child and its group
  int descriptor() const;
  int errors() const;
  /// Ends the talk. The child may take `patience` to leave by itself and `grace` from TERM to KILL;
  /// its group does not outlive it. Tells how it ended; what it wrote to `errors()` is still there.
  ProcessResult end(Duration patience, Duration grace = 1s);

 private:
  struct State;
  explicit Dialogue(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The path of `program` in `PATH` and the folders of system programs. Empty: it is in none.
Path find_program(std::string_view program);

}  // namespace fettle
