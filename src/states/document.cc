#include "states/document.h"

#include <algorithm>

namespace fettle::states {
namespace {

bool is_before(Place a, Place b) {
  return a.line != b.line ? a.line < b.line : a.column < b.column;
}

}  // namespace

PlaceMap::PlaceMap(uint32_t file, uint32_t line) : file_(file), line_(line) {}

PlaceMap::PlaceMap(const jinja::TracedText& traced, std::span<const uint32_t> files,
                   PlaceMap before)
    : files_(files.begin(), files.end()),
      before_(std::make_shared<const PlaceMap>(std::move(before))) {
  pieces_.reserve(traced.origins.size());
  Place here{1, 1};
  size_t at = 0;
  for (const jinja::Origin& origin : traced.origins) {
    for (; at < origin.offset; ++at)
      if (traced.text[at] == '\n')
        here = {here.line + 1, 1};
      else if ((static_cast<unsigned char>(traced.text[at]) & 0xC0) != 0x80)
        ++here.column;
    const Place source{static_cast<uint32_t>(origin.line), static_cast<uint32_t>(origin.column)};
    pieces_.push_back({here, source, origin.file, origin.is_literal});
  }
}

/// Behind this place, the template's own text continues as it does here.
Place PlaceMap::source_of(const Piece& piece, Place place) const {
  if (!piece.is_literal)
    return piece.source;
  if (place.line == piece.begin.line)
    return {piece.source.line, piece.source.column + place.column - piece.begin.column};
  return {piece.source.line + place.line - piece.begin.line, place.column};
}

Position PlaceMap::position(Place place) const {
  if (place.line == 0)
    return {file_, 0, 0};
  if (before_ == nullptr)
    return {file_, place.line + line_ - 1, place.column};
  auto next = std::upper_bound(pieces_.begin(), pieces_.end(), place,
                               [](Place a, const Piece& b) { return is_before(a, b.begin); });
  if (next == pieces_.begin())
    return before_->position({1, 1});
  const Piece& piece = *--next;
  const Place source = source_of(piece, place);
  if (piece.file == 0)
    return before_->position(source);
  return {files_[piece.file], source.line, source.column};
}

}  // namespace fettle::states
