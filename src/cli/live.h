#pragma once
/// What is under way, for who waits: on a terminal a block at its bottom that is drawn anew while
/// it lasts, a line for the whole and one for each thing below it; or plain lines. What takes less
/// than 300 ms is not worth a line.
///
///   shop: 3 done, 4.2 s
///     create service/web: port `http` does not answer yet  1.2 s
///     create image/redis:7: layer 2 of 5, 12.3 of 80.1 MB  3.1 s
///
/// Whoever prints takes the block away first (`before_output`); it comes back below.

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
  /// What is done now and is no act; empty: it has ended.
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
