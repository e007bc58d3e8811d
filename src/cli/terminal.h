#pragma once
/// The terminal that somebody types at: handed over raw, given back as it was.

#include <termios.h>

#include "core/container_engine.h"

namespace fettle {

/// The size of the window of a terminal; none when it is not one.
std::optional<WindowSize> window_size(int terminal);

/// While it lives, each key reaches whoever reads the terminal as it is typed, Ctrl-C too, and
/// changes of the window ring a bell. Does nothing to what is no terminal.
class RawTerminal {
 public:
  explicit RawTerminal(int terminal);
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  /// Readable when the window may have another size.
  int bell() const;

 private:
  int terminal_;
  bool is_raw_ = false;
  termios before_{};
};

}  // namespace fettle
