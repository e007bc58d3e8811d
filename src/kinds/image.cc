#include "kinds/image.h"

#include "kinds/image_reference.h"
#include "kinds/kind_of.h"
#include "kinds/kinds.h"
#include "kinds/pod.h"

namespace fettle {
namespace {

class ImageKind : public KindOf<Image, ImageOutputs, ImageSeen> {
 public:
  ImageKind() : KindOf("image", Sort::observable) {}
  std::string shown(const Name& name) const override { return shown_on_node(name.view()); }
  Comparison compare(const Record& known, const Observation& seen,
                     Presence expected) const override {
    if (!seen.state)
      return Kind::compare(known, seen, expected);
    if (read<ImageSeen>(*seen.state).id != read<ImageOutputs>(known.outputs).id)
      return {Verb::update, {"id"}, "the engine has another image with this name"};
    return {};
  }
  /// Pulling again replaces nothing: the reference means another image afterwards.
  bool in_place_changes(const Attributes&, const Attributes&) const override { return true; }

 protected:
  Result<Attributes> settle(Attributes normal) const override {
    if (const Image image = read<Image>(normal); image.reference.is_text())
      TRY(check_image_reference(image.reference.get()));
    return normal;
  }
};

}  // namespace

const Members& Image::members() {
  static const Members all{
      required<&Image::reference>("reference", "`redis:7`"),
      member<&Image::pull>("pull", "`missing` or `always`"),
      extra<&Image::node>("node", "the node that pulls"),
      extra<&Image::digest>("digest",
                            "`sha256:…` that is pulled and then called by the reference, so that a "
                            "tag that moves meanwhile is the same everywhere"),
      extra<&Image::attempts>("attempts", "how often a pull is tried before it has failed"),
      extra<&Image::timeout>("timeout", "seconds of one attempt"),
      extra<&Image::credentials>("credentials",
                                 "data of Secrets with registry credentials, each tried in turn"),
      extra<&Image::labels>("labels", "{key: text}: hints to what pulls"),
      extra<&Image::annotations>("annotations", "{key: text}: hints to what pulls"),
      extra<&Image::job>("job",
                         "in a cluster, `NAMESPACE/NAME` of the ImagePullJob that asks for it")};
  return all;
}

const Members& ImageOutputs::members() {
  static const Members all{
      member<&ImageOutputs::id>(
          "id",
          "`sha256:…`: what the reference means now; users embed it, so that a moved tag is a "
          "change"),
      given<&ImageOutputs::digest>("digest", "`sha256:…` of the manifest that was pulled"),
      extra<&ImageOutputs::reference>("reference", "where the name does not say it")};
  return all;
}

const Members& ImageSeen::members() {
  static const Members all{member<&ImageSeen::id>("id", "`sha256:…`")};
  return all;
}

const TypedKind& image_kind() {
  static const ImageKind kind;
  return kind;
}

}  // namespace fettle
