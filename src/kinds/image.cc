/// A container image, by its reference, on an engine. Its key's name is the reference; on a node,
/// `NODE|REFERENCE`; of one that a hole says, any name that is no reference.
///
/// attributes  {"reference": "redis:7", "pull": "missing" | "always"}, and where they say anything:
///             "node"; "digest": `sha256:…` that is pulled and then called by the reference, so
///             that a tag that moves meanwhile is the same everywhere; "attempts": how often a pull
///             is tried before it has failed; "timeout": seconds of one attempt; "credentials":
///             data of Secrets with registry credentials, each tried in turn; "labels",
///             "annotations": hints to what pulls
/// outputs     {"id": "sha256:…"}: what the reference means now; users embed it, so that a moved
///             tag is a change; "digest": `sha256:…` of the manifest that was pulled; "reference",
///             where the name does not say it
/// seen        {"id"}

#include "kinds/image_reference.h"
#include "kinds/kinds.h"
#include "kinds/pod.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class ImageKind : public Kind {
 public:
  Name name() const override { return "image"; }
  std::string shown(const Name& name) const override { return shown_on_node(name.view()); }
  Sort sort() const override { return Sort::observable; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Value none = Value::dict({});
    static const Schema schema{{"reference", Field::text, {}},
                               {"pull", Field::text, "missing"},
                               {"node", Field::text, ""},
                               {"digest", Field::text, ""},
                               {"attempts", Field::integer, 0},
                               {"timeout", Field::integer, 0},
                               {"credentials", Field::list, Value::list({})},
                               {"labels", Field::dict, none},
                               {"annotations", Field::dict, none}};
    const Value normal = TRY(schema.normalise(attributes));
    if (const Value& reference = normal.at("reference"); reference.is_text())
      TRY(check_image_reference(reference.text()));
    const auto says_nothing = [&](const Value& value) {
      return value == Value("") || value == Value(0) || value == Value::list({}) || value == none;
    };
    std::vector<Entry> entries;
    for (const Entry& entry : normal.entries())
      if (entry.key == "reference" || entry.key == "pull" || !says_nothing(entry.value))
        entries.push_back(entry);
    return Value::dict(std::move(entries));
  }
  Comparison compare(const Record& known, const Observation& seen,
                     Presence expected) const override {
    if (!seen.state)
      return Kind::compare(known, seen, expected);
    if (seen.state->at("id") != known.outputs.at("id"))
      return {Verb::update, {"id"}, "the engine has another image with this name"};
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
