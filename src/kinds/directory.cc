#include "kinds/directory.h"

#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

class DirectoryKind : public KindOf<Directory, VolumeOutputs, VolumeOutputs> {
 public:
  DirectoryKind() : KindOf("directory", Sort::observable) {}
  /// Its content is worth more than its size.
  bool in_place_changes(const Attributes&, const Attributes&) const override { return true; }
};

}  // namespace

const Members& Directory::members() {
  static const Members all{
      member<&Directory::size>("size", "MB; only an engine that reserves room uses it")};
  return all;
}

const Members& VolumeOutputs::members() {
  static const Members all{member<&VolumeOutputs::volume>("volume", "the engine's name for it")};
  return all;
}

const TypedKind& directory_kind() {
  static const DirectoryKind kind;
  return kind;
}

}  // namespace fettle
