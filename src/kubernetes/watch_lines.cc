#include "kubernetes/watch_lines.h"

#include "base/text.h"
#include "value/json.h"

namespace fettle::kubernetes {
namespace {

ApiResult<WatchEvent> read_event(std::string_view line) {
  Result<Value> read = read_json(line, {}, Duplicates::last_wins);
  if (!read)
    return unreadable_error(cat("a watch wrote a line that is no JSON: ", read.error().message));
  const std::string_view type = read->text_at("type");
  const Value& object = read->at("object");
  if (type == "ERROR")
    return api_error_of(object, 0, "watching");
  WatchEvent event{.object = object};
  if (type == "MODIFIED")
    event.type = WatchEvent::Type::modified;
  else if (type == "DELETED")
    event.type = WatchEvent::Type::deleted;
  else if (type == "BOOKMARK")
    event.type = WatchEvent::Type::bookmark;
  else if (type != "ADDED")
    return unreadable_error(cat("a watch told of `", printable(clipped(type, 40)), "`"));
  if (object.at("metadata").text_at("resourceVersion").empty())
    return unreadable_error("a watch told of an object without a resource version");
  return event;
}

}  // namespace

ApiResult<void> WatchLines::feed(std::string_view bytes, const Take& take) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    if (rest_.size() + std::min(end, bytes.size()) > longest_)
      return unreadable_error(cat("a watch wrote a line of more than ", longest_, " bytes"));
    if (end == bytes.npos) {
      rest_ += bytes;
      return {};
    }
    const std::string_view piece = bytes.substr(0, end);
    const std::string line = rest_.empty() ? std::string(piece) : rest_ + std::string(piece);
    rest_.clear();
    bytes.remove_prefix(end + 1);
    if (trim(line).empty())
      continue;
    WatchEvent event = TRY(read_event(line));
    take(std::move(event));
  }
  return {};
}

}  // namespace fettle::kubernetes
