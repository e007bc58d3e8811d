#pragma once
/// A block of a file after rendering: its data, and where the parts stand in the sources.

#include <memory>
#include <span>
#include <vector>

#include "states/position.h"
#include "template/jinja/jinja.h"
#include "value/tree.h"

namespace fettle::states {

/// Maps places in a rendered text to places in the texts that it came from.
class PlaceMap {
 public:
  PlaceMap() = default;
  /// For text that was not rendered. Its first line is `line` of the file.
  PlaceMap(uint32_t file, uint32_t line);
  /// For rendered text. `files` are the numbers of the traced files. Text from the first one stands
  /// in the text that `before` maps.
  PlaceMap(const jinja::TracedText& traced, std::span<const uint32_t> files, PlaceMap before);

  Position position(Place place) const;

 private:
  struct Piece {
    Place begin;        ///< in the rendered text
    Place source;       ///< in its file
    uint32_t file = 0;  ///< among the traced ones
    bool is_literal = false;
  };
  Place source_of(const Piece& piece, Place place) const;

  uint32_t file_ = 0;
  uint32_t line_ = 1;
  std::vector<Piece> pieces_;
  std::vector<uint32_t> files_;
  std::shared_ptr<const PlaceMap> before_;
};

struct Document {
  Tree tree;
  PlaceMap places;
  Name ref;             ///< of its file
  uint32_t file = 0;    ///< in `Texts`
  bool refers = false;  ///< whether its text may hold references
  Name prefix{};        ///< of its IDs (`sls.run`), which its own requisites leave out
  Position position(const TreeNode& node) const { return places.position(node.place()); }
};

}  // namespace fettle::states
