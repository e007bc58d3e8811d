#include "value/shared_json.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/text.h"
#include "value/json.h"
#include "value/quoted.h"

namespace fettle {
namespace {

/// Deeper ones are rare, and left to the reader that needs no stack.
constexpr int deepest_shared = 100;

/// A list or dict in a text.
struct Extent {
  uint32_t begin = 0, end = 0;
  uint32_t next = 0;  ///< the first one that is not inside it
};

/// In the order in which they begin. None: brackets or quotes do not match.
std::optional<std::vector<Extent>> extents_of(std::string_view text) {
  std::vector<Extent> found;
  std::vector<uint32_t> open;
  if (text.size() > std::numeric_limits<uint32_t>::max())
    return {};
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = end_of_quoted(text, i);
      if (i == text.npos)
        return {};
      continue;
    }
    if (c == '{' || c == '[') {
      open.push_back(static_cast<uint32_t>(found.size()));
      found.push_back({.begin = static_cast<uint32_t>(i)});
    } else if (c == '}' || c == ']') {
      if (open.empty() || text[found[open.back()].begin] != (c == '}' ? '{' : '['))
        return {};
      Extent& ended = found[open.back()];
      ended.end = static_cast<uint32_t>(i + 1);
      ended.next = static_cast<uint32_t>(found.size());
      open.pop_back();
    }
    ++i;
  }
  if (!open.empty())
    return {};
  return found;
}

}  // namespace

/// Reads one text. None: it is wrong, or not of the usual kind.
class SharedJson::Reading {
 public:
  Reading(SharedJson& shared, std::string_view text, std::vector<Extent> extents)
      : shared_(shared), text_(text), extents_(std::move(extents)) {}

  std::optional<Value> read() {
    std::optional<Value> value = read_value((1u << shared_.left_out_.size()) - 1, 0);
    skip_space();
    if (at_ != text_.size())
      return {};
    return value;
  }

 private:
  /// A bit for each path that is left out and goes on from here.
  using Paths = uint32_t;

  std::optional<Value> read_value(Paths paths, int depth) {
    skip_space();
    const char c = peek();
    if (c == '"')
      return read_string();
    if (c == '{' || c == '[')
      return read_container(paths, depth);
    return read_scalar();
  }

  std::optional<Value> read_container(Paths paths, int depth) {
    if (depth >= deepest_shared)
      return {};
    const Extent extent = extents_[next_];
    // Where something is left out, equal bytes need not have equal values.
    if (paths != 0)
      return read_members(paths, depth);
    const std::string_view bytes = text_.substr(extent.begin, extent.end - extent.begin);
    const Digest digest = fingerprint(bytes);
    if (Place& place = shared_.place(digest); place.digest == digest && place.is_kept) {
      pass(extent);
      return place.value;
    }
    std::optional<Value> value = read_members(paths, depth);
    if (value)
      note(digest, *value);
    return value;
  }

  std::optional<Value> read_members(Paths paths, int depth) {
    ++next_;
    return text_[at_++] == '{' ? read_dict(paths, depth) : read_list(paths, depth);
  }

  std::optional<Value> read_dict(Paths paths, int depth) {
    std::vector<Entry> entries;
    if (take('}'))
      return Value::dict(std::move(entries));
    do {
      skip_space();
      if (peek() != '"')
        return {};
      const std::optional<Value> key = read_string();
      if (!key || !take(':'))
        return {};
      const Name name = key->text();
      if (ends_path(paths, name, depth)) {
        if (!pass_value())
          return {};
        continue;
      }
      std::optional<Value> value = read_value(narrowed(paths, name, depth), depth + 1);
      if (!value)
        return {};
      entries.push_back({name, *std::move(value)});
    } while (take(','));
    if (!take('}'))
      return {};
    return Value::dict(std::move(entries));
  }

  std::optional<Value> read_list(Paths paths, int depth) {
    std::vector<Value> items;
    if (take(']'))
      return Value::list(std::move(items));
    do {
      std::optional<Value> item = read_value(narrowed(paths, "*", depth), depth + 1);
      if (!item)
        return {};
      items.push_back(*std::move(item));
    } while (take(','));
    if (!take(']'))
      return {};
    return Value::list(std::move(items));
  }

  std::optional<Value> read_string() {
    const size_t end = end_of_quoted(text_, at_);
    if (end == text_.npos)
      return {};
    const std::string_view bytes = text_.substr(at_, end - at_);
    at_ = end;
    const Digest digest = fingerprint(bytes);
    if (const Place& place = shared_.place(digest); place.digest == digest && place.is_kept)
      return place.value;
    const std::string_view inside = bytes.substr(1, bytes.size() - 2);
    const bool is_plain = std::ranges::all_of(
        inside, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '\\'; });
    std::optional<Value> value;
    if (is_plain && is_valid_utf8(inside))
      value = Value(inside);
    else if (Result<Value> read = read_json(bytes); read)
      value = *std::move(read);
    if (value)
      note(digest, *value);
    return value;
  }

  std::optional<Value> read_scalar() {
    const size_t end = std::min(text_.find_first_of(",]} \t\r\n:\"{[", at_), text_.size());
    const std::string_view bytes = text_.substr(at_, end - at_);
    at_ = end;
    if (bytes == "true" || bytes == "false")
      return Value(bytes == "true");
    if (bytes == "null")
      return Value();
    Result<Value> read = read_json(bytes);
    if (!read)
      return {};
    return *std::move(read);
  }

  /// Also of a value that is left out, which is only known to have an end.
  bool pass_value() {
    skip_space();
    if (peek() == '{' || peek() == '[') {
      pass(extents_[next_]);
      return true;
    }
    return (peek() == '"' ? read_string() : read_scalar()).has_value();
  }

  void pass(const Extent& extent) {
    at_ = extent.end;
    next_ = extent.next;
  }

  bool ends_path(Paths paths, std::string_view key, int depth) const {
    for (size_t i = 0; i < shared_.left_out_.size(); ++i)
      if (const Path& path = shared_.left_out_[i]; (paths >> i & 1) != 0 &&
                                                   path.size() == static_cast<size_t>(depth) + 1 &&
                                                   path.back() == key)
        return true;
    return false;
  }

  Paths narrowed(Paths paths, std::string_view key, int depth) const {
    for (size_t i = 0; paths >> i != 0; ++i)
      if (const Path& path = shared_.left_out_[i];
          path.size() <= static_cast<size_t>(depth) || path[static_cast<size_t>(depth)] != key)
        paths &= ~(1u << i);
    return paths;
  }

  void note(Digest digest, const Value& value) {
    Place& place = shared_.place(digest);
    const bool is_second = place.digest == digest;
    place = {.digest = digest, .value = is_second ? value : Value(), .is_kept = is_second};
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    skip_space();
    const bool is_there = peek() == c;
    at_ += is_there ? 1 : 0;
    return is_there;
  }

  SharedJson& shared_;
  const std::string_view text_;
  const std::vector<Extent> extents_;
  size_t at_ = 0;
  size_t next_ = 0;  ///< of the extents
};

SharedJson::Place& SharedJson::place(Digest digest) { return met_[digest.low & (places_ - 1)]; }

Result<Value> SharedJson::read(std::string_view text) {
  if (met_.empty())
    met_.resize(places_);
  if (std::optional<std::vector<Extent>> extents = extents_of(text))
    if (std::optional<Value> value = Reading(*this, text, *std::move(extents)).read())
      return *std::move(value);
  return read_json(text, {}, Duplicates::last_wins);
}

}  // namespace fettle
