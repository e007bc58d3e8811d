#include "verbs/environments/plan_files.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t most_listed = 100, largest_plan = 16'777'216;
constexpr Duration longest_wait = 5s;  ///< for those who change the list

Path list_in(const std::string& home) { return Path(home) / "kept-plans"; }

/// The paths in the list. One that cannot be read is empty.
std::vector<std::string> listed_files(const std::string& home) {
  std::vector<std::string> paths;
  const Result<std::string> text = read_file(list_in(home));
  for (const std::string_view line : text ? split(*text, '\n') : std::vector<std::string_view>())
    if (!line.empty())
      paths.emplace_back(line);
  return paths;
}

std::optional<PlanFile> read_listed(const std::string& path) {
  struct stat about{};
  // A pipe that stands there now would block.
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode) ||
      static_cast<uint64_t>(about.st_size) > largest_plan)
    return std::nullopt;
  const Result<std::string> text = read_file(path);
  if (!text)
    return std::nullopt;
  Result<KeptPlan> plan = read_plan_file(*text, path);
  if (!plan)
    return std::nullopt;
  PlanFile found{.path = path,
                 .written = Time(std::chrono::seconds(about.st_mtim.tv_sec) +
                                 std::chrono::nanoseconds(about.st_mtim.tv_nsec)),
                 .plan = *std::move(plan),
                 .steps = {}};
  const Value document = *read_json(*text);
  for (const Value& step : document.at("steps").items())
    found.steps.push_back(
        Value::dict({{"verb", step.text_at("verb")}, {"key", step.text_at("key")}}));
  return found;
}

}  // namespace

Status remember_plan_file(const std::string& home, const std::string& file) {
  std::error_code failure;
  const std::string path = std::filesystem::absolute(file, failure).lexically_normal().string();
  // A line of the list is a path. Devices and pipes keep nothing.
  if (failure || path.find('\n') != path.npos || !std::filesystem::is_regular_file(path, failure))
    return {};
  // Others may keep plans at the same time.
  const LockFile lock = TRY(LockFile::await(list_in(home) += ".lock", longest_wait, {}));
  std::vector<std::string> paths = listed_files(home);
  std::erase(paths, path);
  paths.push_back(path);
  if (paths.size() > most_listed)
    paths.erase(paths.begin(), paths.end() - most_listed);
  return write_file(list_in(home), join(paths, "\n") + "\n", 0600);
}

Result<std::vector<PlanFile>> plan_files(const std::string& home) {
  std::vector<PlanFile> found;
  for (const std::string& path : listed_files(home))
    if (std::optional<PlanFile> file = read_listed(path))
      found.push_back(*std::move(file));
  std::ranges::stable_sort(found, std::greater(), &PlanFile::written);
  return found;
}

Result<PlanFile> find_plan_file(const std::string& home, const std::string& path) {
  for (const std::string& listed : listed_files(home))
    if (listed == path)
      if (std::optional<PlanFile> file = read_listed(path))
        return *std::move(file);
  return user_error(cat("there is no kept plan `", printable(path), "`"));
}

}  // namespace fettle
