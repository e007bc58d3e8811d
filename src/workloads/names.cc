#include "workloads/names.h"

#include "base/hash.h"
#include "base/text.h"
#include "kinds/image_reference.h"

namespace fettle::workloads {
namespace {

constexpr std::string_view letters = "bcdfghjklmnpqrstvwxz2456789";

uint32_t fnv1(std::string_view bytes, uint32_t hash) {
  for (const char byte : bytes)
    hash = (hash * 16777619u) ^ static_cast<unsigned char>(byte);
  return hash;
}

}  // namespace

std::string safe_encoded(std::string_view text) {
  std::string encoded;
  for (const char byte : text)
    encoded += letters[static_cast<unsigned char>(byte) % letters.size()];
  return encoded;
}

std::string revision_hash(std::string_view data, int collisions) {
  uint32_t hash = fnv1(data, 2166136261u);
  if (collisions > 0)
    hash = fnv1(std::to_string(collisions), hash);
  return safe_encoded(std::to_string(hash));
}

std::string short_id(std::string_view text, size_t count) {
  uint64_t hash = hash64(text);
  std::string id;
  for (size_t i = 0; i < count; ++i, hash /= letters.size())
    id += letters[hash % letters.size()];
  return id;
}

std::string_view hash_of_revision(std::string_view revision) {
  return revision.substr(revision.rfind('-') + 1);
}

bool is_of_workload(std::string_view key) {
  for (const std::string_view each :
       {label::revision, label::template_hash, label::instance_id, label::owned_by,
        label::lifecycle_state, annotation::lifecycle_timestamp, label::pod_name, label::pod_index})
    if (key == each)
      return true;
  return false;
}

bool is_same_image(std::string_view a, std::string_view b) {
  return a == b || (!a.empty() && !b.empty() && full_reference(a) == full_reference(b));
}

}  // namespace fettle::workloads
