#include "remote/kept_list.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "base/lock_file.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr Duration turn_of_change = 10s;
constexpr size_t longest_plain_name = 64;

}  // namespace

Error KeptList::damaged(std::string_view why) const {
  return user_error(cat("`", file.string(), "`, which has the ", name,
                        " of the server, is damaged: ", why,
                        "; put it right, or remove it and make new ", name));
}

Result<std::vector<Value>> KeptList::read() const {
  struct stat about{};
  if (stat(file.c_str(), &about) != 0) {
    if (errno == ENOENT)
      return std::vector<Value>();
    return file_error("cannot read", file);
  }
  if ((about.st_mode & 077U) != 0)
    return user_error(cat("others can read or write `", file.string(), "`, which has the ", name,
                          " of the server; `chmod 600 ", file.string(), "` closes it"));
  const Result<Value> value = read_json(TRY(read_file(file)));
  if (!value)
    return damaged(value.error().message);
  if (!value->at(name).is_list())
    return damaged(cat("it has no list `", name, "`"));
  const auto items = value->at(name).items();
  return std::vector<Value>(items.begin(), items.end());
}

Status KeptList::change(const std::function<Result<std::vector<Value>>()>& changed) const {
  TRY(make_directories(file.parent_path()));
  const LockFile lock = TRY(LockFile::await(file.string() + ".lock", turn_of_change, {}));
  std::vector<Value> values = TRY(changed());
  return write_file(
      file, write_json(Value::dict({{name, Value::list(std::move(values))}}), {.indent = 2}) + "\n",
      0600);
}

std::optional<Time> time_of_use(const Path& folder, const std::string& name) {
  struct stat about{};
  if (stat((folder / name).c_str(), &about) != 0)
    return std::nullopt;
  return Time(std::chrono::seconds(about.st_mtim.tv_sec) +
              std::chrono::nanoseconds(about.st_mtim.tv_nsec));
}

void note_use_in(const Path& folder, const std::string& name, Time now) {
  if (!make_directories(folder))
    return;
  const Descriptor file(
      ::open((folder / name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  const auto since = now.time_since_epoch();
  const timespec at{std::chrono::duration_cast<std::chrono::seconds>(since).count(),
                    (since % 1s).count()};
  const std::array<timespec, 2> times{at, at};
  if (file.is_open())
    static_cast<void>(futimens(file.get(), times.data()));
}

Status check_plain_name(const std::string& name, std::string_view what) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const bool is_good = !name.empty() && name.size() <= longest_plain_name && is_plain(name[0]) &&
                       std::ranges::all_of(name, [&](char c) {
                         return is_plain(c) || c == '-' || c == '_' || c == '.';
                       });
  if (is_good)
    return {};
  return user_error(cat(
      what, " cannot be called `", printable(name), "`: its name has at most ", longest_plain_name,
      " letters, digits, `-`, `_` and `.`, and begins with a ", "letter or digit"));
}

Result<std::vector<std::string>> texts_in(const Value& list, std::string_view name) {
  const Error wrong = user_error(cat("`", name, "` must be a list of texts"));
  if (!list.is_list())
    return wrong;
  std::vector<std::string> texts;
  for (const Value& item : list.items()) {
    if (!item.is_text() || item.text().empty())
      return wrong;
    texts.push_back(item.text().str());
  }
  return texts;
}

}  // namespace fettle
