#pragma once
/// Shows what is under way to somebody who waits: on a terminal, in a block at its bottom that is
/// drawn again and again; else in plain lines.
///
///     shop: 3 done, 4.2 s
///       create service/web: port `http` does not answer yet  1.2 s
///       create image/redis:7: layer 2 of 5, 12.3 of 80.1 MB  3.1 s
///
/// Results and errors are printed meanwhile, and they must stay readable above, in pipes and in the
/// terminal's history. A terminal has no layers: whatever is written moves all the rest. The
/// obvious way, one line that ends in a carriage return, fails with the second thing under way, and
/// with a line that is wider than the window. A program that takes the whole screen, as an editor
/// does, leaves nothing in the history. So the block is ordinary text below everything else,
/// written to standard error. Before anybody prints, it is erased (`before_output`), and the next
/// frame draws it again below what was printed.
///
/// Events and progress come from threads that act, and must not wait for a terminal: they are only
/// noted. A thread of its own draws ten times a second. What lasts less than 300 ms gets no line,
/// since nobody could read it.
///
/// Invariants:
/// * Only whoever holds the mutex of the output draws or erases. That mutex is taken first, then
///   that of the view.
/// * After each frame the cursor stands at the beginning of the line below the block. `drawn_` has
///   the widths of its lines, so that `erase` goes up by as many rows as they take in the window of
///   now.
/// * No line is as wide as the window, and the block is lower than the window, unless that has one
///   row.
/// * No text from outside moves the cursor: control characters are written `\xNN`. Secrets of acts
///   are masked.
/// * When the view is gone, so are its block and its thread.

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "workplace/workplace.h"

namespace fettle {

enum class LiveMode { none, plain, live };

/// `--progress`, else what the terminal can. Error (`Blame::user`): another word.
Result<LiveMode> live_mode(const std::string& asked, bool is_quiet, bool can_move);

/// A block for a window of so many columns: no line is wider, the last words of a line stay. At
/// most `rows` lines. Control characters, and bytes that are no UTF-8, are written `\xNN`.
struct LiveLine {
  std::string text;  ///< what is done, and how far it is
  Duration lasted{0};
};
std::vector<std::string> live_block(const std::string& title, const std::vector<LiveLine>& lines,
                                    size_t columns, size_t rows);

/// `12.3 of 80.1 MB`, `3 of 9`; empty without a total.
std::string share_text(int64_t done, int64_t total);

class Live : public Audience {
 public:
  /// Draws on standard error. `interrupt` says whether somebody asked to stop.
  Live(LiveMode mode, const Interrupt& interrupt);
  ~Live() override;
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  LiveMode mode() const { return mode_; }
  /// The first line is there from now on, and says this.
  void open(const std::string& title);
  /// Something is done now that is no act. Empty: it has ended.
  void doing(const std::string& what);

  void event(const Event& event) override;
  void progress(const Key& key, const Progress& progress) override;

 private:
  struct Item {
    std::string label, text;
    int64_t done = 0, total = 0;
    Instant began{};
    Instant told{};  ///< in plain lines
  };
  void begin(const Key& key, std::string label);
  void end(const Key& key);
  void need_thread();  ///< begins it, under `mutex_`
  void tick();
  void draw();
  void erase();
  void tell_plainly();
  std::string title_now() const;
  std::string text_of(const Item& item) const;

  const LiveMode mode_;
  const Interrupt& interrupt_;
  std::mutex mutex_;  ///< of what follows; taken inside that of the output
  std::condition_variable wakes_;
  std::map<Key, Item> items_;
  std::string title_, environment_;
  size_t ended_ = 0;  ///< acts
  Instant began_{};
  bool is_open_ = false, ends_ = false;
  std::vector<size_t> drawn_;  ///< the widths of the lines that stand there
  std::jthread thread_;
};

}  // namespace fettle
