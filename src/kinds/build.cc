#include "kinds/build.h"

#include "kinds/image_reference.h"
#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

class BuildKind : public KindOf<ImageBuild, ImageBuildOutputs, ImageBuildOutputs> {
 public:
  BuildKind() : KindOf("build", Sort::observable) {}
  /// The old image is not touched: its users decide for themselves.
  bool in_place_changes(const Attributes&, const Attributes&) const override { return true; }

 protected:
  Result<Attributes> settle(Attributes normal) const override {
    const ImageBuild build = read<ImageBuild>(normal);
    if (!build.image.is_text())
      return normal;
    const std::string_view image = build.image.view();
    TRY(check_image_reference(image));
    if (image.find('@') != image.npos || image.starts_with("sha256:"))
      return user_error(
          cat("image `", image, "` is invalid: one that is built is named without a digest"));
    return normal;
  }
};

}  // namespace

std::string name_of_build(std::string_view image) {
  std::string name = full_reference(image);
  for (const std::string_view common : {"docker.io/library/", "docker.io/"})
    if (name.starts_with(common)) {
      name = name.substr(common.size());
      break;
    }
  return name.ends_with(":latest") ? name.substr(0, name.size() - 7) : name;
}

Value built_image_hole(const Name& build) {
  return Value::deferred({Part(Output{build_kind().name(), build, "id"})});
}

const Members& ImageBuild::members() {
  static const Members all{
      required<&ImageBuild::image>("image", "the name that it gets"),
      required<&ImageBuild::context>("context", "sha256 of the tar that is sent"),
      member<&ImageBuild::file>("file", "the Dockerfile, relative to the context"),
      member<&ImageBuild::target>("target", "the stage; empty: the last one"),
      member<&ImageBuild::arguments>("arguments", "{ARG: text}"),
      member<&ImageBuild::bases>("bases",
                                 "{reference: hole on the id} of the images that it is made from"),
      member<&ImageBuild::files>("files",
                                 "{path: digest of what is at or below it}: the context, so that "
                                 "a change can be named"),
      extra<&ImageBuild::heredoc>("heredoc",
                                  "the line of the first here-document, which older builders "
                                  "cannot read"),
      extra<&ImageBuild::secrets>("secrets",
                                  "{id: text} of those that commands mount; null: there is none "
                                  "of this id"),
      extra<&ImageBuild::nix_output>("nix_output",
                                     "the output of the flake `file`, which Nix builds; empty: "
                                     "`file` is a Dockerfile")};
  return all;
}

const Members& ImageBuildOutputs::members() {
  static const Members all{member<&ImageBuildOutputs::id>(
      "id", "`sha256:…`; users embed it, so that another image is a change")};
  return all;
}

const TypedKind& build_kind() {
  static const BuildKind kind;
  return kind;
}

}  // namespace fettle
