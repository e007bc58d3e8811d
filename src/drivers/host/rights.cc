#include "drivers/host/rights.h"

#include <array>
#include <charconv>

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include "base/text.h"

namespace fettle {
namespace {

constexpr size_t entry_size = 16 * 1024;

std::optional<uint32_t> number_in(std::string_view digits) {
  uint32_t number = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (code != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  return number;
}

Result<uid_t> user_named(const std::string& name) {
  std::array<char, entry_size> buffer;
  passwd entry{};
  passwd* found = nullptr;
  getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found != nullptr)
    return entry.pw_uid;
  if (const auto number = number_in(name))
    return *number;
  return world_error(cat("there is no user `", name, "`"));
}

Result<gid_t> group_named(const std::string& name) {
  std::array<char, entry_size> buffer;
  group entry{};
  group* found = nullptr;
  getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found != nullptr)
    return entry.gr_gid;
  if (const auto number = number_in(name))
    return *number;
  return world_error(cat("there is no group `", name, "`"));
}

}  // namespace

std::string name_of_user(uid_t user) {
  std::array<char, entry_size> buffer;
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
  return found == nullptr ? std::to_string(user) : entry.pw_name;
}

std::string name_of_group(gid_t number) {
  std::array<char, entry_size> buffer;
  group entry{};
  group* found = nullptr;
  getgrgid_r(number, &entry, buffer.data(), buffer.size(), &found);
  return found == nullptr ? std::to_string(number) : entry.gr_name;
}

Result<Rights> wanted_rights(const Ownership& wanted, const struct stat* there,
                             mode_t mode_of_new) {
  Rights rights{geteuid(), getegid(), mode_of_new};
  if (there != nullptr)
    rights = {there->st_uid, there->st_gid, there->st_mode & 07777};
  if (wanted.owner.is_text())
    rights.owner = TRY(user_named(wanted.owner.get().str()));
  if (wanted.group.is_text())
    rights.group = TRY(group_named(wanted.group.get().str()));
  if (wanted.mode.is_text())
    rights.mode = static_cast<mode_t>(std::stoul(wanted.mode.get().str(), nullptr, 8));
  return rights;
}

bool has_rights(const struct stat& there, const Rights& rights) {
  return there.st_uid == rights.owner && there.st_gid == rights.group &&
         (there.st_mode & 07777) == rights.mode;
}

Status set_rights(const Path& path, const Rights& rights) {
  struct stat there{};
  if (lstat(path.c_str(), &there) != 0)
    return file_error("cannot look at", path);
  if ((there.st_uid != rights.owner || there.st_gid != rights.group) &&
      lchown(path.c_str(), rights.owner, rights.group) != 0)
    return file_error("cannot change the owner of", path);
  if (!S_ISLNK(there.st_mode) && chmod(path.c_str(), rights.mode) != 0)
    return file_error("cannot change the mode of", path);
  return {};
}

}  // namespace fettle
