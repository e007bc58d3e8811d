#include "app/home.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/scratch_folder.h"
#include "base/text.h"

namespace fettle {
namespace {

namespace fs = std::filesystem;

/// Folders that belong to everybody. Folders below them may be ours.
constexpr std::array<std::string_view, 36> of_the_system{
    "/",          "/bin",      "/boot",      "/dev",       "/dev/shm",   "/etc",
    "/home",      "/lib",      "/lib32",     "/lib64",     "/media",     "/mnt",
    "/opt",       "/proc",     "/root",      "/run",       "/run/user",  "/sbin",
    "/srv",       "/sys",      "/tmp",       "/usr",       "/usr/bin",   "/usr/lib",
    "/usr/local", "/usr/sbin", "/usr/share", "/var",       "/var/cache", "/var/lib",
    "/var/log",   "/var/mail", "/var/run",   "/var/spool", "/var/tmp",   "/var/opt"};

Result<std::string> asked_for(const Variable& variable) {
  if (const std::string home = variable("FETTLE_HOME"); !home.empty())
    return home;
  if (const std::string state = variable("XDG_STATE_HOME"); !state.empty())
    return cat(state, "/fettle");
  const std::string home = variable("HOME");
  if (home.empty())
    return user_error(
        "no folder for fettle's state: `$FETTLE_HOME`, `$XDG_STATE_HOME` and `$HOME` are not set; "
        "set `$FETTLE_HOME` to a folder that fettle alone uses");
  return (fs::path(home) / ".local/state/fettle").string();
}

bool is_a_home(const fs::path& folder, const Variable& variable) {
  const auto same = [&](const fs::path& other) {
    std::error_code code;
    return !other.empty() && fs::weakly_canonical(other, code) == folder && !code;
  };
  const passwd* const user = getpwuid(getuid());
  return same(variable("HOME")) || (user != nullptr && same(user->pw_dir)) ||
         folder.parent_path() == "/home";
}

Status check_place(const fs::path& folder, const Variable& variable) {
  const std::string_view hint = "set `$FETTLE_HOME` to a folder that fettle alone uses";
  if (std::ranges::find(of_the_system, folder.string()) != of_the_system.end())
    return user_error(
        cat("state cannot be kept in `", folder.string(), "`, a folder of the system; ", hint));
  if (is_a_home(folder, variable))
    return user_error(
        cat("state cannot be kept in `", folder.string(), "`, a home folder; ", hint));
  return {};
}

std::string warning_about(const fs::path& folder, const struct stat& about) {
  const unsigned mode = about.st_mode & 0777;
  if (about.st_uid != geteuid() && about.st_uid != 0)
    return cat("the folder of fettle's state, `", folder.string(), "`, belongs to another user");
  if ((mode & 077) == 0)
    return {};
  std::string digits(3, '0');
  for (unsigned i = 0; i < 3; ++i)
    digits[i] = static_cast<char>('0' + (mode >> (6 - 3 * i) & 7));
  return cat("other users can read the folder of fettle's state (mode ", digits, "); `chmod 700 ",
             folder.string(), "` closes it");
}

/// If nothing can be written, the id is computed each time.
std::string id_of(const fs::path& folder) {
  const fs::path file = folder / "id";
  if (const Result<std::string> kept = read_file(file); kept && !trim(*kept).empty())
    return std::string(trim(*kept));
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::string machine = read_file("/etc/machine-id").value_or(host.data());
  const std::string id = sha256_hex(cat(trim(machine), "\n", folder.string())).substr(0, 12);
  static_cast<void>(write_file(file, id + "\n", 0600));
  return id;
}

}  // namespace

Result<Home> open_home(const Variable& variable) {
  const std::string asked = TRY(asked_for(variable));
  std::error_code code;
  fs::path folder = fs::weakly_canonical(fs::absolute(asked, code), code);
  if (code)
    return user_error(cat("cannot use `", asked,
                          "` as the folder of fettle's state: ", lower_case(code.message())));
  if (!folder.has_filename())  // a slash at its end
    folder = folder.parent_path();
  TRY(check_place(folder, variable));
  TRY(make_directories(folder.parent_path()).context(cat("making `", folder.string(), "`")));
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return file_error("cannot create the folder of fettle's state,", folder);
  struct stat about{};
  if (stat(folder.c_str(), &about) != 0)
    return file_error("cannot look at the folder of fettle's state,", folder);
  if (!S_ISDIR(about.st_mode))
    return user_error(cat(
        "`", folder.string(),
        "` is not a folder, so it cannot hold fettle's state; set `$FETTLE_HOME` to another one"));
  return Home{folder.string(), warning_about(folder, about), id_of(folder)};
}

Status check_writable(const std::string& folder) {
  const auto named = [&](Error error) {
    return world_error(cat("nothing can be written to the folder of fettle's state, `", folder,
                           "`: ", error.message));
  };
  const Result<ScratchFolder> scratch = ScratchFolder::make(folder);
  if (!scratch)
    return named(scratch.error());
  // Folders can still be made on a full disk, so a file is written.
  const Status written = write_file(fs::path(scratch->path()) / "probe", std::string(4'096, 'x'));
  if (!written)
    return named(written.error());
  for (const char* const name : {"fettle.db", "fettle.db-wal", "fettle.db-shm", "key"})
    if (const fs::path file = fs::path(folder) / name;
        file_exists(file) && access(file.c_str(), R_OK | W_OK) != 0)
      return file_error("cannot read and write", file);
  return {};
}

}  // namespace fettle
