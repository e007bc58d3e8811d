#include "states/sources.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/hash.h"
#include "base/text.h"
#include "base/zip.h"
#include "value/json_tree.h"

namespace fettle::states {

/// A tree of files.
class Source {
 public:
  virtual ~Source() = default;
  virtual Result<std::optional<std::string>> read(const std::string& path) = 0;
  /// How a file can be opened, now and later. None: there is none.
  virtual Result<std::function<Result<ByteSource>()>> opener(const std::string& path) {
    std::optional<std::string> bytes = TRY(read(path));
    if (!bytes)
      return std::function<Result<ByteSource>()>();
    return std::function<Result<ByteSource>()>(
        [bytes = *std::move(bytes)]() -> Result<ByteSource> { return fettle::source_of(bytes); });
  }
  virtual std::string name_of(const std::string& path) const = 0;
};

namespace {

constexpr std::string_view extension = ".sls";

class FolderSource : public Source {
 public:
  FolderSource(std::string root, Files& files) : root_(std::move(root)), files_(files) {}
  Result<std::optional<std::string>> read(const std::string& path) override {
    return files_.read(name_of(path));
  }
  Result<std::function<Result<ByteSource>()>> opener(const std::string& path) override {
    const std::string place = name_of(path);
    if (!TRY(files_.open(place)))
      return std::function<Result<ByteSource>()>();
    return std::function<Result<ByteSource>()>([&files = files_, place]() -> Result<ByteSource> {
      std::optional<ByteSource> file = TRY(files.open(place));
      if (!file)
        return user_error(cat("`", place, "` has gone while it was being copied"));
      return *std::move(file);
    });
  }
  std::string name_of(const std::string& path) const override {
    if (root_.empty() || root_ == ".")
      return path;
    return root_.ends_with('/') ? cat(root_, path) : cat(root_, "/", path);
  }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
  Files& files_;
};

class ArchiveSource : public Source {
 public:
  ArchiveSource(std::string name, std::map<std::string, std::string> files)
      : name_(std::move(name)), files_(std::move(files)) {}
  Result<std::optional<std::string>> read(const std::string& path) override {
    const auto found = files_.find(path);
    return found == files_.end() ? std::optional<std::string>() : std::optional(found->second);
  }
  std::string name_of(const std::string& path) const override { return cat(name_, "/", path); }

 private:
  std::string name_;
  std::map<std::string, std::string> files_;
};

/// Files by ref that were never written: `a.b` is the same as `a/b.sls`.
class JsonSource : public Source {
 public:
  explicit JsonSource(Tree tree) : tree_(std::move(tree)) {}
  Result<std::optional<std::string>> read(const std::string& path) override {
    std::string ref = replace_all(path, "/", ".");
    const TreeNode* file = tree_.root().find(ref);
    if (file == nullptr && ref.ends_with(extension))
      file = tree_.root().find(std::string_view(ref).substr(0, ref.size() - extension.size()));
    return file == nullptr ? std::optional<std::string>() : std::optional(write_json_tree(*file));
  }
  std::string name_of(const std::string& path) const override { return cat("json:", path); }

 private:
  Tree tree_;
};

Error not_a_source(std::string_view spec, std::string_view why) {
  return user_error(cat("the source `", clipped(spec, 200), "` ", why));
}

Result<std::unique_ptr<Source>> archive(const std::string& path, std::string_view spec,
                                        Files& files) {
  std::optional<std::string> bytes = TRY(files.read(path));
  if (!bytes)
    return not_a_source(spec, "is neither a folder nor an archive");
  constexpr ArchiveLimits limits{.bytes = uint64_t{256} << 20, .entries = 100'000};
  Result<std::map<std::string, std::string>> found = files_of_archive(std::move(*bytes), limits);
  if (!found)
    return not_a_source(spec, cat("cannot be read: ", to_string(found.error())));
  return std::unique_ptr<Source>(std::make_unique<ArchiveSource>(path, std::move(*found)));
}

Result<std::unique_ptr<Source>> json(std::string_view text) {
  Tree tree = TRY(read_json_tree(text, "json://"));
  if (!tree.root().is_dict())
    return user_error("a source `json://` must be a dictionary from refs to files");
  return std::unique_ptr<Source>(std::make_unique<JsonSource>(std::move(tree)));
}

Result<std::unique_ptr<Source>> source_of(std::string_view spec, Files& files) {
  const size_t end = spec.find("://");
  const std::string_view scheme = end == spec.npos ? "file" : spec.substr(0, end);
  const std::string path(end == spec.npos ? spec : spec.substr(end + 3));
  static constexpr std::array<std::string_view, 4> schemes{"file", "json", "tar", "zip"};
  if (scheme == "json")
    return json(path);
  if (std::find(schemes.begin(), schemes.end(), scheme) == schemes.end())
    return not_a_source(spec, cat("has an unknown scheme", suggestion(scheme, schemes)));
  if (path.empty())
    return not_a_source(spec, "has no path");
  if (files.is_folder(path))
    return std::unique_ptr<Source>(std::make_unique<FolderSource>(path, files));
  return archive(path, spec, files);
}

/// The paths that a ref may have, in the order in which they are tried.
std::vector<std::string> paths_of(std::string_view ref) {
  const std::string path = replace_all(ref, ".", "/");
  return {cat(path, extension), cat(path, "/init", extension), std::string(ref),
          cat(ref, extension), cat(ref, "/init", extension)};
}

/// The ref of a path: `web/nginx.sls` is `web.nginx`.
std::string ref_of(std::string path) {
  if (path.ends_with(extension))
    path.resize(path.size() - extension.size());
  return replace_all(path, "/", ".");
}

/// Splits a path of the command line into the folder in which it begins and the rest.
std::pair<std::string, std::string> halves_of(std::string_view word) {
  std::string path = std::filesystem::path(word).lexically_normal().string();
  if (path.starts_with('/'))
    return {"/", path.substr(1)};
  size_t begin = 0;
  while (std::string_view(path).substr(begin).starts_with("../"))
    begin += 3;
  return {begin == 0 ? "." : path.substr(0, begin - 1), path.substr(begin)};
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Sources::Sources() = default;
Sources::~Sources() = default;
Sources::Sources(Sources&&) noexcept = default;
Sources& Sources::operator=(Sources&&) noexcept = default;

Result<Sources> Sources::make(std::span<const std::string> specs,
                              std::span<const std::string> words, Files& files) {
  Sources made;
  for (const std::string& spec : specs)
    made.sources_.push_back(TRY(source_of(spec, files)));
  const size_t given = made.sources_.size();
  for (const std::string& word : words)
    if (!TRY(made.add_path(word, word, files)))
      TRY(made.add_ref(word, given, files));
  for (size_t i = 0; i < given; ++i)
    made.order_.push_back(i);
  return made;
}

/// Takes a word that is a ref: of a source, else of the working folder.
Status Sources::add_ref(const std::string& word, size_t given, Files& files) {
  for (size_t i = 0; i < given; ++i)
    if (std::optional<SourceFile> file = TRY(in_source(i, word))) {
      words_.emplace(word, std::move(*file));
      return {};
    }
  for (const std::string& path : paths_of(word))
    if (TRY(add_path(word, path, files)))
      break;
  return {};
}

/// Takes a word that names a file. Its folder becomes a source. So does the folder in which the
/// path begins, for files that it includes relatively.
Result<bool> Sources::add_path(const std::string& word, const std::string& path, Files& files) {
  if (words_.contains(word))
    return true;
  const bool is_input = word == "-" && path == word;
  std::optional<std::string> text =
      word.empty() ? std::nullopt : TRY(files.read(is_input ? "/dev/stdin" : path));
  if (!text)
    return false;
  const auto [root, rest] = halves_of(is_input ? "<stdin>" : path);
  const size_t start = folder_source(root, files);
  const std::string name = sources_[start]->name_of(rest);
  const size_t folder = folder_source(folder_of(name), files);
  if (std::find(order_.begin(), order_.end(), folder) == order_.end())
    order_.push_back(folder);
  if (std::find(starts_.begin(), starts_.end(), start) == starts_.end())
    starts_.push_back(start);
  const bool keeps_extension = path == word && rest.find('/') == rest.npos;
  words_.emplace(word,
                 SourceFile{keeps_extension ? rest : ref_of(rest), name,
                            std::make_shared<const std::string>(std::move(*text)), rest, start});
  return true;
}

size_t Sources::folder_source(const std::string& path, Files& files) {
  for (size_t i = 0; i < sources_.size(); ++i)
    if (const auto* folder = dynamic_cast<const FolderSource*>(sources_[i].get());
        folder != nullptr && folder->root() == path)
      return i;
  sources_.push_back(std::make_unique<FolderSource>(path, files));
  return sources_.size() - 1;
}

Result<std::optional<SourceFile>> Sources::root(std::string_view word) {
  const auto found = words_.find(word);
  return found == words_.end() ? find(word) : std::optional(found->second);
}

Result<std::optional<SourceFile>> Sources::in_source(size_t source, std::string_view ref) {
  for (const std::string& path : paths_of(ref)) {
    const Result<std::string> inner = inner_path(path);
    if (!inner || inner->empty())
      continue;
    std::optional<std::string> text = TRY(sources_[source]->read(*inner));
    if (text)
      return std::optional(SourceFile{
          path == ref ? std::string(ref) : ref_of(*inner), sources_[source]->name_of(*inner),
          std::make_shared<const std::string>(std::move(*text)), *inner, source});
  }
  return std::optional<SourceFile>();
}

Result<std::optional<SourceFile>> Sources::find(std::string_view ref) {
  for (const size_t source : order_)
    if (std::optional<SourceFile> file = TRY(in_source(source, ref)))
      return file;
  return std::optional<SourceFile>();
}

/// One dot stands for the folder of the other file, each further one for the folder above.
Result<std::optional<SourceFile>> Sources::near(std::string_view ref, const SourceFile& from) {
  const size_t dots = std::min(ref.find_first_not_of('.'), ref.size());
  std::string folder = from.path;
  for (size_t i = 0; i < dots; ++i) {
    if (folder.empty())
      return user_error(cat("Attempted relative include of \"", ref, "\" within SLS ", from.ref,
                            " goes beyond top level package"));
    const size_t slash = folder.rfind('/');
    folder.resize(slash == folder.npos ? 0 : slash);
  }
  const std::string rest(ref.substr(dots));
  return in_source(from.source,
                   folder.empty() ? rest : cat(replace_all(folder, "/", "."), ".", rest));
}

Result<std::optional<SourceFile>> Sources::included(std::string_view ref, const SourceFile& from) {
  if (!ref.starts_with('.'))
    return find(ref);
  if (std::optional<SourceFile> file = TRY(near(ref, from)))
    return file;
  return find(ref.substr(std::min(ref.find_first_not_of('.'), ref.size())));
}

std::vector<size_t> Sources::order_of_paths() const {
  std::vector<size_t> order = order_;
  order.insert(order.end(), starts_.begin(), starts_.end());
  return order;
}

Result<std::optional<SourceFile>> Sources::at_path(std::string_view path) {
  const std::string inner = TRY(inner_path(path));
  for (const size_t source : order_of_paths())
    if (std::optional<std::string> text = TRY(sources_[source]->read(inner)))
      return std::optional(SourceFile{std::string(path), sources_[source]->name_of(inner),
                                      std::make_shared<const std::string>(std::move(*text)), inner,
                                      source});
  return std::optional<SourceFile>();
}

namespace {

Result<std::shared_ptr<const SourceContent>> read_whole(std::function<Result<ByteSource>()> open) {
  auto content = std::make_shared<SourceContent>();
  std::string text;
  bool is_short = true;
  Sha256 hash;
  TRY(pump(TRY(open()), [&](std::string_view bytes) -> Status {
    hash.add(bytes);
    is_short = is_short && text.size() + bytes.size() <= SourceContent::largest_text;
    if (is_short)
      text += bytes;
    else
      std::string().swap(text);
    return {};
  }));
  content->digest = hash.hex();
  if (is_short && is_valid_utf8(text))
    content->text = std::make_shared<const std::string>(std::move(text));
  content->open = std::move(open);
  return std::shared_ptr<const SourceContent>(std::move(content));
}

}  // namespace

Result<std::shared_ptr<const SourceContent>> Sources::content_at(std::string_view path) {
  const std::string inner = TRY(inner_path(path));
  for (const size_t source : order_of_paths())
    if (std::function<Result<ByteSource>()> open = TRY(sources_[source]->opener(inner)))
      return read_whole(std::move(open));
  return std::shared_ptr<const SourceContent>();
}

bool is_ref_of(std::string_view name, std::string_view ref) {
  if (!ref.starts_with(name))
    return false;
  const std::string_view rest = ref.substr(name.size());
  return rest.empty() || rest == extension || rest == ".init";
}

}  // namespace fettle::states
