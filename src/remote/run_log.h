#pragma once
/// Runs of a server: what a command prints is kept in a file, in the frames in which it is sent. So
/// a run goes on when its client goes, waits for nobody who reads slowly, and somebody who comes
/// later reads all of it.
///
/// `RUNS/NUMBER` has `about` (JSON), `frames`, `code` when it has ended, `lock`, which its process
/// holds while it lives, and `control`, a pipe by which others ask it to stop. Nothing is kept in a
/// server's memory: one that is started anew knows all runs, and those that died with it.

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/time.h"
#include "remote/frames.h"
#include "remote/rights.h"
#include "value/value.h"

namespace fettle {

/// What is known of a run when it begins.
struct RunAbout {
  std::string command;                      ///< without secrets
  std::string token{};                      ///< the name of the token that began it
  std::vector<std::string> environments{};  ///< which it concerns; none: nobody can say
  Right watch = Right::read;                ///< what others need to see what it prints
  std::string token_id{};                   ///< as in `Grant`
};

class RunLog {
 public:
  /// Gives the run its number, and removes the oldest that have ended.
  static Result<RunLog> begin(const Path& runs, const RunAbout& about, Time now);

  int64_t number() const { return number_; }
  /// Beyond 256 MB nothing is kept, and the last line says so.
  Status add(FrameType type, std::string_view payload);
  uint64_t size() const { return size_; }
  Status end(int code);
  /// Readable when somebody asks the run to stop; `take_request` takes the question away.
  int control() const { return control_.get(); }
  void take_request() const;
  /// Bytes from a place on, at most a piece.
  Result<std::string> read(uint64_t from) const;

 private:
  RunLog(Path folder, int64_t number, LockFile lock);
  Path folder_;
  int64_t number_;
  LockFile lock_;
  Descriptor frames_, control_;
  uint64_t size_ = 0;
  bool is_full_ = false;
};

struct RunView {
  int64_t number = 0;
  std::string command;
  std::string
      token;  ///< the name of the token that began it; empty: an earlier version did not say
  std::string began;
  bool is_running = false;
  std::optional<int64_t> code;              ///< none though it does not run: its process was killed
  std::vector<std::string> environments{};  ///< known to the server alone, as what follows
  Right watch = Right::read;
  std::string token_id{};
};
/// The oldest first.
std::vector<RunView> list_runs(const Path& runs);
/// Error (`Blame::user`): there is none of this number. 0: the last one that runs, else the last.
Result<RunView> find_run(const std::vector<RunView>& runs, int64_t number);
Result<RunView> find_run(const Path& runs, int64_t number);
/// A part of what a run has printed.
struct RunPieces {
  std::vector<Frame>
      pieces{};       ///< `output` and `errors`, those of one stream behind each other as one
  uint64_t next = 0;  ///< where the rest begins, in bytes of its file
};
/// What a run has printed from a place on: 0, or `next` of the part before. About a megabyte at most.
/// Error (`Blame::user`): no piece begins there.
Result<RunPieces> read_pieces(const Path& runs, int64_t number, uint64_t after);
/// Error (`Blame::user`): it has ended.
Status ask_to_stop(const Path& runs, int64_t number);

/// `running`, `ended` or `killed`.
std::string_view status_of(const RunView& run);
/// As it is sent.
Value sent_form(const RunView& run);
RunView run_view_of(const Value& sent);

}  // namespace fettle
