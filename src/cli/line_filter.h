#pragma once
/// Lines of two streams that fit a text or an expression. Pieces are put together first; a last
/// line without its end is a line, too.

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <regex.h>

#include "base/result.h"
#include "verbs/environments/inside.h"

namespace fettle {

struct LineFilterOptions {
  std::string text{};        ///< lines with it; empty: all
  std::string expression{};  ///< lines that it fits; empty: all
  bool inverted = false;     ///< the others
  std::string prefix{};      ///< put before each
};

class LineFilter {
 public:
  /// Gets whole lines with their ends.
  using Sink = std::function<Status(OutputStream, std::string_view)>;

  /// Errors: the expression is not valid.
  static Result<LineFilter> make(LineFilterOptions options, Sink sink);
  Status take(OutputStream stream, std::string_view bytes);
  /// There is no more input.
  Status end();

 private:
  LineFilter() = default;
  bool fits(const std::string& line) const;
  Status hand_over(OutputStream stream, const std::string& line);

  LineFilterOptions options_;
  Sink sink_;
  std::shared_ptr<regex_t> expression_;
  std::array<std::string, 2> rests_;  ///< of each stream, what has no end yet
};

}  // namespace fettle
