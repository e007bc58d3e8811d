#pragma once
/// What a client sends of its command line, and the files that travel with it.

#include <map>
#include <string>
#include <vector>

#include "value/value.h"

namespace fettle {

/// The exit code of a command that somebody interrupted, as shells report it.
constexpr int interrupted_command = 130;

/// One thing below a path that a command reads or writes.
struct FileEntry {
  enum class Type : uint8_t {
    file,
    folder,
    link,
    place,  ///< a file that the command may only replace: it has no contents here
    other,  ///< a socket, a pipe or a device in a folder, which commands refuse
  };
  std::string path;  ///< absolute, without `.` and `..`
  Type type = Type::file;
  unsigned mode = 0644;
  uint64_t size = 0;
  std::string digest{};  ///< SHA-256 of a file
  std::string target{};  ///< of a link
};

/// Which files a command names.
struct NamedFiles {
  std::vector<std::string> reads;   ///< files and folders, as they are spelled
  std::vector<std::string> writes;  ///< where something may appear or change
  bool takes_input = false;         ///< standard input
  bool is_stream = false;  ///< its standard output is contents: nobody can look at it later
  std::vector<std::string> addresses{};  ///< words for files that have the form of an address
};

struct WindowRows {
  int rows = 24, columns = 80;
};

struct CommandRequest {
  std::vector<std::string> words;
  std::string folder;  ///< in which it was called, absolute
  std::map<std::string, std::string> environment;
  bool is_kurtosis = false;
  /// Which of the standard streams are a terminal.
  bool input_is_terminal = false, output_is_terminal = false, errors_are_terminal = false;
  /// Standard output and standard error are one file, as after `2>&1`: what is written to both keeps
  /// its order.
  bool is_one_stream = false;
  /// Of the terminals.
  WindowRows window{};
  std::vector<std::string> paths;   ///< words that name files by absolute paths
  std::vector<std::string> writes;  ///< absolute: what may be written comes back
  bool takes_input = false;
  bool is_stream = false;
  std::vector<FileEntry> files;
};

Value value_of(const FileEntry& entry);
Value value_of(const CommandRequest& request);
/// Errors (`Blame::user`): a field is missing or of another type, or a path leads elsewhere.
Result<FileEntry> file_entry_of(const Value& value);
Result<CommandRequest> command_request_of(std::string_view json);

/// Variables that say where things of a machine are, and who may use them: those of the client mean
/// nothing to the server.
bool is_variable_of_machine(std::string_view name);

/// Variables that say how somebody wants to be answered, and what he asks: they go with every
/// command.
bool is_variable_of_answers(std::string_view name);

/// Whether it is absolute, without empty, `.` and `..` steps, zero bytes, and an end in `/`; `/`
/// alone is none, either.
bool is_plain_path(std::string_view path);

}  // namespace fettle
