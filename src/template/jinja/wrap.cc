#include "template/jinja/wrap.h"

#include <algorithm>

#include "base/text.h"
#include "value/python.h"

namespace fettle::jinja {
namespace {

using Points = std::vector<std::string_view>;

bool is_blank_point(std::string_view point) {
  return point.size() == 1 && std::string_view(" \t\n\r\v\f").find(point) != std::string_view::npos;
}
bool is_letter(std::string_view point) {
  return point == "_" || python::is_all(point, python::Letters::alpha);
}
bool is_word(std::string_view point) {
  return point == "_" || python::is_all(point, python::Letters::alnum);
}
bool ends_word(std::string_view point) {
  return is_word(point) || std::string_view("!\"'&.,?").find(point) != std::string_view::npos;
}

/// Where a paragraph may be broken.
class Chunks {
 public:
  Chunks(const Points& points, bool breaks_hyphens)
      : points_(points), breaks_hyphens_(breaks_hyphens) {}

  /// The end of the chunk that begins at a place.
  size_t end_of(size_t begin) const {
    size_t end = begin;
    if (is_blank_point(points_[begin])) {
      while (end < points_.size() && is_blank_point(points_[end]))
        ++end;
      return end;
    }
    if (breaks_hyphens_ && is_dash_between_words(begin))
      return end_of_hyphens(begin);
    for (++end; end < points_.size() && !is_blank_point(points_[end]); ++end) {
      if (breaks_hyphens_ && is_hyphen_within_word(end))
        return end + 1;
      if (breaks_hyphens_ && is_dash_between_words(end))
        return end;
    }
    return end;
  }

 private:
  bool is_at(size_t at, bool (*is_kind)(std::string_view)) const {
    return at < points_.size() && is_kind(points_[at]);
  }
  size_t end_of_hyphens(size_t at) const {
    while (at < points_.size() && points_[at] == "-")
      ++at;
    return at;
  }
  bool is_dash_between_words(size_t at) const {
    const size_t end = end_of_hyphens(at);
    return end >= at + 2 && at > 0 && ends_word(points_[at - 1]) && is_at(end, is_word);
  }
  /// A hyphen after two letters, or one behind another hyphen, and before as many.
  bool is_hyphen_within_word(size_t at) const {
    if (points_[at] != "-" || at < 2 || !is_letter(points_[at - 1]))
      return false;
    const bool is_after = is_letter(points_[at - 2]) ||
                          (at > 2 && points_[at - 2] == "-" && is_letter(points_[at - 3]));
    const size_t next = at + 2 + (at + 2 < points_.size() && points_[at + 2] == "-" ? 1 : 0);
    return is_after && is_at(at + 1, is_letter) && is_at(next, is_letter);
  }

  const Points& points_;
  const bool breaks_hyphens_;
};

std::string text_of(const Points& points, size_t begin, size_t end) {
  std::string made;
  for (size_t i = begin; i < end; ++i)
    made += points[i];
  return made;
}

/// Where a long word is broken that begins at a place: behind a hyphen, else where the room ends.
size_t broken_at(const Points& points, size_t word, size_t room, bool breaks_hyphens) {
  const auto other = std::find_if(points.begin() + static_cast<ptrdiff_t>(word), points.end(),
                                  [](std::string_view point) { return point != "-"; });
  const auto first_other = static_cast<size_t>(other - points.begin());
  for (size_t at = word + room; breaks_hyphens && at-- > first_other + 1;)
    if (points[at] == "-")
      return at + 1;
  return word + room;
}

}  // namespace

std::vector<std::string> wrapped(std::string_view paragraph, const WrapOptions& wrapping) {
  const Points points = python::points_of(paragraph).list();
  const Chunks chunks(points, wrapping.breaks_hyphens);
  std::vector<std::string> lines;
  size_t at = 0;
  size_t end_of_chunk = 0;
  const auto chunk_end = [&] {
    if (at >= end_of_chunk)
      end_of_chunk = chunks.end_of(at);
    return end_of_chunk;
  };
  while (at < points.size()) {
    if (is_blank_point(points[at]) && !lines.empty())
      at = chunk_end();
    const size_t begin = at;
    size_t last = at;  // where the last chunk of the line begins
    while (at < points.size() && chunk_end() - begin <= wrapping.width) {
      last = at;
      at = chunk_end();
    }
    if (at < points.size() && chunk_end() - at > wrapping.width &&
        (wrapping.breaks_words || at == begin)) {
      last = at;  // though its part may be empty
      at = wrapping.breaks_words
               ? broken_at(points, at, wrapping.width - (at - begin), wrapping.breaks_hyphens)
               : chunk_end();
    }
    size_t end = at;
    const bool is_last_blank =
        std::all_of(points.begin() + static_cast<ptrdiff_t>(last),
                    points.begin() + static_cast<ptrdiff_t>(end), is_blank_point);
    if (is_last_blank)
      end = last;
    if (end > begin)
      lines.push_back(text_of(points, begin, end));
  }
  return lines;
}

}  // namespace fettle::jinja
