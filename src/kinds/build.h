#pragma once
/// An image that an engine builds from a Dockerfile and a context. Its key's name is the image's
/// name, without `docker.io/library/` and `:latest`.
///
/// Everything that the image depends on is an attribute, so an unchanged build is known without a
/// question to a builder: the content of the context, the Dockerfile, the arguments, and the ids of
/// the images that it is made from, which are resources of their own. What it depends on beyond
/// that (a package that a command downloads) nobody can see.

#include "kinds/members.h"

namespace fettle {

struct ImageBuild {
  Hole<Name> image, context, file = "Dockerfile", target;
  Dict arguments, bases, files, secrets;
  Hole<int64_t> heredoc;
  Hole<Name> nix_output;
  static const Members& members();
};

struct ImageBuildOutputs {
  Value id{};
  static const Members& members();
};

/// The name of the image in the key of its build.
std::string name_of_build(std::string_view image);

/// The hole that the id of a built image fills.
Value built_image_hole(const Name& build);

}  // namespace fettle
