#pragma once
/// A command of the program: a row of the table in `src/app/commands.cc`. It turns words into one
/// call of a verb and the answer into text or JSON; it decides nothing.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "documents/machine.h"
#include "workplace/workplace.h"

namespace fettle {

/// The exit codes of commands, beside 0 and the 2 for wrong input.
constexpr int failed_code = 1, gave_up_waiting = 3, interrupted_code = 130;

/// An option: its spellings, the name of its value (empty: a switch), and what it does.
struct CommandOption {
  std::vector<std::string>
      names;  ///< `-e`, `--enclave`, `--environment`; the longest first spelling is its name
  std::string value;  ///< `NAME`; empty for a switch
  std::string help;
  bool repeated = false;
  bool greedy = false;                ///< takes all words up to the next flag, but one after `=`
  std::vector<std::string> values{};  ///< the words that it takes, when they are few
  bool is_written = false;            ///< a FILE that the command makes or replaces
};

class CommandLine {
 public:
  bool has(const std::string& name) const { return options.contains(name); }
  std::string text(const std::string& name, const std::string& otherwise = {}) const;
  const std::vector<std::string>& all(const std::string& name) const;
  /// A switch that may also be given a value: `--flag`, `--flag=false`.
  bool flag(const std::string& name, bool otherwise = false) const;
  /// Error (`Blame::user`): not a number.
  Result<int64_t> number(const std::string& name, int64_t otherwise) const;
  std::string argument(size_t i, const std::string& otherwise = {}) const;

  std::map<std::string, std::vector<std::string>> options;  ///< by name without dashes
  std::vector<std::string> arguments;
};

/// The engine of this machine, for somebody else to talk with.
struct EngineDoor {
  std::string version;  ///< `Podman 4.3.1`
  std::function<Result<Descriptor>()> connect;
};

struct CommandHost;
struct ClusterAccess;
struct ClusterReach;
struct ClusterRequest;
struct NamedFiles;
struct NodeRequest;
struct CommandRequest;
struct ServedCaller;

enum class EngineVerb { look, start, stop, remove };

/// The things that a command works with. The workplace is opened on request, so that `version`
/// opens nothing.
class Face {
 public:
  virtual ~Face() = default;
  virtual Result<Workplace*> workplace() = 0;
  /// The parts of this machine that are there and those that are missing, and whether all is well.
  virtual std::pair<std::vector<Diagnosis>, bool> diagnosis() = 0;
  virtual Result<EngineState> engine(EngineVerb verb) = 0;
  /// The engine that commands here use; one that answers.
  virtual Result<EngineDoor> engine_door() { return world_error("there is no engine here"); }
  /// A cluster in which this process may act; the workplace has its driver.
  virtual Result<ClusterAccess> cluster(const ClusterRequest& request) = 0;
  /// Pulls on a node of a cluster what is ordered there, until a stop is asked for.
  virtual Result<PullTally> serve_node(const NodeRequest& request) = 0;
  /// A cluster about which a command asks.
  virtual Result<ClusterReach> reach_cluster(const ClusterRequest& request) = 0;
  virtual Build build() const = 0;
  /// The folder of what is kept, without what is in it.
  virtual Result<std::string> home_folder() { return world_error("nothing is kept here"); }
  /// This program as that which runs commands for others.
  virtual CommandHost command_host() const;
  /// Whoever has a server run this command. None: it runs here.
  virtual std::optional<ServedCaller> served() const;
  /// Of `schedule add` at a server: what is to run. Error (`Blame::user`): nothing that can.
  virtual Result<CommandRequest> scheduled_request() const;
  /// From now on, a terminal shows that the command works, under this title.
  virtual void show_work(const std::string& title) = 0;

  /// Reports to those who wait what is done now without being an act.
  DoingSink doing;
  CommandLine parsed;
  std::string default_space = "default";  ///< the namespace where none is named
  std::string output = "text";
  bool json = false;        ///< a document is wanted: `json`, or `jsonl` of who tells no lines
  bool json_lines = false;  ///< `--output jsonl`
  bool quiet = false;
  bool is_kurtosis = false;  ///< called by that name: its words, forms and exit codes are expected
  bool colour = false;       ///< of stdout
  bool is_live = false;      ///< what takes long is shown at the bottom of the terminal
  bool terminal = false;     ///< stderr is one that shows colours and moves its cursor
};

/// Where a command runs when a server is meant (`--server`).
enum class CommandPlace : uint8_t {
  server,  ///< there
  here,    ///< it is about this machine, or about files alone
  client,  ///< here, and talks with the server itself
};

struct Command {
  std::string words;           ///< `enclave ls`
  std::string arguments;       ///< `SERVICE COMMAND…`, for the usage line
  size_t least = 0, most = 0;  ///< how many arguments
  std::string group;           ///< under which `help` lists it
  std::string summary;         ///< at most two lines
  std::vector<std::string> examples;
  std::vector<CommandOption> options;
  Result<int> (*run)(Face& face);      ///< the exit code
  bool takes_rest = false;             ///< everything behind the first argument is not looked into
  std::vector<std::string> outputs{};  ///< forms of its own, beside text, json and jsonl
  bool tells_lines = false;            ///< with jsonl, what happens is told as it happens
  /// Ends as soon as nobody reads its output: it only tells something, or goes on until somebody
  /// ends it. Others finish what they were asked for.
  bool ends_with_reader = false;
  /// Whether it only reads files when it is called so, and does without what is kept on this
  /// machine; null: never.
  bool (*needs_no_state)(const CommandLine& parsed) = nullptr;
  bool file_is_argument = false;  ///< `--file` may stand for its first argument
  CommandPlace place = CommandPlace::server;
  /// Adds the files that its arguments name, which travel to a server and back. Null: none. Options
  /// with a FILE or a DIR need nothing here.
  void (*name_files)(const CommandLine& parsed, NamedFiles& named) = nullptr;
};

/// The group of what is only called by scripts that were written for Kurtosis. Its flags stand
/// behind the command: before it, they would take their meaning from others.
inline constexpr const char* words_of_scripts = "words of Kurtosis' scripts";

/// Makes the commands of one group: what they share is said once.
struct CommandGroup {
  std::string name;                    ///< under which `help` lists them
  std::vector<CommandOption> options;  ///< of every command of the group, before its own
  CommandPlace place = CommandPlace::server;

  Command make(std::string words, std::string arguments, size_t least, size_t most,
               std::string summary, std::vector<std::string> examples, Result<int> (*run)(Face&),
               const std::vector<CommandOption>& own = {}, bool takes_rest = false) const;
  /// The same for a command that ends with its reader.
  Command reader(std::string words, std::string arguments, size_t least, size_t most,
                 std::string summary, std::vector<std::string> examples, Result<int> (*run)(Face&),
                 const std::vector<CommandOption>& own = {}, bool takes_rest = false) const;
};

/// A command that only reads files, under whatever name.
Command without_state(Command command);
/// The same command with what `name_files` says.
Command with_files(Command command, void (*name_files)(const CommandLine&, NamedFiles&));

/// Options that every command takes.
const std::vector<CommandOption>& common_options();
/// The flags of the command, and those of every command.
std::vector<CommandOption> options_of(const Command& command);
/// The flag with this spelling. Null: there is none.
const CommandOption* find_option(const std::vector<CommandOption>& options,
                                 std::string_view spelling);

/// The same among the flags of all commands but `words_of_scripts`. Null also if it takes a value in
/// only some of them.
const CommandOption* find_anywhere(const std::vector<Command>& commands,
                                   const std::string& spelling);

/// Takes out the flags, with their values, that stand at a place before the command is complete.
std::vector<std::string> take_flags(const std::vector<Command>& commands,
                                    std::vector<std::string>& words, size_t at);

/// Finds the command that the words begin with; the rest is parsed by its options. Errors
/// (`Blame::user`): an unknown command, flag or too few or many arguments, with the nearest right
/// one.
Result<const Command*> parse_command(const std::vector<Command>& commands,
                                     std::vector<std::string> words, CommandLine& parsed);

/// `fettle versions diff VERSION [VERSION]`
std::string usage_of(const Command& command);
std::string help_of(const Command& command);
/// The commands that begin with this word; empty when none does.
std::string help_of_group(const std::vector<Command>& commands, std::string_view word);
std::string help_of_all(const std::vector<Command>& commands);
/// All commands, or the one of these words, or those that begin with them, for programs.
Value help_value(const std::vector<Command>& commands, std::string_view words);
/// A script for bash, zsh or fish that asks `fettle __complete` for the words.
std::string completion_script(std::string_view shell);
/// The same as a document: `shell`, `script`.
Value completion_value(std::string_view shell);
/// The reference of the manual: every command in Markdown.
std::string reference_of(const std::vector<Command>& commands);

}  // namespace fettle
