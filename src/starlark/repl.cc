#include "starlark/repl.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/text.h"
#include "starlark/eval/vm.h"
#include "starlark/line_editor.h"
#include "starlark/scan.h"

namespace fettle::starlark {
namespace {

std::atomic<bool>* cancelled_by_signal = nullptr;

/// While this lives, ^C ends what the session runs, not the process.
class Interruptible {
 public:
  explicit Interruptible(Session& session) : session_(session) {
    cancelled_by_signal = &session.cancelled;
    before_ = std::signal(SIGINT, [](int) { *cancelled_by_signal = true; });
  }
  ~Interruptible() {
    std::signal(SIGINT, before_);
    session_.cancelled = false;
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  Session& session_;
  void (*before_)(int);
};

std::string history_file() {
  const char* home = std::getenv("HOME");
  return home == nullptr ? std::string() : cat(home, "/.fettle_starlark_history");
}

class Repl {
 public:
  Repl(Session& session, const std::function<void(const Error&, bool)>& report)
      : session_(session), report_(report), thread_(session), editor_(history_file()) {}

  int run() {
    for (;;) {
      const LineEditor::Line line = editor_.read(text_.empty() ? ">>> " : "... ");
      if (line.end == LineEditor::End::closed)
        break;
      if (line.end == LineEditor::End::interrupted) {
        text_.clear();
        block_ = false;
        continue;
      }
      text_ += line.text;
      text_ += '\n';
      block_ = block_ || trim(line.text).ends_with(':');
      if (is_complete(line.text))
        evaluate();
    }
    evaluate();
    return 0;
  }

 private:
  /// A block ends with an empty line.
  bool is_complete(std::string_view last) const {
    if (is_unfinished(text_, session_.state().dialect))
      return false;
    return !block_ || trim(last).empty();
  }

  void evaluate() {
    if (!trim(text_).empty()) {
      const Interruptible interruptible(session_);
      std::vector<NamedValue> visible;
      for (const auto& [name, value] : names_)
        visible.push_back({name, value->get()});
      const Result<Value> value = thread_.evaluate("<stdin>", text_, visible);
      if (value) {
        if (!value->is_none())
          show(*value);
      } else if (!session_.failed_before_running()) {
        report_(value.error(), false);
      } else {
        execute(visible);
      }
      std::fflush(stdout);
    }
    text_.clear();
    block_ = false;
  }

  void show(Value value) {
    const Result<std::string> text = repr_of(thread_, value);
    if (text)
      std::printf("%s\n", text->c_str());
    else
      report_(text.error(), false);
  }

  void execute(std::span<const NamedValue> visible) {
    const auto globals = thread_.execute("<stdin>", text_, visible);
    if (!globals) {
      report_(globals.error(), session_.failed_before_running());
      return;
    }
    for (const auto& [name, global] : *globals)
      names_[name] = std::make_unique<Handle>(thread_, global);
  }

  Session& session_;
  const std::function<void(const Error&, bool)>& report_;
  Thread thread_;
  LineEditor editor_;
  std::string text_;
  bool block_ = false;  ///< some line of it opens a block
  std::map<std::string, std::unique_ptr<Handle>> names_;
};

}  // namespace

int run_repl(Session& session, const std::function<void(const Error&, bool)>& report) {
  return Repl(session, report).run();
}

}  // namespace fettle::starlark
