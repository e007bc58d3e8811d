#include "packages/compose/fields.h"

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "base/time.h"

namespace fettle::compose {
namespace {

Error unexpected(const Node& node, std::string_view key, std::string_view expected) {
  return error_at(node, cat("`", key, "` must be ", expected, ", it is ",
                            node.is_scalar() ? cat("`", printable(clipped(node.text(), 60)), "`")
                                             : std::string(kind_of(node))));
}

/// A number at the beginning of a text, which loses it.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  const auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (failure != std::errc() || !std::isfinite(number))
    return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

}  // namespace

const Node* given(const Node& dict, std::string_view key) {
  const Node* const found = dict.find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

Result<std::string> text_of(const Node& node, std::string_view key) {
  return node.is_scalar() ? Result<std::string>(node.text()) : unexpected(node, key, "a text");
}

Result<bool> truth_of(const Node& node, std::string_view key) {
  const std::string text = lower_case(node.text());
  if (text == "true" || text == "y" || text == "yes" || text == "on")
    return true;
  if (text == "false" || text == "n" || text == "no" || text == "off")
    return false;
  return unexpected(node, key, "true or false");
}

Result<int64_t> integer_of(const Node& node, std::string_view key) {
  const std::string text = node.text();
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size())
    return unexpected(node, key, "a whole number");
  return number;
}

Result<int64_t> thousandths_of(const Node& node, std::string_view key) {
  const std::string text = node.text();
  std::string_view rest = text;
  const std::optional<double> number = take_number(rest);
  constexpr double most = 1'000'000;
  if (!number || !rest.empty() || *number < 0 || *number > most)
    return unexpected(node, key, "a number of processors, such as 0.5");
  return std::llround(*number * 1000);
}

Result<int64_t> bytes_of(const Node& node, std::string_view key) {
  const std::string text = lower_case(node.text());
  std::string_view rest = text;
  const std::optional<double> number = take_number(rest);
  rest = trim(rest);
  constexpr std::string_view units = "bkmgtp";
  double factor = 1;
  if (!rest.empty()) {
    const size_t unit = units.find(rest.front());
    const std::string_view behind = rest.substr(1);
    if (unit == units.npos || !(behind.empty() || behind == "b" || behind == "ib"))
      return unexpected(node, key, "a size, such as `64m`");
    factor = std::pow(1024.0, static_cast<double>(unit));
  }
  constexpr double most = 4e18;
  if (!number || *number < 0 || *number * factor > most)
    return unexpected(node, key, "a size, such as `64m`");
  return static_cast<int64_t>(*number * factor);
}

Result<int64_t> milliseconds_of(const Node& node, std::string_view key) {
  const Result<Duration> duration = parse_duration(node.text());
  if (!duration || *duration < Duration::zero())
    return unexpected(node, key, "a duration, such as `30s` or `1m30s`");
  return std::chrono::duration_cast<std::chrono::milliseconds>(*duration).count();
}

Result<std::vector<std::string>> texts_of(const Node& node, std::string_view key) {
  if (!node.is_list())
    return unexpected(node, key, "a list of texts");
  std::vector<std::string> texts;
  for (const Node& item : node.items)
    texts.push_back(TRY(text_of(item, key)));
  return texts;
}

}  // namespace fettle::compose
