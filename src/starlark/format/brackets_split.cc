#include "starlark/format/brackets_split.h"

#include <algorithm>

#include "base/text.h"
#include "starlark/format/literals.h"

namespace fettle::starlark::layout {
namespace {

enum class Piece : uint8_t { head, body, tail };

/// Which tokens are in brackets of which both are there, and these brackets.
std::vector<bool> in_whole_brackets(const std::vector<Part*>& parts) {
  struct Level {
    Kind closing;
    std::vector<size_t> places;
  };
  std::vector<bool> inside(parts.size());
  std::vector<Level> open;
  bool has_begun = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Kind kind = parts[i]->kind;
    if (is_opening(kind)) {
      has_begun = true;
      open.push_back({closing_of(kind), {i}});
    } else if (is_closing(kind) && has_begun) {
      if (open.empty() || open.back().closing != kind)
        break;
      open.back().places.push_back(i);
      for (const size_t place : open.back().places)
        inside[place] = true;
      open.pop_back();
    } else if (!open.empty()) {
      open.back().places.push_back(i);
    }
  }
  return inside;
}

/// The parameters of a definition get a comma behind the last.
void add_comma(std::vector<Part*>& tokens, const Line& whole, const Part& opening, Parts& parts) {
  if (tokens.empty() || !whole.is_definition() || opening.text != "(" ||
      std::ranges::any_of(tokens, [](Part* part) { return part->kind == Kind::comma; }))
    return;
  for (size_t i = tokens.size(); i-- > 0;) {
    if (tokens[i]->kind == Kind::own_comment)
      continue;
    tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                  parts.token(Kind::comma, ","));
    return;
  }
}

/// Whether what was in brackets has each item on a line of its own.
bool has_items(const Line& body, const Part& opening) {
  if (opening.parent == nullptr || body.parts.empty())
    return false;
  const Part* const last = body.parts.back();
  const bool ends_in_comma = last->kind == Kind::comma;
  return body.brackets.highest(ends_in_comma ? last : nullptr) == priority::comma &&
         (ends_in_comma || opening.parent->kind == Kind::atom);
}

Line piece_of(std::vector<Part*> tokens, const Line& whole, const Part& opening, Piece piece,
              Parts& parts) {
  const bool is_body = piece == Piece::body;
  Line line(whole.depth + (is_body ? 1 : 0), is_body);
  if (is_body)
    add_comma(tokens, whole, opening, parts);
  const std::vector<bool> tracked =
      piece == Piece::head ? in_whole_brackets(tokens) : std::vector<bool>(tokens.size());
  line.parts.reserve(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    line.append(tokens[i], true, tracked[i]);
    for (Part* const comment : whole.comments_after(tokens[i]))
      line.append(comment, true);
  }
  line.must_split = is_body && has_items(line, opening);
  return line;
}

/// Splitting empty brackets to save a character or two is not worth a line.
bool is_worth_it(const Line& body, const Line& tail) {
  return !body.is_empty() || trim(tail.text()).size() >= 3;
}

BracketSplit pieces_of(const Line& line, size_t body, size_t tail, Part* opening, Part* closing,
                       Parts& parts) {
  const auto slice = [&](size_t from, size_t to) {
    return std::vector<Part*>(line.parts.begin() + static_cast<std::ptrdiff_t>(from),
                              line.parts.begin() + static_cast<std::ptrdiff_t>(to));
  };
  return {piece_of(slice(0, body), line, *opening, Piece::head, parts),
          piece_of(slice(body, tail), line, *opening, Piece::body, parts),
          piece_of(slice(tail, line.parts.size()), line, *opening, Piece::tail, parts), opening,
          closing};
}

/// Finds the omissions from the end of a line on.
class OmissionSearch {
 public:
  OmissionSearch(const Line& line, const std::function<bool(const Omission&)>& try_split)
      : line_(line), try_split_(try_split) {}

  void run() {
    if (line_.magic_comma == nullptr && try_split_(omitted_))
      return;
    int length = 4 * line_.depth;
    for (size_t i = line_.parts.size(); i-- > 0;) {
      const Part& part = *line_.parts[i];
      if (part.text.find('\n') != part.text.npos)
        return;
      const int size = line_.length_of_part(part);
      length += size;
      if (length > line_length || part.kind == Kind::own_comment ||
          size > length_of(part.text) + part.spaces || !pass(part, i))
        return;
    }
  }

 private:
  /// False: no bracket further on may be omitted, or a split was found.
  bool pass(const Part& part, size_t i) {
    const Part* const previous = i > 0 ? line_.parts[i - 1] : nullptr;
    if (opening_ != nullptr) {
      if (&part == opening_)
        opening_ = nullptr;
      else if (is_closing(part.kind)) {
        if (has_items_before(part, previous, i))
          return false;
        inner_.push_back(&part);
      }
      return true;
    }
    if (!is_closing(part.kind))
      return true;
    if (previous != nullptr && is_opening(previous->kind)) {
      inner_.push_back(&part);  // empty brackets cannot be split alone
      return true;
    }
    if (closing_ != nullptr) {
      omitted_.push_back(closing_);
      omitted_.insert(omitted_.end(), inner_.begin(), inner_.end());
      inner_.clear();
      if (try_split_(omitted_))
        return false;
    }
    if (has_items_before(part, previous, i))
      return false;
    if (!part.text.empty()) {
      opening_ = part.opening;
      closing_ = &part;
    }
    return true;
  }

  /// Brackets with a comma at their end are always split.
  bool has_items_before(const Part& closing, const Part* previous, size_t i) const {
    return previous != nullptr && previous->kind == Kind::comma && closing.opening != nullptr &&
           !is_one_item(closing, line_.parts, i, Kind::open_paren);
  }

  const Line& line_;
  const std::function<bool(const Omission&)>& try_split_;
  Omission omitted_, inner_;
  const Part* opening_ = nullptr;
  const Part* closing_ = nullptr;
};

}  // namespace

std::optional<std::vector<Line>> split_at_first_brackets(const Line& line, Parts& parts) {
  Part *opening = nullptr, *closing = nullptr;
  size_t body = 0, tail = 0;
  for (size_t i = 0; i < line.parts.size() && tail == 0; ++i) {
    Part* const part = line.parts[i];
    if (opening != nullptr && is_closing(part->kind) && part->opening == opening) {
      if (i == body) {
        opening = nullptr;  // there is nothing in them
        continue;
      }
      closing = part;
      tail = i;
    } else if (opening == nullptr && part->kind == Kind::open_paren) {
      opening = part;
      body = i + 1;
    }
  }
  if (tail == 0)
    return std::nullopt;
  make_visible(opening);
  make_visible(closing);
  BracketSplit split = pieces_of(line, body, tail, opening, closing, parts);
  if (!is_worth_it(split.body, split.tail))
    return std::nullopt;
  std::vector<Line> lines;
  for (Line* const piece : {&split.head, &split.body, &split.tail})
    if (!piece->is_empty())
      lines.push_back(std::move(*piece));
  return lines;
}

std::optional<BracketSplit> split_at_last_brackets(const Line& line, const Omission& omitted,
                                                   Parts& parts) {
  const std::vector<Part*>& all = line.parts;
  size_t tail = all.size();
  Part* closing = nullptr;
  size_t body = 0;
  for (size_t i = all.size(); i-- > 0;) {
    if (closing == nullptr) {
      if (is_closing(all[i]->kind) && std::ranges::find(omitted, all[i]) == omitted.end()) {
        closing = all[i];
        tail = i;
      }
    } else if (all[i] == closing->opening) {
      if (i + 1 != tail) {
        body = i + 1;
        break;
      }
      closing = nullptr;  // there is nothing in them: they belong to what is behind
    }
  }
  if (closing == nullptr || body == 0)
    return std::nullopt;
  BracketSplit split = pieces_of(line, body, tail, closing->opening, closing, parts);
  if (!is_worth_it(split.body, split.tail))
    return std::nullopt;
  return split;
}

void for_each_omission(const Line& line, const std::function<bool(const Omission&)>& try_split) {
  OmissionSearch(line, try_split).run();
}

}  // namespace fettle::starlark::layout
