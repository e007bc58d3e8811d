#include "app/commands.h"

#include <algorithm>

#include "app/scheduled_command.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/man.h"
#include "cli/print.h"
#include "documents/parts.h"

namespace fettle {

// Each command is made by a file in src/cli/commands; `make_all` has them in the order of the help.
Command run_command();
Command import_command();
Command plan_command();
Command check_command();
Command format_command();
Command enclave_dump_command();
Command dump_command();
std::vector<Command> kurtosis_commands();
std::vector<Command> enclave_commands();
std::vector<Command> service_commands();
std::vector<Command> files_commands();
std::vector<Command> node_commands();
std::vector<Command> orphan_commands();
std::vector<Command> workload_commands();
Command port_print_command();
Command clean_command();
Command force_unlock_command();
Command why_command();
Command show_command();
Command drift_command();
Command events_command();
Command doctor_command();
Command web_command();
std::vector<Command> server_commands();
std::vector<Command> token_commands();
std::vector<Command> trust_commands();
std::vector<Command> agent_commands();
std::vector<Command> schedule_commands();
Command api_command();
std::vector<Command> store_commands();
std::vector<Command> engine_commands();
Command starlark_command();
Command compile_command();
Command project_init_command();
Command project_install_command();
Command export_command();
Command release_command();
std::vector<Command> versions_commands();
Command version_command();
Command package_init_command();
std::vector<Command> state_commands();
std::vector<Command> state_memory_commands();

namespace {

/// Writes the pages for `man`, each into a file of a folder.
Result<int> write_man_pages(const Face& face, const std::string& folder) {
  const std::string version = face.build().version;
  TRY(make_directories(folder));
  TRY(write_file(Path(folder) / "fettle.1", man_page(all_commands(), version)));
  for (const Command& command : all_commands())
    TRY(write_file(Path(folder) / cat(man_name(command), ".1"), man_page(command, version)));
  if (face.json)
    print_json(folder_document(folder));
  return 0;
}

Result<int> help(Face& face) {
  if (face.parsed.has("man"))
    return write_man_pages(face, face.parsed.text("man"));
  if (face.parsed.flag("markdown")) {
    if (face.json)
      return user_error("`--markdown` prints a page; `-o json` prints a document without it");
    print(reference_of(all_commands()));
    return 0;
  }
  if (face.parsed.arguments.empty()) {
    if (face.json)
      print_json(help_value(all_commands(), ""));
    else
      print(help_of_all(all_commands()));
    return 0;
  }
  if (face.parsed.arguments.size() == 1)
    if (const std::string group = help_of_group(all_commands(), face.parsed.arguments[0]);
        !group.empty()) {
      if (face.json)
        print_json(help_value(all_commands(), face.parsed.arguments[0]));
      else
        print(group);
      return 0;
    }
  CommandLine ignored;
  std::vector<std::string> words = face.parsed.arguments;
  words.emplace_back("--help");
  const Command* command = TRY(parse_command(all_commands(), words, ignored));
  print_help(face, *command);
  return 0;
}

Result<int> completion(Face& face) {
  const std::string shell = face.parsed.argument(0, "bash");
  if (shell != "bash" && shell != "zsh" && shell != "fish")
    return user_error("completions exist for bash, zsh and fish, not for `" + shell + "`");
  if (face.json)
    print_json(completion_value(shell));
  else
    print(completion_script(shell));
  return 0;
}

Command help_command() {
  return CommandGroup{"help", {}, CommandPlace::here}.reader(
      "help", "[COMMAND]", 0, 2, "Lists the commands, or explains one.",
      {"fettle help", "fettle help enclave add"}, help,
      {{{"--markdown"}, "", "print the reference of all commands, for the manual"},
       {{"--man"}, "FOLDER", "write a man page for each command there"}});
}

Command completion_command() {
  return CommandGroup{"help", {}, CommandPlace::here}.reader(
      "completion", "[bash|zsh|fish]", 0, 1, "Prints a script that completes words in a shell.",
      {"source <(fettle completion)", "fettle completion zsh > _fettle",
       "fettle completion fish > ~/.config/fish/completions/fettle.fish"},
      completion);
}

/// What it has run may be any command of the table.
std::vector<Command> schedule_commands_with_files() {
  std::vector<Command> commands = schedule_commands();
  for (Command& command : commands)
    if (command.words == "schedule add")
      command = with_files(std::move(command), name_scheduled_files);
  return commands;
}

std::vector<Command> make_all() {
  using Commands = std::vector<Command>;
  Commands all;
  for (const Commands& group :
       {Commands{run_command(), import_command(), package_init_command(), starlark_command()},
        Commands{compile_command(), export_command()},
        versions_commands(),
        Commands{release_command(), project_init_command(), project_install_command()},
        state_commands(),
        state_memory_commands(),
        workload_commands(),
        node_commands(),
        Commands{plan_command(), check_command(), format_command(), why_command(), show_command(),
                 drift_command(), events_command()},
        orphan_commands(),
        enclave_commands(),
        Commands{enclave_dump_command(), dump_command(), clean_command(), force_unlock_command()},
        service_commands(),
        Commands{port_print_command()},
        files_commands(),
        engine_commands(),
        Commands{web_command(), doctor_command()},
        store_commands(),
        server_commands(),
        token_commands(),
        trust_commands(),
        agent_commands(),
        schedule_commands_with_files(),
        Commands{api_command()},
        kurtosis_commands(),
        Commands{help_command(), completion_command(), version_command()}})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

}  // namespace

void print_help(const Face& face, const Command& command) {
  if (face.json || face.json_lines)
    print_json(help_value({command}, command.words));
  else
    print(help_of(command));
}

const std::vector<Command>& all_commands() {
  static const std::vector<Command> all = make_all();
  return all;
}

}  // namespace fettle
