#pragma once
/// An expected failure is a value. The function that finds it says what happened; its caller adds
/// what it was doing; nobody logs and returns.
///
///   const Value value = TRY(read_json(text).context("reading the arguments"));
///
/// Messages are lower case, without full stop, with names in backquotes.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace fettle {

/// Whose turn it is: the user corrects the input, the world may answer otherwise next time, and a
/// bug is ours.
enum class Blame { user, world, bug };

/// A place in a text that somebody wrote. Lines and columns count from 1; 0 means unknown.
/// Columns count code points.
struct Where {
  std::string file;
  int line = 0;
  int column = 0;
  bool operator==(const Where&) const = default;
};

/// `file:line:column`, as far as it is known.
std::string to_string(const Where& where);
/// The place that `file:line:column` names; anything else is a file.
Where where_in(std::string_view text);

struct Error {
  Blame blame = Blame::world;
  std::string message;
  Where where;
  std::string excerpt;  ///< lines of the source with a caret, ready to print; may be empty
  std::vector<std::string> trace;  ///< what was being done, innermost first
  bool unknown_outcome = false;    ///< nobody knows whether what was asked for happened
  std::string lost_content;        ///< the digest of a content that is lost or damaged; else empty

  Error() = default;
  Error(Blame blame_, std::string message_, Where where_ = {})
      : blame(blame_), message(std::move(message_)), where(std::move(where_)) {}

  /// Adds what the caller was doing.
  Error context(std::string doing) && {
    trace.push_back(std::move(doing));
    return std::move(*this);
  }
};

/// One line: `doing: …: message`, with the place in front if it is known.
std::string to_string(const Error& error);

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  Result(Error error) : tl::expected<T, Error>(tl::unexpect, std::move(error)) {}  // NOLINT: meant

  /// The same result. An error also gets what the caller was doing.
  Result context(std::string doing) && {
    if (!*this)
      this->error().trace.push_back(std::move(doing));
    return std::move(*this);
  }
};

using Status = Result<void>;

inline Error user_error(std::string message, Where where = {}) {
  return Error(Blame::user, std::move(message), std::move(where));
}
inline Error world_error(std::string message) { return Error(Blame::world, std::move(message)); }

/// The error of what a stop token ended, and whether one is that.
Error cancelled_error();
bool is_cancelled(const Error& error);

}  // namespace fettle

#define FETTLE_JOIN_(a, b) a##b
#define FETTLE_JOIN(a, b) FETTLE_JOIN_(a, b)
#define FETTLE_TRY(name, ...)                 \
  __extension__({                             \
    auto name = (__VA_ARGS__);                \
    if (!name)                                \
      return std::move(name).error();         \
    ::fettle::unwrap_of_try(std::move(name)); \
  })

/// The value of a `Result`, or a return of its error. Only as a whole statement or initialiser.
#define TRY(...) FETTLE_TRY(FETTLE_JOIN(result_of_try_, __COUNTER__), __VA_ARGS__)

namespace fettle {
template <typename T>
T unwrap_of_try(Result<T>&& result) {
  if constexpr (!std::is_void_v<T>)
    return std::move(*result);
}
}  // namespace fettle
