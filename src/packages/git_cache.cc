#include "packages/git_cache.h"

#include <algorithm>
#include <cctype>

#include <unistd.h>

#include "base/hash.h"
#include "base/http.h"
#include "base/lock_file.h"
#include "base/process.h"
#include "base/text.h"
#include "base/wait.h"

namespace fettle {
namespace {

/// Our variables that would send git to another repository.
const std::vector<std::string> variables_of_a_repository{"GIT_DIR",
                                                         "GIT_WORK_TREE",
                                                         "GIT_INDEX_FILE",
                                                         "GIT_OBJECT_DIRECTORY",
                                                         "GIT_ALTERNATE_OBJECT_DIRECTORIES",
                                                         "GIT_COMMON_DIR",
                                                         "GIT_NAMESPACE",
                                                         "GIT_PREFIX",
                                                         "GIT_SHALLOW_FILE",
                                                         "GIT_GRAFT_FILE",
                                                         "GIT_REPLACE_REF_BASE",
                                                         "GIT_IMPLICIT_WORK_TREE",
                                                         "GIT_INTERNAL_SUPER_PREFIX",
                                                         "GIT_TEMPLATE_DIR",
                                                         "GIT_CEILING_DIRECTORIES"};

/// Settings that take precedence over the user's, who may have set any of these for other purposes.
const std::vector<std::string> settings{"advice.detachedHead=false",
                                        "core.hooksPath=/dev/null",
                                        "core.fsmonitor=false",
                                        "core.attributesFile=/dev/null",
                                        "core.symlinks=true",
                                        "core.autocrlf=false",
                                        "submodule.recurse=false",
                                        "fetch.recurseSubmodules=false",
                                        "gc.auto=0",
                                        "maintenance.auto=false"};

/// Counts more than any attribute that a repository gives its files: none is filtered or converted.
constexpr std::string_view no_attributes =
    "* -filter -ident -text -eol -working-tree-encoding -diff -merge\n";

bool is_commit(std::string_view ref) {
  return (ref.size() == 40 || ref.size() == 64) && std::ranges::all_of(ref, [](char c) {
           return std::isdigit(static_cast<unsigned char>(c)) != 0 || (c >= 'a' && c <= 'f');
         });
}

class Git {
 public:
  Git(const GitCache& cache, Path folder) : cache_(cache), folder_(std::move(folder)) {}

  enum class Talks { with_nobody, with_a_server };
  Result<ProcessResult> run(const std::vector<std::string>& arguments, Talks talks) const {
    Invocation call;
    call.arguments = {"git"};
    for (const std::string& setting : settings)
      call.arguments.insert(call.arguments.end(), {"-c", setting});
    call.arguments.insert(call.arguments.end(), arguments.begin(), arguments.end());
    call.directory = folder_;
    call.without = variables_of_a_repository;
    // A file or a helper program is a source only where the user's own settings say so.
    call.environment = {{"GIT_TERMINAL_PROMPT", "0"},
                        {"GIT_PROTOCOL_FROM_USER", cache_.url.empty() ? "0" : "1"}};
    call.session = true;
    call.is_own = true;
    call.time_limit = cache_.limits.whole;
    if (talks == Talks::with_a_server)
      call.silence_limit = cache_.limits.silence;
    return run_process(call, cache_.stop);
  }

 private:
  const GitCache& cache_;
  Path folder_;
};

/// The complaint of git, without the lines of its progress.
std::string complaint(const std::string& said) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(trim(said), '\n'))
    if (line.find('\r') == line.npos)
      lines.push_back(printable(line));
  return join(lines, "\n");
}

Error cannot_fetch(const std::string& repository, const std::string& ref,
                   const ProcessResult& done) {
  return world_error(cat("cannot fetch `", repository, "`",
                         ref.empty() ? "" : cat(" at `", ref, "`"), ": ", complaint(done.errors)));
}

/// Where a repository is, and what people call it.
struct Origin {
  std::string shown, url;
};

Origin origin_of(const GitCache& cache, const std::string& repository) {
  if (cache.url.empty())
    return {repository, cat("https://", repository, ".git")};
  return {shown_url(cache.url), cache.url};
}

/// The commit that a ref means there: of a tag, peeled when it is annotated, before a branch. Else
/// the ref itself: it may be a commit, or a name that only a fetch understands.
Result<std::string> commit_of(const Git& git, const Origin& origin, const std::string& ref) {
  const std::vector<std::string> names =
      ref.empty() ? std::vector<std::string>{"HEAD"}
      : ref.starts_with("refs/")
          ? std::vector<std::string>{ref}
          : std::vector<std::string>{cat("refs/tags/", ref, "^{}"), cat("refs/tags/", ref),
                                     cat("refs/heads/", ref)};
  std::vector<std::string> listing{"ls-remote", "--", origin.url};
  listing.insert(listing.end(), names.begin(), names.end());
  const ProcessResult listed = TRY(git.run(listing, Git::Talks::with_a_server));
  if (listed.code != 0)
    return cannot_fetch(origin.shown, "", listed);
  for (const std::string& wanted : names)
    for (const std::string_view line : split(listed.output, '\n'))
      if (const auto parts = split(line, '\t');
          parts.size() == 2 && parts[1] == wanted && is_commit(parts[0]))
        return std::string(parts[0]);
  if (ref.empty())
    return world_error(cat("the repository `", origin.shown, "` has no commit"));
  return ref;
}

/// Everything that was written to the file system of a folder is on its disk.
Status sync_all(const Path& folder) {
  const Descriptor open = TRY(open_to_read(folder));
  if (syncfs(open.get()) != 0)
    return file_error("cannot write", folder);
  return {};
}

/// A checkout in the making, beside its place.
class Checkout {
 public:
  Checkout(const GitCache& cache, const Origin& origin, Path work)
      : origin_(origin), work_(std::move(work)), git_(cache, work_) {}
  ~Checkout() { static_cast<void>(remove_tree(work_)); }
  Checkout(const Checkout&) = delete;
  Checkout& operator=(const Checkout&) = delete;

  /// Fetches what `wanted` names; the answer is its commit.
  Result<std::string> fetch(const std::string& wanted, const std::string& ref) {
    TRY(make_directories(files()));
    TRY(step({"init", "--quiet", "--template="}, ref));
    TRY(make_directories(objects() / "info"));
    TRY(write_file(objects() / "info" / "attributes", no_attributes));
    TRY(step({"fetch", "--progress", "--no-tags", "--no-recurse-submodules", "--depth", "1", "--",
              origin_.url, wanted},
             ref, Git::Talks::with_a_server));
    const ProcessResult found = TRY(step({"rev-parse", "--verify", "FETCH_HEAD^{commit}"}, ref));
    return std::string(trim(found.output));
  }

  /// Puts the files at `place`, unless somebody else has just done so.
  Status put(const Path& place, const std::string& ref) {
    TRY(step({"checkout", "--quiet", "--no-recurse-submodules", "FETCH_HEAD"}, ref));
    TRY(sync_all(files()));
    if (rename(files().c_str(), place.c_str()) != 0) {
      const Error cause = file_error("cannot write", place);
      if (!file_exists(place))
        return cause;
    }
    return sync_all(place.parent_path());
  }

 private:
  Path objects() const { return work_ / "git"; }
  Path files() const { return work_ / "files"; }

  Result<ProcessResult> step(std::vector<std::string> arguments, const std::string& ref,
                             Git::Talks talks = Git::Talks::with_nobody) {
    arguments.insert(arguments.begin(),
                     {"--git-dir", objects().string(), "--work-tree", files().string()});
    ProcessResult done = TRY(git_.run(arguments, talks));
    if (done.code != 0)
      return cannot_fetch(origin_.shown, ref, done);
    return done;
  }

  const Origin& origin_;
  Path work_;
  Git git_;
};

}  // namespace

Result<std::string> GitCache::checkout(const std::string& repository,
                                       const std::string& ref) const {
  const Path base = folder / repository;  // of locks, and of what is in the making
  TRY(make_directories(base));
  const auto place_of = [&](const std::string& commit) {
    return Path(cat(base.string(), "@", commit));
  };
  if (is_commit(ref) && file_exists(place_of(ref)))
    return place_of(ref).string();
  if (find_program("git").empty())
    return world_error("fetching a package needs git: install the package git");
  const Origin origin = origin_of(*this, repository);
  const Activity fetching(doing, cat("fetching ", origin.shown, ref.empty() ? "" : "@", ref));
  const std::string wanted = TRY(commit_of(Git(*this, base), origin, ref));
  if (is_commit(wanted) && file_exists(place_of(wanted)))
    return place_of(wanted).string();
  const std::string name = is_commit(wanted) ? wanted : to_string(fingerprint(wanted));
  const LockFile lock = TRY(LockFile::await(
      base / cat(name, ".lock"), limits.whole > 0s ? limits.whole : for_ever, stop, [&] {
        if (notice)
          notice(cat("waiting for another process that fetches `", origin.shown, "`"));
      }));
  if (is_commit(wanted) && file_exists(place_of(wanted)))
    return place_of(wanted).string();
  const std::string drafts = cat(name, ".new");
  const auto remove_drafts = [&] {
    std::error_code code;
    for (const auto& entry : std::filesystem::directory_iterator(base, code))
      if (entry.path().filename().string().starts_with(drafts))
        static_cast<void>(remove_tree(entry.path()));
  };
  remove_drafts();  // what those that were killed have left
  // A name of its own: git of one that was killed may still write for a moment.
  const Path beside = base / cat(drafts, ".", getpid());
  TRY(make_directories(beside));
  Checkout made(*this, origin, beside);
  const std::string shown = ref.empty() ? wanted : ref;
  const std::string commit = TRY(made.fetch(wanted, shown));
  TRY(made.put(place_of(commit), shown));
  remove_drafts();
  return place_of(commit).string();
}

Fetch GitCache::fetch() const {
  return [cache = *this](const std::string& repository, const std::string& ref) {
    return cache.checkout(repository, ref);
  };
}

}  // namespace fettle
