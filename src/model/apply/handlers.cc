#include "model/apply/handlers.h"

#include <cctype>

#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

namespace fettle::model {
namespace {

bool is_name(std::string_view name) {
  return !name.empty() && name.find_first_of("/\\") == name.npos && !name.starts_with('.') &&
         name.find('\0') == name.npos;
}

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether a name stands anywhere in the text. A function may be defined, assigned or loaded, and
/// its name is part of all three.
bool mentions(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !is_of_name(text[at - 1])) && (end == text.size() || !is_of_name(text[end])))
      return true;
  }
  return false;
}

/// Checks the functions that every handler in Starlark must have.
Status check_functions(const Path& source, std::string_view text) {
  for (const char* function : {"read", "create", "update", "delete"})
    if (!mentions(text, function))
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
    if (named.find("interpreter") != nullptr)
      handlers.push_back({type, named});
    else if (!named.text_at("name").empty())
      handlers.push_back(
          {type, TRY(find_handler(named).context(cat("the handler of `", type, "`")))});
  return Value::dict(std::move(handlers));
}

}  // namespace fettle::model
