#include "model/apply/handlers.h"

#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

namespace fettle::model {
namespace {

bool is_name(std::string_view name) {
  return !name.empty() && name.find_first_of("/\\") == name.npos && !name.starts_with('.') &&
         name.find('\0') == name.npos;
}

/// Whether a line of the text defines or assigns the name. Who loads names may load this one.
bool defines(std::string_view text, std::string_view name) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("load("))
      return true;
    std::string_view rest = line.starts_with("def ") ? trim(line.substr(4)) : line;
    if (!rest.starts_with(name))
      continue;
    rest = trim(rest.substr(name.size()));
    if (rest.starts_with('(') || (rest.starts_with('=') && !rest.starts_with("==")))
      return true;
  }
  return false;
}

/// What every handler in Starlark has to have.
Status check_functions(const Path& source, std::string_view text) {
  for (const char* function : {"read", "create", "update", "delete"})
    if (!defines(text, function))
      return user_error(
          cat("the handler `", source.string(), "` has no function `", function, "`"));
  return {};
}

Result<Value> find_handler(const Value& declared) {
  const std::string_view name = declared.text_at("name");
  if (!is_name(name))
    return user_error(cat("`", name, "` is not the name of a handler"));
  const Path folder =
      std::filesystem::absolute(Path(declared.text_at("file"))).parent_path().parent_path() /
      "handlers";
  const Path source = folder / cat(name, ".star"), program = folder / name;
  std::vector<Entry> found{{"name", name}};
  if (const Value* deadline = declared.find("deadline"))
    found.push_back({"deadline", *deadline});
  if (file_exists(source)) {
    const std::string text = TRY(read_file(source));
    TRY(check_functions(source, text));
    found.push_back({"source", text});
  } else if (!file_exists(program)) {
    return user_error(cat("there is no handler `", name, "`: neither `", source.string(),
                          "` nor the program `", program.string(), "`"));
  } else if (access(program.c_str(), X_OK) != 0) {
    return user_error(cat("the handler `", program.string(), "` is not executable"));
  } else {
    found.push_back({"program", program.string()});
  }
  return Value::dict(std::move(found));
}

}  // namespace

Result<Value> find_handlers(std::span<const std::pair<fettle::Name, Value>> declared) {
  std::vector<Entry> handlers;
  for (const auto& [type, named] : declared)
    if (!named.text_at("name").empty())
      handlers.push_back(
          {type, TRY(find_handler(named).context(cat("the handler of `", type, "`")))});
  return Value::dict(std::move(handlers));
}

}  // namespace fettle::model
