#include "verbs/packages/context_digest.h"

#include "base/hash.h"
#include "base/text.h"
#include "verbs/packages/artifact_digest.h"

namespace fettle {
namespace {

Digest stamp_of(const BuildContext& context) {
  std::string stamps = cat(context.file(), "\n", context.dockerfile(), "\n");
  for (const TreeEntry& entry : context.entries())
    add_stamp(stamps, context.folder() / entry.path, entry.path);
  return fingerprint(stamps);
}

std::string key_of(const BuildContext& context) {
  return cat("digest of the build of ", context.file(), " in ", context.folder().string());
}

Result<std::optional<PackedContext>> known_context(Store& store, const BuildContext& context,
                                                   const Digest& stamp) {
  const std::optional<Value> before = TRY(store.cached(key_of(context)));
  if (!before || before->text_at("stamp") != to_string(stamp) || !before->at("parts").is_dict())
    return std::nullopt;
  PackedContext packed{std::string(before->text_at("digest")), {}};
  for (const Entry& part : before->at("parts").entries())
    packed.parts.emplace(part.key.str(), to_text(part.value));
  return packed;
}

/// If files changed while they were read, they are read again the next time.
Status remember(const Workplace& place, const BuildContext& context, const Digest& stamp,
                const PackedContext& packed) {
  if (stamp_of(context) != stamp)
    return {};
  std::vector<Entry> parts;
  for (const auto& [path, digest] : packed.parts)
    parts.push_back({path, digest});
  return place.store->cache(key_of(context),
                            Value::dict({{"stamp", to_string(stamp)},
                                         {"digest", packed.digest},
                                         {"parts", Value::dict(std::move(parts))}}),
                            place.clock());
}

}  // namespace

Result<PackedContext> context_digest(const Workplace& place, const BuildContext& context) {
  const Digest stamp = stamp_of(context);
  if (std::optional<PackedContext> before = TRY(known_context(*place.store, context, stamp)))
    return *std::move(before);
  Sha256 hash;
  PackedContext packed;
  packed.parts = TRY(context.pack([&](std::string_view bytes) -> Status {
    hash.add(bytes);
    return {};
  }));
  packed.digest = hash.hex();
  TRY(remember(place, context, stamp, packed));
  return packed;
}

Result<PackedContext> put_context(const Workplace& place, const BuildContext& context) {
  const Digest stamp = stamp_of(context);
  if (std::optional<PackedContext> before = TRY(known_context(*place.store, context, stamp)))
    if (TRY(place.blobs->has(before->digest)))
      return *std::move(before);
  const std::unique_ptr<Blobs::Draft> draft = TRY(place.blobs->begin());
  PackedContext packed;
  packed.parts = TRY(context.pack([&](std::string_view bytes) { return draft->add(bytes); }));
  packed.digest = TRY(draft->finish());
  TRY(remember(place, context, stamp, packed));
  return packed;
}

}  // namespace fettle
