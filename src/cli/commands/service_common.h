#pragma once
/// The common part of the commands about services.

#include "cli/command.h"
#include "cli/line_filter.h"
#include "verbs/environments/copies.h"
#include "verbs/environments/inside.h"

namespace fettle {

/// Writes to stdout or stderr as it comes. An error when nobody reads it any more.
Status to_terminal(OutputStream stream, std::string_view bytes);

/// Takes what a command in a container prints: onto the terminal as it comes or, for a document,
/// until it ends.
class ExecOutput {
 public:
  explicit ExecOutput(const Face& face) : face_(face) {}
  /// Error (`Blame::user`): a document of what a terminal shows.
  Status check(const ExecOptions& options) const;
  StreamSink sink();
  /// Prints the document, when one is wanted; the exit code of the command.
  int end(int64_t code) const;

 private:
  const Face& face_;
  std::string output_, errors_;
};

/// The service that a command names behind the environment.
Result<std::string> service_asked(const Face& face, const Environment& environment);

struct ChosenService {
  Workplace* place;
  Name environment;
  ServiceView service;
};
Result<ChosenService> choose_service(Face& face);

/// Attributes with what other resources put out in place of the holes, as far as that is known.
Result<Value> filled(const Workplace& place, const Name& environment, const Attributes& attributes);

/// `-i` and `-t` of `exec`.
std::vector<CommandOption> talk_options();
/// Talks with a command by standard input and, when the options say so, by this terminal. `hold`
/// runs it; the answer is its exit code. Error (`Blame::user`): there is no terminal.
Result<int> talk_with(
    ExecOptions options,
    const std::function<Result<int64_t>(const ExecOptions&, const TalkEnds&)>& hold);

using LineSink = std::function<Status(Value)>;
/// Prints such lines: each as it comes with `jsonl`, else all in one document at the end.
class LineDocument {
 public:
  explicit LineDocument(const Face& face) : face_(face) {}
  LineSink sink();
  void end();

 private:
  const Face& face_;
  std::vector<Value> lines_;
};

/// Lines of logs with their times as values: `time`, `text`, `stream` beside what `about` says;
/// those that do not pass `filter` are left out. `read` reads them.
Status tell_lines_as_values(std::vector<Entry> about, const LineFilterOptions& filter,
                            const LineSink& sink,
                            const std::function<Status(const StreamSink&)>& read);

/// The value of the flag `name` as seconds since 1970, with a fraction: `10m` ago, a time such as
/// `2026-11-22T13:42:15Z`, or a number of such seconds. Empty: it is not given. Error
/// (`Blame::user`): it is none of those.
Result<std::string> moment_asked(const Face& face, const Workplace& place, const std::string& name);

Command logs_command();
/// `service exec`, `shell` and `cp`.
std::vector<Command> inside_commands();

}  // namespace fettle
