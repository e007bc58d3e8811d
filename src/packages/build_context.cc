#include "packages/build_context.h"

#include <set>

#include "base/archive.h"
#include "base/closed_folder.h"
#include "base/hash.h"
#include "base/text.h"
#include "packages/docker_ignore.h"

namespace fettle {
namespace {

constexpr uint64_t most_bytes = 10'000'000'000;
constexpr size_t most_entries = 1'000'000;
constexpr size_t largest_rules = 64 << 10;  // bytes: every file is compared with all of them
/// The Dockerfile of a folder that is an image of its own stands beside its files, so that it is none
/// of them.
constexpr std::string_view own_folder = "files/", own_dockerfile = "FROM scratch\nCOPY files /\n";
constexpr size_t most_parts = 200, deepest_part = 8, digest_length = 16;

/// The first `depth` components.
std::string_view head_of(std::string_view path, size_t depth) {
  size_t end = 0;
  for (; depth > 0 && end < path.size(); --depth) {
    end = path.find('/', end + 1);
    if (end == path.npos)
      return path;
  }
  return path.substr(0, end);
}

}  // namespace

Result<BuildContext> BuildContext::of(const Path& folder, const std::string& file,
                                      std::string dockerfile) {
  BuildContext context(folder, file, std::move(dockerfile));
  context.entries_ = TRY(list_tree(folder));
  TRY(context.leave_out_ignored());
  std::erase_if(context.entries_, [&](const TreeEntry& entry) { return entry.path == file; });
  TRY(context.check_size());
  return context;
}

Result<BuildContext> BuildContext::alone(const Path& folder) {
  BuildContext context(folder, "Dockerfile", std::string(own_dockerfile));
  context.prefix_ = own_folder;
  context.entries_ = TRY(list_tree(folder));
  TRY(context.leave_out_ignored());
  TRY(context.check_size());
  return context;
}

Status BuildContext::leave_out_ignored() {
  const ClosedFolder closed(folder_);
  std::string rules = file_ + ".dockerignore";
  const bool has_own = prefix_.empty() && closed.has_file(rules);
  if (!has_own)
    rules = ".dockerignore";
  if (!closed.has_file(rules))
    return {};
  const std::string text = TRY(closed.read(rules, largest_rules));
  const DockerIgnore ignored = TRY(DockerIgnore::of(text, (folder_ / rules).string()));
  std::set<std::string, std::less<>> kept;
  for (const TreeEntry& entry : entries_) {
    // A builder that reads this file once more must not leave out by other rules.
    if (ignored.has(entry.path) || (has_own && entry.path == ".dockerignore"))
      continue;
    for (size_t end = entry.path.find('/'); end != std::string::npos;
         end = entry.path.find('/', end + 1))
      kept.insert(entry.path.substr(0, end));
    kept.insert(entry.path);
  }
  std::erase_if(entries_, [&](const TreeEntry& entry) { return !kept.contains(entry.path); });
  return {};
}

Status BuildContext::check_size() const {
  uint64_t bytes = 0;
  const TreeEntry* largest = nullptr;
  for (const TreeEntry& entry : entries_) {
    bytes += std::min(entry.size, most_bytes + 1);  // no sum beyond what a number holds
    if (largest == nullptr || entry.size > largest->size)
      largest = &entry;
  }
  if (bytes > most_bytes)
    return user_error(cat("the context `", folder_.string(), "` has more than ",
                          most_bytes / 1'000'000'000, " GB (`", printable(largest->path),
                          "` is the largest file); leave out what the build does not need in "
                          "`.dockerignore`"));
  if (entries_.size() > most_entries)
    return user_error(cat("the context `", folder_.string(), "` has more than ", most_entries,
                          " files; leave out what the build does not need in `.dockerignore`"));
  return {};
}

/// As deep as a plan can show.
size_t BuildContext::depth_of_parts() const {
  size_t depth = 0;
  while (depth < deepest_part) {
    std::set<std::string_view> heads;
    for (const TreeEntry& entry : entries_) {
      heads.insert(head_of(entry.path, depth + 1));
      if (heads.size() > most_parts)
        return depth;
    }
    ++depth;
  }
  return depth;
}

Result<std::map<std::string, std::string>> BuildContext::pack(const ByteSink& sink) const {
  ArchiveWriter writer(sink);
  const ClosedFolder closed(folder_);
  const size_t depth = depth_of_parts();
  std::map<std::string, Sha256> hashes;
  if (!prefix_.empty())
    TRY(writer.add({.path = prefix_.substr(0, prefix_.size() - 1),
                    .type = ArchiveEntry::Type::directory,
                    .mode = 0755}));
  for (const TreeEntry& found : entries_) {
    ArchiveEntry entry = archived(found);
    const std::string_view head = depth == 0 ? "." : head_of(found.path, depth);
    Sha256& hash = hashes[std::string(head)];
    hash.add(cat(entry.path, "\n", static_cast<int>(entry.type), " ", entry.mode, " ", entry.size,
                 " ", entry.target, "\n"));
    ByteSource content;
    if (found.type == TreeEntry::Type::file && found.size > 0)
      content = [&hash, bytes = source_of(TRY(closed.open(found.path)), folder_ / found.path)](
                    std::span<char> into) -> Result<size_t> {
        const size_t count = TRY(bytes(into));
        hash.add({into.data(), count});
        return count;
      };
    entry.path.insert(0, prefix_);
    TRY(writer.add(entry, content));
  }
  TRY(writer.add_file(file_, dockerfile_));
  if (prefix_.empty())
    hashes[file_].add(dockerfile_);
  TRY(writer.finish());
  std::map<std::string, std::string> parts;
  for (auto& [path, hash] : hashes)
    parts[path] = hash.hex().substr(0, digest_length);
  return parts;
}

}  // namespace fettle
