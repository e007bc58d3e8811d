#pragma once
/// A files artifact: a named tree of files, kept as a reproducible tar among the blobs.

#include <string>
#include <string_view>

#include "core/key.h"
#include "kinds/members.h"
#include "kinds/service.h"

namespace fettle {

/// Where it comes from says `source`, and which of the other members say something.
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

/// What a files artifact is called. Who updates one in a run is an author of it: `page` is what the
/// first one made of it, `page~2` what the second one did.
std::string_view artifact_name(const Key& key);
/// 1: the first author.
int artifact_author(const Key& key);
/// The name in the key of the n-th author.
std::string name_of_author(std::string_view artifact, int author);
/// The attributes of an artifact that is downloaded. `source`: `url` or `web`.
Artifact downloaded_artifact(std::string_view source, std::string_view url);
/// One artifact among the files of a service or a task, as what the author `key_name` made of it.
ArtifactMount mounted_artifact(std::string_view key_name);

}  // namespace fettle
