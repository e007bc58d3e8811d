#pragma once
/// Text as Python writes it, which models and templates show: `repr`, the format mini-language, and
/// `str.format`. Errors are worded as Python words them: `ValueError: …`.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace fettle::python {

/// `repr` of a float: the shortest text that reads back as the same number.
std::string real_text(double number);
/// `str` of a value: a text is itself. Secrets are masked.
std::string text(const Value& value);
/// `repr` of a text, in quotes.
std::string quoted(std::string_view text);

/// The code points of a text, which is what iteration over it gives. They are found while one walks
/// over them: a list of them takes many times what the text takes.
class Points {
 public:
  class Iterator {
   public:
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(std::string_view rest) : rest_(rest), size_(first_size(rest)) {}
    std::string_view operator*() const { return rest_.substr(0, size_); }
    Iterator& operator++() {
      rest_.remove_prefix(size_);
      size_ = first_size(rest_);
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return rest_.size() == other.rest_.size(); }

   private:
    std::string_view rest_;
    size_t size_ = 0;
  };

  explicit Points(std::string_view text) : text_(text) {}
  Iterator begin() const { return Iterator(text_); }
  Iterator end() const { return Iterator(text_.substr(text_.size())); }
  bool empty() const { return text_.empty(); }
  std::string_view front() const { return *begin(); }
  /// These walk over the text.
  size_t size() const;
  std::string_view first(size_t count) const;
  /// Returns as many as the present budget allows.
  std::vector<std::string_view> list() const;

 private:
  static size_t first_size(std::string_view text);

  std::string_view text_;
};
inline Points points_of(std::string_view text) { return Points(text); }

/// `text.upper()` and `text.lower()`, over all of Unicode.
std::string upper(std::string_view text);
std::string lower(std::string_view text);

/// The questions of `str.isalpha()` and the like about every code point.
enum class Letters { alpha, alnum, decimal, digit, numeric, space };
/// Whether a text has code points, and each of them is of the kind.
bool is_all(std::string_view text, Letters kind);
/// `str.isidentifier()`.
bool is_identifier(std::string_view text);

/// `json.dumps(text)`: in quotes, ASCII only.
std::string json_text(std::string_view text);
/// `json.dumps(value, indent=N)`: ASCII only, without a last line end. Secrets are masked.
std::string json_dumps(const Value& value, int indent);

/// `format(value, spec)`.
Result<std::string> format_integer(int64_t number, std::string_view spec);
/// An integer of any size (`value/whole.h`).
Result<std::string> format_whole(std::string_view digits, std::string_view spec);
Result<std::string> format_real(double number, std::string_view spec);
Result<std::string> format_text(std::string_view text, std::string_view spec);

/// The text of a field `name!conversion:spec`. The name has its number when it was written without.
using Field = std::function<Result<std::string>(std::string_view name, char conversion,
                                                std::string_view spec)>;

/// `text.format(…)`.
Result<std::string> format(std::string_view text, const Field& field);

}  // namespace fettle::python
