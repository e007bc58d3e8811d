#include "remote/path_filter.h"

namespace fettle {
namespace {

constexpr std::string_view root_folder = "/root";
constexpr size_t most_digits = 4;

}  // namespace

PathFilter::Fit PathFilter::fit(std::string_view text, size_t& length) const {
  const std::string_view head = text.substr(0, begin_.size());
  if (!std::string_view(begin_).starts_with(head))
    return Fit::no;
  if (head.size() < begin_.size())
    return Fit::partly;
  size_t at = begin_.size();
  while (at < text.size() && at < begin_.size() + most_digits && text[at] >= '0' && text[at] <= '9')
    ++at;
  if (at == text.size())
    return Fit::partly;
  const std::string_view tail = text.substr(at, root_folder.size());
  if (at == begin_.size() || !root_folder.starts_with(tail))
    return Fit::no;
  length = at + root_folder.size();
  return tail.size() < root_folder.size() ? Fit::partly : Fit::whole;
}

std::string PathFilter::pass(std::string_view bytes) {
  held_.append(bytes);
  std::string told;
  size_t from = 0;
  for (size_t at = held_.find('/'); at != held_.npos; at = held_.find('/', at)) {
    size_t length = 0;
    const Fit found = fit(std::string_view(held_).substr(at), length);
    if (found == Fit::partly) {
      told.append(held_, from, at - from);
      held_.erase(0, at);
      return told;
    }
    if (found == Fit::no) {
      ++at;
      continue;
    }
    told.append(held_, from, at - from);
    at += length;
    from = at;
  }
  told.append(held_, from);
  held_.clear();
  return told;
}

}  // namespace fettle
