#pragma once
/// A files artifact: a named tree of files, kept as a reproducible tar among the blobs.

#include <span>
#include <string>
#include <string_view>

#include "core/blobs.h"
#include "core/key.h"
#include "kinds/members.h"
#include "kinds/service.h"

namespace fettle {

struct Subject;

/// `source` says where it comes from, and which of the other members apply.
struct Artifact {
  Hole<Name> source, digest;
  Dict templates;  ///< of `FileTemplate` by path
  Hole<Name> service, path, url;
  Value address;
  static const Members& members();
};

struct FileTemplate {
  Hole<Name> text{};
  Value data{};
  static const Members& members();
};

struct ArtifactOutputs {
  Name digest, uuid, etag;
  static const Members& members();
};

struct ArtifactSeen {
  Name digest{};
  bool is_other = false;
  Name unasked{};
  static const Members& members();
};

/// The content that an artifact has, as far as its record knows. Empty: none.
Name digest_of_artifact(const Subject& subject);
/// Those of all artifacts among them.
DigestSet digests_of_artifacts(std::span<const Subject> subjects);

/// The name of a files artifact. Each instruction that updates it in a run is an author: `page` is
/// the content by the first one, `page~2` that by the second.
std::string_view artifact_name(const Key& key);
/// 1: the first author.
int artifact_author(const Key& key);
/// The name in the key of the n-th author.
std::string name_of_author(std::string_view artifact, int author);
/// The attributes of an artifact that is downloaded. `source`: `url` or `web`.
Artifact downloaded_artifact(std::string_view source, std::string_view url);
/// One artifact among the files of a service or a task, with the content by the author `key_name`.
ArtifactMount mounted_artifact(std::string_view key_name);

}  // namespace fettle
