#include "kubernetes/watch_lines.h"

#include "base/text.h"
#include "value/json.h"

namespace fettle::kubernetes {
namespace {

ApiResult<WatchEvent> read_event(const JsonReader& reader, std::string_view line) {
  Result<Value> read = read_by(reader, line);
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

Result<Value> read_by(const JsonReader& reader, std::string_view json) {
  return reader ? reader(json) : read_json(json, {}, Duplicates::last_wins);
}

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
    bytes.remove_prefix(end + 1);
    if (rest_.empty()) {
      TRY(take_line(piece, take));
    } else {
      rest_ += piece;
      TRY(take_line(rest_, take));
      rest_.clear();
    }
  }
  return {};
}

ApiResult<void> WatchLines::take_line(std::string_view line, const Take& take) {
  if (!trim(line).empty())
    take(TRY(read_event(reader_, line)));
  return {};
}

}  // namespace fettle::kubernetes
