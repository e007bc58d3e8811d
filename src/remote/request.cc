#include "remote/request.h"

#include <algorithm>

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::array<std::string_view, 5> type_names{"file", "folder", "link", "place", "other"};
constexpr size_t most_words = 10'000, longest_path = 4'000;

Value texts(const std::vector<std::string>& items) {
  std::vector<Value> values;
  values.reserve(items.size());
  for (const std::string& item : items)
    values.emplace_back(item);
  return Value::list(std::move(values));
}

Result<std::vector<std::string>> texts_at(const Value& value, std::string_view key) {
  const Value& list = value.at(key);
  if (!list.is_list() || list.items().size() > most_words)
    return user_error(cat("`", key, "` must be a list of texts"));
  std::vector<std::string> items;
  for (const Value& item : list.items()) {
    if (!item.is_text() || item.text().str().find('\0') != std::string::npos)
      return user_error(cat("`", key, "` must be a list of texts"));
    items.push_back(item.text().str());
  }
  return items;
}

}  // namespace

bool is_variable_of_machine(std::string_view name) {
  constexpr std::array<std::string_view, 25> names{"PATH",
                                                   "HOME",
                                                   "PWD",
                                                   "SHELL",
                                                   "TMPDIR",
                                                   "USER",
                                                   "LOGNAME",
                                                   "LD_PRELOAD",
                                                   "LD_LIBRARY_PATH",
                                                   "FETTLE_HOME",
                                                   "FETTLE_SERVER",
                                                   "FETTLE_TOKEN",
                                                   "FETTLE_TLS_CA",
                                                   "DOCKER_HOST",
                                                   "DOCKER_CONFIG",
                                                   "DOCKER_CONTEXT",
                                                   "CONTAINER_HOST",
                                                   "XDG_STATE_HOME",
                                                   "CONTAINER_CONNECTION",
                                                   "XDG_DATA_HOME",
                                                   "XDG_CACHE_HOME",
                                                   "XDG_CONFIG_HOME",
                                                   "XDG_RUNTIME_DIR",
                                                   "FETTLE_STORE",
                                                   "FETTLE_KEY_COMMAND"};
  return std::ranges::find(names, name) != names.end();
}

bool is_variable_of_answers(std::string_view name) {
  constexpr std::array<std::string_view, 7> plain{"TERM",  "COLORTERM", "NO_COLOR", "COLUMNS",
                                                  "LINES", "TZ",        "LANG"};
  // A folder that this one names travels as that of the flag does.
  const bool is_ours = name != "FETTLE_PACKAGE_MIRROR" &&
                       (name.starts_with("FETTLE_") || name.starts_with("INMANTA_") ||
                        name.starts_with("COMPOSE_") || name.starts_with("LC_"));
  return std::ranges::find(plain, name) != plain.end() ||
         (is_ours && !is_variable_of_machine(name));
}

bool is_plain_path(std::string_view path) {
  if (path.size() < 2 || path[0] != '/' || path.size() > longest_path ||
      path.find('\0') != path.npos)
    return false;
  return std::ranges::none_of(split(path.substr(1), '/'), [](std::string_view step) {
    return step.empty() || step == "." || step == "..";
  });
}

Value value_of(const FileEntry& entry) {
  return Value::dict({{"path", entry.path},
                      {"type", type_names[static_cast<size_t>(entry.type)]},
                      {"mode", entry.mode},
                      {"size", entry.size},
                      {"digest", entry.digest},
                      {"target", entry.target}});
}

Value value_of(const CommandRequest& request) {
  std::vector<Entry> variables;
  for (const auto& [name, value] : request.environment)
    variables.push_back({Name(name), value});
  std::vector<Value> files;
  files.reserve(request.files.size());
  for (const FileEntry& entry : request.files)
    files.push_back(value_of(entry));
  return Value::dict({{"words", texts(request.words)},
                      {"folder", request.folder},
                      {"environment", Value::dict(std::move(variables))},
                      {"kurtosis", request.is_kurtosis},
                      {"input_is_terminal", request.input_is_terminal},
                      {"output_is_terminal", request.output_is_terminal},
                      {"errors_are_terminal", request.errors_are_terminal},
                      {"is_one_stream", request.is_one_stream},
                      {"rows", request.window.rows},
                      {"columns", request.window.columns},
                      {"paths", texts(request.paths)},
                      {"writes", texts(request.writes)},
                      {"takes_input", request.takes_input},
                      {"is_stream", request.is_stream},
                      {"files", Value::list(std::move(files))}});
}

Result<FileEntry> file_entry_of(const Value& value) {
  FileEntry entry;
  entry.path = value.text_at("path");
  if (!is_plain_path(entry.path))
    return user_error(cat("`", printable(entry.path), "` is no absolute path of a file"));
  const auto type = std::ranges::find(type_names, value.text_at("type"));
  if (type == type_names.end())
    return user_error(cat("`", printable(entry.path), "` is of no known type"));
  entry.type = static_cast<FileEntry::Type>(type - type_names.begin());
  entry.mode = static_cast<unsigned>(value.integer_at("mode", 0644)) & 0777U;
  const int64_t size = value.integer_at("size");
  if (size < 0)
    return user_error(cat("`", printable(entry.path), "` has no size"));
  entry.size = static_cast<uint64_t>(size);
  entry.digest = value.text_at("digest");
  const bool is_digest = entry.digest.size() == 64 &&
                         entry.digest.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (entry.type == FileEntry::Type::file && !is_digest)
    return user_error(cat("`", printable(entry.path), "` has no digest"));
  entry.target = value.text_at("target");
  if (entry.type == FileEntry::Type::link &&
      (entry.target.empty() || entry.target.size() > longest_path ||
       entry.target.find('\0') != std::string::npos))
    return user_error(cat("`", printable(entry.path), "` leads nowhere"));
  return entry;
}

Result<CommandRequest> command_request_of(std::string_view json) {
  const Value value = TRY(read_json(json, "request"));
  CommandRequest request;
  request.words = TRY(texts_at(value, "words"));
  request.paths = TRY(texts_at(value, "paths"));
  request.writes = TRY(texts_at(value, "writes"));
  request.folder = value.text_at("folder");
  if (request.folder != "/" && !is_plain_path(request.folder))
    return user_error("`folder` must be an absolute path");
  for (const std::string& path : request.writes)
    if (!is_plain_path(path))
      return user_error(cat("`", printable(path), "` is no absolute path"));
  const Value& variables = value.at("environment");
  if (variables.is_dict())
    for (const Entry& entry : variables.entries()) {
      const std::string name = entry.key.str();
      if (!entry.value.is_text() || name.find_first_of(std::string_view("=\0", 2)) != name.npos ||
          entry.value.text().str().find('\0') != std::string::npos)
        return user_error("`environment` must be texts by name");
      request.environment[name] = entry.value.text().str();
    }
  request.is_kurtosis = value.bool_at("kurtosis");
  request.input_is_terminal = value.bool_at("input_is_terminal");
  request.output_is_terminal = value.bool_at("output_is_terminal");
  request.errors_are_terminal = value.bool_at("errors_are_terminal");
  request.is_one_stream = value.bool_at("is_one_stream");
  request.window.rows = static_cast<int>(std::clamp<int64_t>(value.integer_at("rows"), 1, 1'000));
  request.window.columns =
      static_cast<int>(std::clamp<int64_t>(value.integer_at("columns"), 1, 1'000));
  request.takes_input = value.bool_at("takes_input");
  request.is_stream = value.bool_at("is_stream");
  for (const Value& file : items_of(value.at("files")))
    request.files.push_back(TRY(file_entry_of(file)));
  return request;
}

}  // namespace fettle
