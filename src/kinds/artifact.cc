#include "kinds/artifact.h"

#include <charconv>

#include "base/http.h"
#include "base/text.h"
#include "core/driver.h"
#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

class ArtifactKind : public KindOf<Artifact, ArtifactOutputs, ArtifactSeen> {
 public:
  ArtifactKind() : KindOf("artifact", Sort::observable) {}
  Comparison compare(const Record& known, const Observation& seen,
                     Presence expected) const override {
    if (seen.state && read<ArtifactSeen>(*seen.state).is_other && known.applied)
      return {Verb::update,
              {},
              cat("what is at ", read<Artifact>(known.applied->attributes).url.view(), " changed")};
    return Kind::compare(known, seen, expected);
  }
  bool in_place_changes(const Attributes&, const Attributes&) const override { return true; }
  std::vector<Name> contents(const Outputs& outputs) const override {
    return {read<ArtifactOutputs>(outputs).digest};
  }
  /// Files that are copied out of a service depend on earlier acts in it.
  Role role(const Attributes& attributes) const override {
    return read<Artifact>(attributes).source.view() == "service" ? Role::reads : Role::none;
  }
};

std::string_view without_author(std::string_view name) { return name.substr(0, name.find('~')); }

}  // namespace

Name digest_of_artifact(const Subject& subject) {
  return subject.known == nullptr ? Name() : read<ArtifactOutputs>(subject.known->outputs).digest;
}

DigestSet digests_of_artifacts(std::span<const Subject> subjects) {
  DigestSet digests;
  for (const Subject& subject : subjects)
    if (subject.key.kind == "artifact")
      if (const Name digest = digest_of_artifact(subject); !digest.empty())
        digests.insert(digest.str());
  return digests;
}

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

Artifact downloaded_artifact(std::string_view source, std::string_view url) {
  Artifact artifact;
  artifact.source = source;
  artifact.url = shown_url(url);
  if (artifact.url.view() != url)
    artifact.address = Value::secret(url);
  return artifact;
}

ArtifactMount mounted_artifact(std::string_view key_name) {
  return {without_author(key_name),
          Value::deferred({Part(Output{"artifact", key_name, "digest"})})};
}

const Members& Artifact::members() {
  static const Members all{
      required<&Artifact::source>(
          "source",
          "`upload`, `render`, `service`, `task`, `url` (the download, as a file) or `web` "
          "(the same, or its contents if it is an archive)"),
      member<&Artifact::digest>("digest",
                                "of an upload: sha256 of its tar; of a task: hole on its output"),
      member<&Artifact::templates>("templates",
                                   "if rendered: {path: {\"template\": text, \"data\"}}"),
      member<&Artifact::service>("service", "the service that it is copied out of"),
      member<&Artifact::path>("path", "absolute, inside that service"),
      member<&Artifact::url>("url", "the URL, as it may be shown"),
      extra<&Artifact::address>("address",
                                "secret: the whole URL, if it has parts that may not be shown")};
  return all;
}

const Members& FileTemplate::members() {
  static const Members all{required<&FileTemplate::text>("template", "Go's text/template"),
                           member<&FileTemplate::data>("data", "data for the template")};
  return all;
}

const Members& ArtifactOutputs::members() {
  static const Members all{
      member<&ArtifactOutputs::digest>("digest", "sha256 of its tar"),
      member<&ArtifactOutputs::uuid>("uuid", "32 hex digits, kept for the life of the name"),
      extra<&ArtifactOutputs::etag>("etag", "the ETag of the download, if there was one")};
  return all;
}

const Members& ArtifactSeen::members() {
  static const Members all{
      member<&ArtifactSeen::digest>("digest", "the content exists"),
      extra<&ArtifactSeen::is_other>("other", "there is something else at the URL"),
      extra<&ArtifactSeen::unasked>("unasked", "why the present content is unknown")};
  return all;
}

const TypedKind& artifact_kind() {
  static const ArtifactKind kind;
  return kind;
}

}  // namespace fettle
