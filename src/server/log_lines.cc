#include "server/log_lines.h"

#include "base/printable.h"
#include "documents/containers.h"

namespace fettle {
namespace {

constexpr size_t longest_line = 65'536;
constexpr std::array streams{OutputStream::out, OutputStream::errors};

}  // namespace

Status LogLines::take(OutputStream stream, std::string_view bytes) {
  std::string& rest = rests_[static_cast<size_t>(stream)];
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    rest += part.substr(0, longest_line - std::min(longest_line, rest.size()));
    if (end == bytes.npos)
      break;
    add(stream, std::exchange(rest, {}));
    bytes.remove_prefix(end + 1);
  }
  return {};
}

std::vector<Value> LogLines::finish() {
  for (const OutputStream stream : streams)
    if (const std::string rest = std::exchange(rests_[static_cast<size_t>(stream)], {});
        !rest.empty())
      add(stream, rest);
  return std::move(lines_);
}

void LogLines::add(OutputStream stream, std::string_view line) {
  const size_t space = line.find(' ');
  const std::string_view text = space == line.npos ? std::string_view() : line.substr(space + 1);
  lines_.push_back(
      log_line({{"service", service_}}, stream, line.substr(0, space), printable_lines(text)));
}

}  // namespace fettle
