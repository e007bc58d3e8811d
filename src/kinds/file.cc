#include "kinds/file.h"

#include "base/hash.h"
#include "kinds/kinds.h"
#include "kinds/path_kind.h"

namespace fettle {
namespace {

class FileKind : public PathKind<File, PathOutputs> {
 public:
  FileKind() : PathKind("file", Sort::observable) {}

  Comparison compare(const Record& known, const Observation& seen, Presence) const override {
    const File wanted = read<File>(as_applied(known));
    if (const auto found = compare_presence(wanted.purged.get(), seen, "file"))
      return *found;
    const PathSeen state = read<PathSeen>(*seen.state);
    std::vector<std::string> fields = ownership_that_differs(ownership_of(wanted), state);
    const std::string_view digest = wanted.digest.view();
    // Records of earlier versions do not say with what a hole was filled.
    const bool is_lost = digest.empty() && !known.outputs.is_null() &&
                         read<File>(known.applied->attributes).content.has_hole();
    if (is_lost || (!digest.empty() && wanted.digest.value() != state.digest))
      fields.insert(fields.begin(), "content");
    return drift_of(std::move(fields));
  }

 protected:
  Status check(File& wanted) const override {
    const Value& given = wanted.content.value();
    const Value& content = given.is_secret() ? given.inside() : given;
    if (!content.is_null() && !content.is_text() && !content.is_unknown() && !content.is_deferred())
      return user_error("`content` must be a string");
    if (content.is_text())
      wanted.digest = sha256_hex(content.text());
    return normalise_ownership(wanted.mode, wanted.owner, wanted.group);
  }
};

}  // namespace

const Members& File::members() {
  static const Members all{
      required<&File::path>("path", "absolute"),
      anything<&File::content>("content", "text; null: it does not matter"),
      member<&File::digest>("digest", "sha256 of the content, or of a blob that has it"),
      anything<&File::mode>("mode", "`0644`; null: it does not matter"),
      anything<&File::owner>("owner", "name or number; null: it does not matter"),
      anything<&File::group>("group", "name or number; null: it does not matter"),
      member<&File::purged>("purged", "it should be absent")};
  return all;
}

const Members& PathOutputs::members() {
  static const Members all{member<&PathOutputs::path>("path", "where it is"),
                           given<&PathOutputs::digest>("digest", "of the wanted content"),
                           given<&PathOutputs::mode>("mode", "that is wanted"),
                           given<&PathOutputs::owner>("owner", "that is wanted"),
                           given<&PathOutputs::group>("group", "that is wanted"),
                           given<&PathOutputs::leads_to>("leads_to", "where a link leads")};
  return all;
}

const TypedKind& file_kind() {
  static const FileKind kind;
  return kind;
}

}  // namespace fettle
