/// Passwords that a project keeps in `data/std/passwordfile.txt`, a line `id=password` each.

#include <sys/random.h>

#include "base/file.h"
#include "base/text.h"
#include "model/std/groups.h"

namespace fettle::model {
namespace {

constexpr std::string_view file_name = "data/std/passwordfile.txt";
constexpr int64_t longest_password = 10'000;

Result<std::string> read_passwords(const Path& file) {
  return file_exists(file) ? read_file(file) : Result<std::string>(std::string());
}

std::optional<std::string_view> find_password(std::string_view passwords, std::string_view id) {
  for (const std::string_view line : split(passwords, '\n'))
    if (const size_t equal = line.find('=');
        equal != line.npos && trim(line.substr(0, equal)) == id)
      return trim(line.substr(equal + 1));
  return std::nullopt;
}

bool check_id(PluginCall& call) {
  return call.text(0).find('=') == std::string_view::npos ||
         call.fail("Exception: The password id cannot contain =");
}

/// Letters and digits, each as likely as any other.
std::string random_password(size_t length) {
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::string made;
  while (made.size() < length) {
    unsigned char byte = 0;
    if (getrandom(&byte, 1, 0) != 1)
      continue;
    if (byte < 256 / letters.size() * letters.size())
      made.push_back(letters[byte % letters.size()]);
  }
  return made;
}

bool generate_password(PluginCall& call) {
  if (!check_id(call))
    return false;
  const Path file = call.context.program().folder / file_name;
  const Result<std::string> passwords = read_passwords(file);
  if (!passwords)
    return call.fail(cat("OSError: ", passwords.error().message));
  if (const auto found = find_password(*passwords, call.text(0)))
    return call.give_text(*found);
  if (call.integer(1) < 0 || call.integer(1) > longest_password)
    return call.fail(cat("ValueError: a password has at most ", longest_password, " characters"));
  const std::string made = random_password(static_cast<size_t>(call.integer(1)));
  Status written = make_directories(file.parent_path());
  if (written)
    written = write_file(file, cat(*passwords, call.text(0), "=", made, "\n"), 0600);
  return written ? call.give_text(made) : call.fail(cat("OSError: ", written.error().message));
}

bool password(PluginCall& call) {
  if (!check_id(call))
    return false;
  const Result<std::string> passwords = read_passwords(call.context.program().folder / file_name);
  if (!passwords)
    return call.fail(cat("OSError: ", passwords.error().message));
  const auto found = find_password(*passwords, call.text(0));
  return found ? call.give_text(*found)
               : call.fail(cat("Exception: Password ", call.text(0), " does not exist in file ",
                               file_name));
}

constexpr std::array secrets_rows{
    PluginRow{"generate_password", "(pw_id: string, length: int = 20) -> string",
              generate_password},
    PluginRow{"password", "(pw_id: string) -> string", password},
};

}  // namespace

std::span<const PluginRow> secrets_plugins() { return secrets_rows; }

}  // namespace fettle::model
