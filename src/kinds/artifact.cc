/// A files artifact: a named tree of files, kept as a reproducible tar among the blobs. Where it
/// comes from:
///
/// attributes  {"source": "upload", "digest": sha256 of its tar}
///             {"source": "render", "templates": {path: {"template": text, "data": value}}}
///             {"source": "service", "service": name, "path": absolute path inside}
///             {"source": "task", "digest": hole on the task's output}
///             {"source": "url", "url": text, "address": secret}: what is downloaded, as a file
///             {"source": "web", …}: the same, or what is in it when it is an archive
///             "address": the whole URL, when there is more to it than may be told
/// outputs     {"digest": sha256 of its tar, "uuid": 32 hex digits, kept for the life of the name,
///             "etag": the tag of what was downloaded, when there was one}
/// seen        {"digest"}: the blob is there; "other": true when there is something else at the URL;
///             "unasked": why nobody can tell what is there now

#include <charconv>

#include "base/http.h"
#include "base/text.h"
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
                               {"url", Field::text, ""},
                               {"address", Field::any, Value()}};
    const Value normal = TRY(schema.normalise(attributes));
    std::vector<Entry> entries;
    for (const Entry& entry : normal.entries())
      if (entry.key != "address" || !entry.value.is_null())
        entries.push_back(entry);
    return Value::dict(std::move(entries));
  }
  Comparison compare(const Record& known, const Observation& seen,
                     Presence expected) const override {
    if (seen.state && seen.state->bool_at("other") && known.applied)
      return {Verb::update,
              {},
              cat("what is at ", known.applied->attributes.text_at("url"), " changed")};
    return Kind::compare(known, seen, expected);
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

namespace {

std::string_view without_author(std::string_view name) { return name.substr(0, name.find('~')); }

}  // namespace

std::string_view artifact_name(const Key& key) { return without_author(key.name); }

int artifact_author(const Key& key) {
  const std::string_view name = key.name;
  const size_t mark = name.find('~');
  int author = 1;
  if (mark != name.npos)
    std::from_chars(name.data() + mark + 1, name.data() + name.size(), author);
  return author;
}

std::string name_of_author(std::string_view artifact, int author) {
  return author == 1 ? std::string(artifact) : cat(artifact, "~", author);
}

Value downloaded_artifact(std::string_view source, std::string_view url) {
  const std::string shown = shown_url(url);
  std::vector<Entry> entries{{"source", source}, {"url", shown}};
  if (shown != url)
    entries.push_back({"address", Value::secret(url)});
  return Value::dict(std::move(entries));
}

Value mounted_artifact(std::string_view key_name) {
  return Value::dict({{"artifact", without_author(key_name)},
                      {"digest", Value::deferred({Part(Output{"artifact", key_name, "digest"})})}});
}

const Kind& artifact_kind() {
  static const ArtifactKind kind;
  return kind;
}

}  // namespace fettle
