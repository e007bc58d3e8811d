/// `split`, `rsplit` and `splitlines`.

#include <algorithm>

#include "starlark/eval/bind.h"
#include "starlark/eval/texts.h"
#include "starlark/lib/library.h"
#include "starlark/lib/strings.h"

namespace fettle::starlark {
namespace {

/// A list of parts of a text. A few are gathered before the list is made, since most lists have no
/// more.
class Parts {
 public:
  explicit Parts(Vm& vm, size_t room = 0) : vm_(vm), list_(make_list(vm.heap(), room)) {}
  size_t size() const { return list_ == nullptr ? 0 : list_->size + gathered_; }
  bool push(std::string_view text) {
    const Value made = make_text(vm_.heap(), text);
    if (list_ == nullptr || made.is_error() || (gathered_ == few && !flush())) {
      vm_.fail_memory();
      return false;
    }
    items_[gathered_++] = made;
    return vm_.charge(1 + text.size() / 64);
  }
  /// The list, or an error when it has no room.
  Value finish() { return list_ != nullptr && flush() ? Value::object(list_) : vm_.fail_memory(); }

 private:
  static constexpr uint32_t few = 32;
  bool flush() {
    const size_t wanted = list_->size + gathered_;
    const size_t room = list_->size == 0 ? wanted : std::max<size_t>(wanted, wanted + wanted / 2);
    if (wanted > list_->capacity && !list_reserve(vm_.heap(), list_, room))
      return false;
    std::copy_n(items_, gathered_, list_->items + list_->size);
    list_->size += gathered_;
    gathered_ = 0;
    return true;
  }

  Vm& vm_;
  List* list_;
  Value items_[few];
  uint32_t gathered_ = 0;
};

/// The next word of a text, from `at` on; empty at the end. `at` moves behind it.
std::string_view next_word(std::string_view text, size_t& at) {
  size_t length = 1;
  while (at < text.size() && is_space_at(text, at, length))
    at += length;
  const size_t begin = at;
  while (at < text.size() && !is_space_at(text, at, length))
    at += length;
  return text.substr(begin, at - begin);
}

Value split_space(Vm& vm, std::string_view text, int64_t most, bool from_right) {
  constexpr size_t few = 1 << 12;
  if (most < 0 && text.size() <= few) {
    Parts parts(vm);
    size_t at = 0;
    for (std::string_view word = next_word(text, at); !word.empty(); word = next_word(text, at)) {
      if (!parts.push(word))
        return Value::error();
    }
    return vm.charge(parts.size()) ? parts.finish() : Value::error();
  }
  // Words are counted before any is made: they may need far more room than the text.
  size_t words = 0;
  for (size_t at = 0; !next_word(text, at).empty();)
    ++words;
  const bool is_cut = most >= 0 && words > size_t(most);
  const size_t wanted = is_cut ? size_t(most) + 1 : words;
  if (!vm.charge(words))
    return Value::error();
  Parts parts(vm, wanted);
  size_t at = 0;
  if (is_cut && from_right) {
    // The first words stay together, with the space before and between them.
    for (size_t i = 0; i < words - size_t(most); ++i)
      next_word(text, at);
    if (!parts.push(text.substr(0, at)))
      return Value::error();
  }
  while (parts.size() < wanted) {
    std::string_view word = next_word(text, at);
    if (is_cut && !from_right && parts.size() + 1 == wanted)
      word = text.substr(size_t(word.data() - text.data()));
    if (!parts.push(word))
      return Value::error();
  }
  return parts.finish();
}

Value split_text(Vm& vm, const Arguments& a, bool from_right) {
  if (!want_positional(vm, a, 0, 2) || !charge_text(vm, a))
    return Value::error();
  Value given[2] = {Value::unset(), Value::unset()};
  std::copy_n(a.positional, a.count, given);
  int64_t most = -1;
  if (a.count == 2 && !(vm.is_spec() && given[1].is_none()) && !want_int64(vm, a, 1, most))
    return Value::error();
  const std::string_view text = view_of(a.self);
  if (given[0].is_unset() || given[0].is_none())
    return split_space(vm, text, most < 0 ? -1 : most, from_right);
  if (!is_text(given[0]))
    return vm.fail_with("split: got ", type_name_of(given[0]), " for separator, want string");
  const std::string_view separator = view_of(given[0]);
  if (separator.empty())
    return vm.fail("split: empty separator");
  if (!charge_search(vm, text.size(), separator.size()))
    return Value::error();
  Parts parts(vm);
  if (!from_right) {
    size_t at = 0;
    for (; most != 0; --most) {
      const size_t found = find_text(text, separator, at);
      if (found == std::string_view::npos)
        break;
      if (!parts.push(text.substr(at, found - at)))
        return Value::error();
      at = found + separator.size();
    }
    if (!parts.push(text.substr(at)))
      return Value::error();
    return parts.finish();
  }
  // As from the left, but the first separators are left alone.
  size_t count = 0;
  for (size_t at = find_text(text, separator); at != std::string_view::npos;
       at = find_text(text, separator, at + separator.size()))
    ++count;
  if (!vm.charge(count))
    return Value::error();
  const size_t skipped = most >= 0 && count > size_t(most) ? count - size_t(most) : 0;
  size_t at = 0, from = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t found = find_text(text, separator, from);
    from = found + separator.size();
    if (i < skipped)
      continue;
    if (!parts.push(text.substr(at, found - at)))
      return Value::error();
    at = from;
  }
  if (!parts.push(text.substr(at)))
    return Value::error();
  return parts.finish();
}
}  // namespace

Value string_split(Vm& vm, const Arguments& a) { return split_text(vm, a, false); }
Value string_rsplit(Vm& vm, const Arguments& a) { return split_text(vm, a, true); }

Value string_splitlines(Vm& vm, const Arguments& a) {
  if (!want_positional(vm, a, 0, 1) || !charge_text(vm, a))
    return Value::error();
  bool keep = false;
  if (a.count == 1) {
    if (!a.positional[0].is_bool())
      return wrong_type(vm, a, 0, "bool");
    keep = a.positional[0].is_true();
  }
  Parts parts(vm);
  std::string_view text = view_of(a.self);
  while (!text.empty()) {
    const size_t at = text.find_first_of("\r\n");
    size_t next = text.size();
    if (at != std::string_view::npos)
      next = at + (text.substr(at).starts_with("\r\n") ? 2 : 1);
    if (!parts.push(text.substr(0, keep ? next : at)))
      return Value::error();
    text.remove_prefix(next);
  }
  return parts.finish();
}

}  // namespace fettle::starlark
