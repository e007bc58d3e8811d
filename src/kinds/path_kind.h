#pragma once
/// The common part of the kinds of things at a path: file, folder, link.

#include "kinds/kind_of.h"
#include "kinds/owned.h"

namespace fettle {

/// `PathStruct` has at least `path` and `purged`; `PathOutputs` has `path`.
template <typename PathStruct, typename PathOutputs>
class PathKind : public KindOf<PathStruct, PathOutputs, PathSeen> {
 public:
  using KindOf<PathStruct, PathOutputs, PathSeen>::KindOf;
  bool is_marked() const override { return false; }

  /// A path with an output of something else in it is known once the thing was made.
  std::string place(const Attributes& attributes, const Outputs& outputs) const override {
    const PathStruct wanted = read<PathStruct>(attributes);
    if (wanted.purged.get())
      return {};
    return place_of_path(wanted.path.is_text() ? wanted.path.get()
                                               : read<PathOutputs>(outputs).path);
  }

  bool in_place_changes(const Attributes& before, const Attributes& after) const override {
    return read<PathStruct>(before).path == read<PathStruct>(after).path;
  }

 protected:
  virtual Status check(PathStruct& wanted) const = 0;

  Result<Attributes> settle(Attributes normal) const override {
    PathStruct wanted = read<PathStruct>(normal);
    TRY(check_path(wanted.path));
    TRY(check(wanted));
    return Attributes(write(wanted));
  }
};

}  // namespace fettle
