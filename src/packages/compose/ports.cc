#include "packages/compose/ports.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace fettle::compose {
namespace {

struct Range {
  int first = 0, last = 0;
  int count() const { return last - first + 1; }
};

std::optional<int> port_number(std::string_view text) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = failure == std::errc() && end == text.data() + text.size();
  return is_whole && !text.empty() && number >= 0 && number <= 65535 ? std::optional(number)
                                                                     : std::nullopt;
}

std::optional<Range> range_of(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = port_number(text.substr(0, dash));
  const auto last = dash == text.npos ? first : port_number(text.substr(dash + 1));
  return first && last && *first <= *last ? std::optional(Range{*first, *last}) : std::nullopt;
}

}  // namespace

Result<std::vector<PortForm>> read_port(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return user_error(cat("the port `", printable(text), "` ", why,
                          ", expected `[[ADDRESS:]PUBLISHED:]PORT[/PROTOCOL]`"));
  };
  std::string_view rest = text;
  PortForm form;
  if (const size_t slash = rest.find('/'); slash != rest.npos) {
    form.protocol = lower_case(rest.substr(slash + 1));
    rest = rest.substr(0, slash);
    if (form.protocol != "tcp" && form.protocol != "udp" && form.protocol != "sctp")
      return wrong("has an unknown protocol");
  }
  const size_t colon = rest.rfind(':');
  const auto targets = range_of(colon == rest.npos ? rest : rest.substr(colon + 1));
  if (!targets || targets->first < 1)
    return wrong("is none");
  std::string_view published = colon == rest.npos ? std::string_view() : rest.substr(0, colon);
  if (const size_t before = published.rfind(':'); before != published.npos) {
    std::string_view address = published.substr(0, before);
    if (address.starts_with('[') && address.ends_with(']'))
      address = address.substr(1, address.size() - 2);
    form.address = address;
    published = published.substr(before + 1);
  }
  const auto outside = published.empty() ? std::nullopt : range_of(published);
  if (!published.empty() && !outside)
    return wrong("is none");
  const bool is_choice = outside && targets->count() == 1 && outside->count() > 1;
  if (outside && !is_choice && outside->count() != targets->count())
    return wrong("has ranges of different lengths");
  std::vector<PortForm> forms;
  for (int i = 0; i < targets->count(); ++i) {
    form.target = targets->first + i;
    if (outside)
      form.published = is_choice ? std::string(published) : std::to_string(outside->first + i);
    forms.push_back(form);
  }
  std::ranges::sort(forms, {}, [](const PortForm& one) { return std::to_string(one.target); });
  return forms;
}

}  // namespace fettle::compose
