#include "packages/instructions/image.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/archive.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "kinds/build.h"
#include "kinds/image_reference.h"
#include "kinds/registry_login.h"
#include "packages/build_context.h"
#include "packages/dockerfile.h"
#include "packages/types.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

constexpr size_t largest_dockerfile = 1 << 20;                  // bytes
constexpr std::string_view inline_file = ".dockerfile-inline";  ///< its name in what is sent

std::string text_of_field(starlark::Value record, std::string_view name,
                          std::string_view otherwise = {}) {
  const auto value = starlark::field_of(record, name);
  const bool given = value && !value->is_unset() &&
                     starlark::type_of(*value) == starlark::Type::text &&
                     !starlark::text_of(*value).empty();
  return std::string(given ? starlark::text_of(*value) : otherwise);
}

/// `build_args`. What is known only at run time cannot be one: it decides what the image is made
/// from.
Result<std::map<std::string, std::string>> build_arguments(InstructionCall& call,
                                                           starlark::Value spec) {
  std::map<std::string, std::string> arguments;
  const auto given = starlark::field_of(spec, "build_args");
  if (!given || given->is_unset() || starlark::type_of(*given) == starlark::Type::none)
    return arguments;
  TRY(types::check_text_dict("build_args", *given));
  for (const auto& [name, value] : starlark::entries_of(*given)) {
    const std::string text(starlark::text_of(value));
    // BuildKit would pull the front end that this names and hand the build to it.
    if (starlark::text_of(name) == "BUILDKIT_SYNTAX")
      return user_error(
          "the build argument `BUILDKIT_SYNTAX` is not supported: images are built "
          "with the engine's own front end");
    if (!call.draft.references.keys_in(text).empty())
      return user_error(
          cat("the build argument `", starlark::text_of(name), "` must be known before the run"));
    arguments.emplace(starlark::text_of(name), text);
  }
  return arguments;
}

/// The entries of a field of texts.
std::map<std::string, std::string> texts_of_field(starlark::Value spec, std::string_view field) {
  std::map<std::string, std::string> texts;
  const auto given = starlark::field_of(spec, field);
  if (given && !given->is_unset() && starlark::type_of(*given) == starlark::Type::dict)
    for (const auto& [name, text] : starlark::entries_of(*given))
      texts.emplace(starlark::text_of(name), starlark::text_of(text));
  return texts;
}

/// Where the files of a build are, by a locator that stays in the repository.
Result<fs::path> context_folder(InstructionCall& call, const std::string& folder) {
  const Locator locator = TRY(call.sources.resolve(folder, call.module));
  const fs::path path = TRY(call.sources.path(locator));
  std::error_code failure;
  if (!fs::is_directory(path, failure))
    return user_error(cat("`build_context_dir` is no folder: `", printable(folder), "`"));
  return path;
}

Result<std::string> read_build_file(const fs::path& folder, const std::string& file,
                                    std::string_view shown) {
  const ClosedFolder closed(folder);
  Result<std::string> text = closed.read(file, largest_dockerfile);
  if (text)
    return text;
  Error error = text.error();
  error.message += suggestion(fs::path(file).filename().string(), closed.names_beside(file));
  return std::move(error).context(cat("reading the Dockerfile of the context `", shown, "`"));
}

Dict text_entries(const std::map<std::string, std::string>& texts) {
  std::vector<Entry> entries;
  for (const auto& [key, text] : texts)
    entries.push_back({key, text});
  return Value::dict(std::move(entries));
}

/// What a name in a Dockerfile means besides images and stages.
struct NamedContext {
  std::string name;       ///< as it is given
  std::string reference;  ///< the image
  fs::path folder{};      ///< whose files the image has; empty: it is there already
};

/// An image of its own has the files of a folder: builders take several contexts only through a
/// session, and Podman's older ones not at all.
std::string image_of_folder(std::string_view image, std::string_view name) {
  std::string plain = name_of_build(image);
  plain = cat(plain.substr(plain.rfind('/') + 1), "-", name).substr(0, 60);
  for (char& c : plain)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))
      c = '-';
  const std::string whole = cat(image, "\n", name);
  return cat("localhost/fettle-context/", plain, "-", to_string(fingerprint(whole)).substr(0, 8));
}

/// A suggestion of one of the names that there are.
std::string suggestion_of(std::string_view name, const std::map<std::string, std::string>& known) {
  std::vector<std::string> names;
  for (const auto& [key, text] : known)
    names.push_back(key);
  return std::string(suggestion(name, names));
}

Result<std::vector<NamedContext>> named_contexts(InstructionCall& call, starlark::Value spec) {
  constexpr std::string_view of_image = "docker-image://";
  std::vector<NamedContext> contexts;
  for (const auto& [name, given] : texts_of_field(spec, "additional_contexts")) {
    if (!call.draft.references.keys_in(name + given).empty())
      return user_error(cat("the context `", printable(name), "` must be known before the run"));
    TRY(check_image_reference(name).context(cat("the context `", printable(name), "`")));
    if (given.starts_with(of_image)) {
      const std::string reference = given.substr(of_image.size());
      TRY(check_image_reference(reference).context(cat("the context `", printable(name), "`")));
      contexts.push_back({name, reference});
      continue;
    }
    // A locator is a path or `github.com/…`, so neither is taken for the other.
    if (given.find("://") != given.npos || given.starts_with("git@") || given.ends_with(".git"))
      return user_error(
          cat("the context `", printable(name), "` is `", printable(given),
              "`: a context is a folder of the package or `docker-image://REFERENCE`; "
              "clone a repository, or unpack an archive, into the package"));
    const fs::path folder =
        TRY(context_folder(call, given).context(cat("the context `", printable(name), "`")));
    contexts.push_back({name, image_of_folder(text_of_field(spec, "image_name"), name), folder});
  }
  return contexts;
}

/// The images of those contexts that a Dockerfile uses.
Status build_contexts(InstructionCall& call, const std::vector<NamedContext>& contexts,
                      const Dockerfile& dockerfile) {
  for (const NamedContext& named : contexts) {
    const bool is_used = std::ranges::any_of(
        dockerfile.bases, [&](const BaseImage& base) { return base.reference == named.reference; });
    if (named.folder.empty() || !is_used)
      continue;
    const BuildContext files = TRY(BuildContext::alone(named.folder));
    const PackedContext packed = TRY(call.draft.options().packed(files));
    ImageBuild build;
    build.image = named.reference;
    build.context = packed.digest;
    build.file = files.file();
    build.files = text_entries(packed.parts);
    call.draft.built_image(build);
  }
  return {};
}

/// A builder asks for a login at a registry in the same form as for a secret.
bool is_registry(std::string_view id, const Dockerfile& dockerfile) {
  return id == "docker.io" || id.ends_with(".docker.io") ||
         std::ranges::any_of(dockerfile.bases, [&](const BaseImage& base) {
           const std::string full = full_reference(base.reference);
           return id == full.substr(0, full.find('/'));
         });
}

/// The secrets that commands of a build mount: a null stands for one that is not given, whose file
/// is then missing, as with other clients.
Result<Dict> mounted_secrets(InstructionCall& call, starlark::Value spec,
                             const Dockerfile& dockerfile, const std::string& shown) {
  const std::map<std::string, std::string> given = texts_of_field(spec, "secrets");
  for (const auto& [id, text] : given) {
    if (!call.draft.references.keys_in(id + text).empty())
      return user_error(cat("the secret `", printable(id), "` must be known before the run"));
    call.draft.hide(text);
  }
  std::vector<Entry> entries;
  for (const SecretMount& mount : dockerfile.secrets) {
    const auto found = given.find(mount.id);
    if (is_registry(mount.id, dockerfile))
      return user_error(
          cat("a secret cannot be called `", printable(mount.id), "`, for that is a registry"),
          {shown, mount.line, 1});
    if (found == given.end() && mount.is_required)
      return user_error(cat("the build has no secret `", printable(mount.id),
                            "`; it is given in `secrets`", suggestion_of(mount.id, given)),
                        {shown, mount.line, 1});
    if (found == given.end())
      call.draft.warning(cat(shown, ":", mount.line, ": the build has no secret `",
                             printable(mount.id), "`, so its file will be missing",
                             suggestion_of(mount.id, given)));
    entries.push_back(
        {mount.id, found == given.end() ? Value() : Value::secret(Value(found->second))});
  }
  return Dict(Value::dict(std::move(entries)));
}

Result<ImageBuild> wanted_build(InstructionCall& call, starlark::Value spec) {
  ImageBuild build;
  build.image = text_of_field(spec, "image_name");
  const std::string given = text_of_field(spec, "dockerfile_inline");
  const std::string file =
      TRY(inner_path(text_of_field(spec, "build_file", given.empty() ? "Dockerfile" : inline_file))
              .context("`build_file`"));
  DockerfileRequest request{.target = text_of_field(spec, "target_stage"),
                            .arguments = TRY(build_arguments(call, spec))};
  const std::vector<NamedContext> contexts = TRY(named_contexts(call, spec));
  for (const NamedContext& named : contexts)
    request.contexts.emplace(name_of_build(named.name), named.reference);
  const fs::path folder = TRY(context_folder(call, text_of_field(spec, "build_context_dir")));
  const std::string text =
      given.empty() ? TRY(read_build_file(folder, file, call.sources.shown(folder.string())))
                    : given;
  const std::string shown =
      given.empty() ? call.sources.shown((folder / file).string()) : "dockerfile_inline";
  const Dockerfile dockerfile = TRY(read_dockerfile(text, shown, request));
  // The name would mean the base before a build and the result after it, so each run would build.
  for (const BaseImage& base : dockerfile.bases)
    if (name_of_build(base.reference) == name_of_build(build.image.view()))
      return user_error(cat("`", printable(base.reference),
                            "` is the name of the image itself; choose another `image_name`"),
                        {shown, base.line, 1});
  build.secrets = TRY(mounted_secrets(call, spec, dockerfile, shown));
  const BuildContext context = TRY(BuildContext::of(folder, file, dockerfile.sent));
  const PackedContext packed = TRY(call.draft.options().packed(context));
  build.context = packed.digest;
  build.file = file;
  build.target = request.target;
  build.arguments = text_entries(request.arguments);
  build.files = text_entries(packed.parts);
  if (dockerfile.heredoc_line > 0)
    build.heredoc = int64_t{dockerfile.heredoc_line};
  TRY(build_contexts(call, contexts, dockerfile));
  std::vector<Entry> bases;
  for (const BaseImage& base : dockerfile.bases)
    bases.push_back({base.reference, call.draft.image(base.reference)});
  build.bases = Value::dict(std::move(bases));
  return build;
}

/// An error in the files of a build is a finding with the place in them: the rest of the script is
/// checked, too.
Result<WantedImage> built(InstructionCall& call, starlark::Value spec,
                          const Result<ImageBuild>& build) {
  const std::string name = text_of_field(spec, "image_name");
  if (build)
    return WantedImage{name, call.draft.built_image(*build)};
  if (build.error().blame != Blame::user)
    return build.error();
  call.draft.finding(cat("cannot build `", printable(name), "`: ", to_string(build.error())));
  return WantedImage{name, Value("")};
}

/// A `NixBuildSpec`: the output of a flake in the context. Where there is no Nix, a finding says so.
Result<ImageBuild> wanted_flake(InstructionCall& call, starlark::Value spec) {
  ImageBuild build;
  build.image = text_of_field(spec, "image_name");
  if (find_program("nix").empty())
    return user_error(
        "`NixBuildSpec` needs `nix`, which is not on this machine: install it, or build the image "
        "beforehand (`nix build`, then `docker load` or `podman load`) and name it as the image");
  const std::string inside =
      TRY(inner_path(text_of_field(spec, "flake_location_dir")).context("`flake_location_dir`"));
  const std::string context = text_of_field(spec, "build_context_dir");
  // Nix sees the folder of a flake and nothing beside it.
  const fs::path folder =
      TRY(context_folder(call, inside.empty() ? context : cat(context, "/", inside)));
  const std::string file = "flake.nix";
  const std::string output = text_of_field(spec, "flake_output", "default");
  if (!std::ranges::all_of(output, [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
      }))
    return user_error(cat("`flake_output` is `", printable(output),
                          "`, expected letters, digits, `.`, `_` and `-`"));
  const std::string text = TRY(read_build_file(folder, file, call.sources.shown(folder.string())));
  const BuildContext files = TRY(BuildContext::of(folder, file, text));
  const PackedContext packed = TRY(call.draft.options().packed(files));
  build.context = packed.digest;
  build.file = file;
  build.files = text_entries(packed.parts);
  build.nix_output = output;
  return build;
}

/// An `ImageSpec`. Its login is tried before those that the engine's tools have stored.
Result<WantedImage> signed_in(InstructionCall& call, starlark::Value spec) {
  Draft& draft = call.draft;
  const std::string reference = text_of_field(spec, "image");
  if (reference.empty())
    return user_error("the image is empty");
  const std::string user = text_of_field(spec, "username"),
                    password = text_of_field(spec, "password"),
                    registry = text_of_field(spec, "registry");
  if (user.empty() != password.empty())
    draft.finding("an ImageSpec needs both `username` and `password`, or none of them");
  if (user.empty() || password.empty())
    return WantedImage{reference, draft.image(reference)};
  if (!draft.references.keys_in(user + password).empty())
    return user_error("the login of an image must be known before the run");
  draft.hide(password);
  const std::string full = full_reference(reference);
  const std::string host = full.substr(0, full.find('/'));
  const Value any = Value::dict({{"username", "any"}});
  if (!registry.empty() && logins_in(Value::dict({{registry, any}}), host).empty())
    draft.warning(cat("the image `", reference, "` is at `", host, "`, not at `", registry,
                      "`; the login is used for `", host, "`"));
  const Value login = Value::dict(
      {{host, Value::dict({{"username", user}, {"password", Value::secret(Value(password))}})}});
  return WantedImage{reference, draft.image(reference, login)};
}

}  // namespace

Result<WantedImage> wanted_image(InstructionCall& call, starlark::Value image) {
  Draft& draft = call.draft;
  const auto pulled = [&](std::string reference) {
    Value id = draft.image(reference);
    return WantedImage{std::move(reference), std::move(id)};
  };
  if (starlark::type_of(image) == starlark::Type::text) {
    const std::string reference(starlark::text_of(image));
    if (reference.empty())
      return user_error("the image is empty");
    return pulled(reference);
  }
  const starlark::RecordType* type = starlark::record_type_of(image);
  if (type == &types::image_spec)
    return signed_in(call, image);
  if (type == &types::image_build_spec)
    return built(call, image, wanted_build(call, image));
  if (type == &types::nix_build_spec)
    return built(call, image, wanted_flake(call, image));
  return user_error(
      cat("`image` must be a string, an ImageSpec, an ImageBuildSpec or a NixBuildSpec, got ",
          starlark::type_name(image)));
}

}  // namespace fettle
