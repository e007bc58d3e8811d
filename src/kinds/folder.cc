#include "kinds/folder.h"

#include "kinds/file.h"
#include "kinds/kinds.h"
#include "kinds/path_kind.h"

namespace fettle {
namespace {

class FolderKind : public PathKind<Folder, PathOutputs> {
 public:
  FolderKind() : PathKind("folder", Sort::observable) {}

  Comparison compare(const Record& known, const Observation& seen, Presence) const override {
    const Folder wanted = read<Folder>(as_applied(known));
    if (const auto found = compare_presence(wanted.purged.get(), seen, "folder"))
      return *found;
    return drift_of(ownership_that_differs(ownership_of(wanted), read<PathSeen>(*seen.state)));
  }

 protected:
  Status check(Folder& wanted) const override {
    if (wanted.path.is_text() && wanted.path.view().find_first_not_of("/.") == std::string::npos)
      return user_error("the root folder cannot be managed");
    return normalise_ownership(wanted.mode, wanted.owner, wanted.group);
  }
};

}  // namespace

const Members& Folder::members() {
  static const Members all{
      required<&Folder::path>("path", "absolute"),
      anything<&Folder::mode>("mode", "`0755`; null: it does not matter"),
      anything<&Folder::owner>("owner", "name or number; null: it does not matter"),
      anything<&Folder::group>("group", "name or number; null: it does not matter"),
      member<&Folder::purged>("purged", "it should be absent, with everything in it")};
  return all;
}

const TypedKind& folder_kind() {
  static const FolderKind kind;
  return kind;
}

}  // namespace fettle
