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

Result<PackedContext> packed_context(const Workplace& place, const BuildContext& context,
                                     bool keeps) {
  const PackedSource packing{
      cat("digest of the build of ", context.file(), " in ", context.folder().string()),
      [&]() -> Result<Digest> { return stamp_of(context); },
      [&](const ByteSink& sink) -> Result<Value> {
        std::vector<Entry> parts;
        for (const auto& [path, digest] : TRY(context.pack(sink)))
          parts.push_back({path, digest});
        return Value::dict(std::move(parts));
      }};
  const Value found = TRY(packed(place, packing, keeps));
  PackedContext made{std::string(found.text_at("digest")), {}};
  for (const Entry& part : found.at("parts").entries())
    made.parts.emplace(part.key.str(), to_text(part.value));
  return made;
}

}  // namespace

Result<PackedContext> context_digest(const Workplace& place, const BuildContext& context) {
  return packed_context(place, context, false);
}

Result<PackedContext> put_context(const Workplace& place, const BuildContext& context) {
  return packed_context(place, context, true);
}

}  // namespace fettle
