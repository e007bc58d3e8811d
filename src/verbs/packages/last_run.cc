#include "verbs/packages/last_run.h"

#include <filesystem>

#include "base/user_path.h"
#include "packages/locator.h"

namespace fettle {
namespace {

constexpr std::string_view last_run_note = "last run";

}  // namespace

bool is_of_files(const LastRun& run) { return !is_absolute_locator(run.package); }

Result<std::optional<LastRun>> read_last_run(const Workplace& place, const Name& environment) {
  const std::optional<Value> note = TRY(place.store->note(environment, last_run_note));
  if (!note || !note->is_dict())
    return std::optional<LastRun>();
  const Value given = reveal(note->at("given"));
  return std::optional(LastRun{std::string(note->text_at("package")),
                               std::string(given.text_at("arguments")),
                               std::string(given.text_at("file"))});
}

Status write_last_run(const Workplace& place, Edit& edit, const LastRun& run) {
  if (const auto before = TRY(read_last_run(place, edit.environment())); before && *before == run)
    return {};
  const Value given = Value::dict({{"arguments", run.arguments}, {"file", run.arguments_file}});
  const bool has_arguments = !run.arguments.empty() && run.arguments != "{}";
  return edit.put_note(last_run_note,
                       Value::dict({{"package", run.package},
                                    {"given", has_arguments ? Value::secret(given) : given}}));
}

std::string package_identity(const std::string& package) {
  if (is_absolute_locator(package))
    return package.substr(0, package.find('@'));
  std::error_code failure;
  // A script from standard input belongs to the folder.
  std::filesystem::path path =
      std::filesystem::weakly_canonical(package == "-" ? "." : package, failure);
  if (failure)
    return package;
  if (path.filename() == "kurtosis.yml" || path.filename() == "main.star")
    path = path.parent_path();
  return user_path(path.has_filename() ? path.string() : path.parent_path().string());
}

}  // namespace fettle
