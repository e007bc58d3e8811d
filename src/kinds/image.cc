/// A container image, by its reference, on an engine.
///
/// attributes  {"reference": "redis:7", "pull": "missing" | "always"}
/// outputs     {"id": "sha256:…"}: what the reference means now; users embed it, so that a moved
/// tag
///             is a change
/// seen        {"id"}

#include "kinds/kinds.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class ImageKind : public Kind {
 public:
  Name name() const override { return "image"; }
  Sort sort() const override { return Sort::observable; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"reference", Field::text, {}}, {"pull", Field::text, "missing"}};
    return schema.normalise(attributes);
  }
  Comparison compare(const Record& known, const Observation& seen,
                     Presence expected) const override {
    if (!seen.state)
      return Kind::compare(known, seen, expected);
    if (seen.state->at("id") != known.outputs.at("id"))
      return {Verb::update, {"id"}, "the engine has another image of this name"};
    return {};
  }
  /// Pulling anew replaces nothing: the reference means another image afterwards.
  bool in_place_changes(const Value&, const Value&) const override { return true; }
};

}  // namespace

const Kind& image_kind() {
  static const ImageKind kind;
  return kind;
}

}  // namespace fettle
