#include "cli/line_filter.h"

#include "base/text.h"

namespace fettle {

Result<LineFilter> LineFilter::make(LineFilterOptions options, Sink sink) {
  LineFilter filter;
  filter.options_ = std::move(options);
  filter.sink_ = std::move(sink);
  const std::string& expression = filter.options_.expression;
  if (expression.empty())
    return filter;
  filter.expression_ = std::shared_ptr<regex_t>(new regex_t{}, [](regex_t* made) {
    regfree(made);
    delete made;
  });
  if (regcomp(filter.expression_.get(), expression.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
    return user_error(cat("`", expression, "` is not a regular expression"));
  return filter;
}

bool LineFilter::fits(const std::string& line) const {
  const bool found =
      (options_.text.empty() || line.find(options_.text) != line.npos) &&
      (expression_ == nullptr || regexec(expression_.get(), line.c_str(), 0, nullptr, 0) == 0);
  return found != options_.inverted;
}

Status LineFilter::hand_over(OutputStream stream, const std::string& line) {
  return fits(line) ? sink_(stream, cat(options_.prefix, line, "\n")) : Status();
}

Status LineFilter::take(OutputStream stream, std::string_view bytes) {
  std::string& rest = rests_[stream == OutputStream::out ? 0 : 1];
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    rest += bytes.substr(0, end);
    if (end == bytes.npos)
      return {};
    bytes.remove_prefix(end + 1);
    TRY(hand_over(stream, std::exchange(rest, {})));
  }
  return {};
}

Status LineFilter::end() {
  for (const OutputStream stream : {OutputStream::out, OutputStream::errors})
    if (std::string& rest = rests_[stream == OutputStream::out ? 0 : 1]; !rest.empty())
      TRY(hand_over(stream, std::exchange(rest, {})));
  return {};
}

}  // namespace fettle
