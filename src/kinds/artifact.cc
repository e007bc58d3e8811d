/// A files artifact: a named tree of files, kept as a reproducible tar among the blobs. Where it
/// comes from:
///
/// attributes  {"source": "upload", "digest": sha256 of its tar}
///             {"source": "render", "templates": {path: {"template": text, "data": value}}}
///             {"source": "service", "service": name, "path": absolute path inside}
///             {"source": "task", "digest": hole on the task's output}
///             {"source": "url", "url": text}
/// outputs     {"digest": sha256 of its tar, "uuid": 32 hex digits, kept for the life of the name}
/// seen        {"digest"}: the blob is there

#include "kinds/kinds.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class ArtifactKind : public Kind {
 public:
  Name name() const override { return "artifact"; }
  Sort sort() const override { return Sort::observable; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"source", Field::text, {}},
                               {"digest", Field::text, ""},
                               {"templates", Field::dict, Value::dict({})},
                               {"service", Field::text, ""},
                               {"path", Field::text, ""},
                               {"url", Field::text, ""}};
    return schema.normalise(attributes);
  }
  bool in_place_changes(const Value&, const Value&) const override { return true; }
  std::vector<Name> contents(const Value& outputs) const override {
    return {Name(outputs.text_at("digest"))};
  }
  /// What is copied out of a service depends on what was done in it before.
  Role role(const Value& attributes) const override {
    return attributes.text_at("source") == "service" ? Role::reads : Role::none;
  }
};

}  // namespace

const Kind& artifact_kind() {
  static const ArtifactKind kind;
  return kind;
}

}  // namespace fettle
