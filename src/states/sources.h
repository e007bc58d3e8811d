#pragma once
/// Finds files of states and of parameters. A source is
///
///   DIR, file://DIR      a folder
///   FILE, file://FILE    an archive (zip, tar, gzip around it); zip:// and tar:// say the same
///   json://{"REF": {…}}  files that were never written
///
/// and a file is found by its ref: `a.b` is `a/b.sls`, else `a/b/init.sls`. A word of the command
/// line that names a file makes its folder a source that comes before all others; `-` is standard
/// input, in the working folder.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "states/position.h"

namespace fettle::states {

/// The files of a machine: all that sources need from the outside.
class Files {
 public:
  virtual ~Files() = default;
  /// The bytes of a file. None: there is no such file, or it is a folder.
  virtual Result<std::optional<std::string>> read(const std::string& path) = 0;
  /// The same of a file that need not fit into the memory.
  virtual Result<std::optional<ByteSource>> open(const std::string& path);
  virtual bool is_folder(const std::string& path) = 0;
};

/// The files of this machine, or, unless it is empty, those below a folder, links followed. A file of
/// more than 256 MB is an error.
std::unique_ptr<Files> disk_files(const std::string& folder = {});
/// The files of a map from path to bytes.
std::unique_ptr<Files> files_of(std::map<std::string, std::string> files);

struct SourceFile {
  std::string ref;   ///< its name for `sls:` requisites and errors: `web.nginx`, `main.sls`
  std::string name;  ///< its path, for people and for places
  SharedText text;
  std::string path;   ///< below its source
  size_t source = 0;  ///< its number in `Sources`
};

/// A file of the sources that a state copies as it is. It was read once, and only a short text is kept.
struct SourceContent {
  std::string digest;  ///< the SHA-256, in hex
  SharedText text;     ///< of at most `largest_text` bytes, which are UTF-8; else null
  /// Reads it again. By then it may have other bytes, or be gone.
  std::function<Result<ByteSource>()> open;

  static constexpr size_t largest_text = 1 << 20;
};

class Source;

class Sources {
 public:
  /// `specs`: sources in the order in which they are asked; `words` of the command line: paths and
  /// refs. Errors (`Blame::user`): one is no source.
  static Result<Sources> make(std::span<const std::string> specs,
                              std::span<const std::string> words, Files& files);
  ~Sources();
  Sources(Sources&&) noexcept;
  Sources& operator=(Sources&&) noexcept;

  /// The file that a word of the command line or a ref names. None: there is none.
  Result<std::optional<SourceFile>> root(std::string_view word);
  /// The file that another one calls `ref`: a file of a source, or, with dots in front (`.b`,
  /// `..c`), one near the other. Errors (`Blame::user`): it leads out of the source.
  Result<std::optional<SourceFile>> included(std::string_view ref, const SourceFile& from);
  /// A file by its path below a source, for templates.
  Result<std::optional<SourceFile>> at_path(std::string_view path);
  /// The same, for a state that copies it. It can be opened as long as the `Files` exist.
  Result<std::shared_ptr<const SourceContent>> content_at(std::string_view path);

 private:
  Sources();
  Status add_ref(const std::string& word, size_t given, Files& files);
  Result<bool> add_path(const std::string& word, const std::string& path, Files& files);
  size_t folder_source(const std::string& path, Files& files);
  /// The sources in which a path is looked for.
  std::vector<size_t> order_of_paths() const;
  Result<std::optional<SourceFile>> in_source(size_t source, std::string_view ref);
  Result<std::optional<SourceFile>> find(std::string_view ref);
  Result<std::optional<SourceFile>> near(std::string_view ref, const SourceFile& from);

  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<size_t> order_;   ///< in which they are asked
  std::vector<size_t> starts_;  ///< folders in which paths of the command line begin
  std::map<std::string, SourceFile, std::less<>> words_;
};

/// Whether a requisite `sls: name` means the file `ref`.
bool is_ref_of(std::string_view name, std::string_view ref);

}  // namespace fettle::states
