#include <unistd.h>

#include <cstdlib>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/service_common.h"
#include "cli/named_files.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "cli/terminal.h"
#include "documents/containers.h"

namespace fettle {
namespace {

/// The variables that tell a shell about the terminal on which it draws.
std::vector<std::string> terminal_variables() {
  const char* const type = std::getenv("TERM");
  return {cat("TERM=", type == nullptr || *type == 0 ? "xterm" : type)};
}

/// Talks with a command in a service. What can be refused is refused while the terminal is as it
/// was.
Result<int> talk(const Face& face, const ChosenService& chosen, ExecOptions options) {
  ExecOutput output(face);
  TRY(output.check(options));
  TRY(check_runs(chosen.environment, chosen.service));
  const int code =
      TRY(talk_with(std::move(options), [&](const ExecOptions& with, const TalkEnds& ends) {
        return talk_inside(*chosen.place, chosen.service, with, ends, output.sink(),
                           chosen.place->interrupt->acts_token());
      }));
  return output.end(code);
}

Result<int> service_exec(Face& face) {
  const ChosenService chosen = TRY(choose_service(face));
  ExecOptions options;
  const size_t first = face.parsed.has("enclave") ? 1 : 2;
  for (size_t i = first; i < face.parsed.arguments.size(); ++i)
    options.command.push_back(face.parsed.arguments[i]);
  if (options.command.empty())
    return user_error("name the command to run in the service");
  // Kurtosis hands one text to a shell.
  if (options.command.size() == 1)
    options.command = {"sh", "-c", options.command[0]};
  options.user = face.parsed.text("user");
  options.directory = face.parsed.text("workdir");
  options.input = face.parsed.flag("interactive");
  options.tty = face.parsed.flag("tty");
  if (options.input || options.tty)
    return talk(face, chosen, std::move(options));
  TRY(check_runs(chosen.environment, chosen.service));
  ExecOutput output(face);
  const int64_t code = TRY(run_inside(*chosen.place, chosen.service, options, output.sink(),
                                      chosen.place->interrupt->acts_token()));
  return output.end(code);
}

Result<int> shell(Face& face) {
  const ChosenService chosen = TRY(choose_service(face));
  ExecOptions options;
  options.command = shell_command();
  options.user = face.parsed.text("user");
  options.input = true;
  options.tty = isatty(STDIN_FILENO) == 1;
  return talk(face, chosen, std::move(options));
}

/// `SERVICE:PATH`; none of a path of this machine, which may begin with `/` or `.`.
std::optional<std::pair<std::string, std::string>> place_inside(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == text.npos || colon == 0 || text.starts_with('/') || text.starts_with('.') ||
      text.substr(0, colon).find('/') != text.npos)
    return std::nullopt;
  return std::pair(text.substr(0, colon), text.substr(colon + 1));
}

Result<int> service_copy(Face& face) {
  const size_t at = face.parsed.has("enclave") ? 0 : 1;
  const std::string source = face.parsed.argument(at), target = face.parsed.argument(at + 1);
  if (target.empty())
    return user_error(
        "name the source and the target: `fettle service cp ENCLAVE SERVICE:PATH PATH` or `… PATH "
        "SERVICE:PATH`");
  const auto from = place_inside(source), to = place_inside(target);
  if (!from && !to)
    return user_error(cat("one of `", source, "` and `", target,
                          "` must be in a service, written `SERVICE:PATH`"));
  Workplace* const place = TRY(face.workplace());
  const Environment environment = TRY(environment_of(face, 0));
  const ServiceView service =
      TRY(inspect_service(*place, environment, from ? from->first : to->first));
  const std::stop_token stop = place->interrupt->acts_token();
  if (from && is_standard_output(target)) {
    TRY(write_output(target, [&](const ByteSink& write) {
      return archive_of(*place, service, from->second, write, stop);
    }));
    return 0;
  }
  if (from && to)
    TRY(copy_between(*place, service, from->second,
                     TRY(inspect_service(*place, environment, to->first)), to->second, stop));
  else if (source == "-")
    TRY(unpack_inside(*place, service, TRY(source_of_file("/dev/stdin")), to->second, stop));
  else if (from)
    TRY(copy_out_of(*place, service, from->second, target, stop));
  else
    TRY(copy_into(*place, service, source, to->second, stop));
  if (face.json)
    print_json(copy_document(source, target));
  return 0;
}

}  // namespace

Status ExecOutput::check(const ExecOptions& options) const {
  if (options.tty && (face_.json || face_.json_lines))
    return user_error(
        "`-t` gives the output to the terminal, so `-o` cannot put it into a document: leave out "
        "one of them");
  return {};
}

StreamSink ExecOutput::sink() {
  if (!face_.json && !face_.json_lines)
    return to_terminal;
  return [this](OutputStream stream, std::string_view bytes) -> Status {
    (stream == OutputStream::out ? output_ : errors_) += bytes;
    constexpr size_t most = 256 << 20;
    return output_.size() + errors_.size() > most
               ? Status(user_error("the output is larger than 256 MB, the limit of a document"))
               : Status();
  };
}

int ExecOutput::end(int64_t code) const {
  if (!face_.json && !face_.json_lines)
    return static_cast<int>(code);
  print_json(output_document(code, output_, errors_));
  return static_cast<int>(code);
}

Result<int> talk_with(
    ExecOptions options,
    const std::function<Result<int64_t>(const ExecOptions&, const TalkEnds&)>& hold) {
  TalkEnds ends;
  ends.input = options.input ? STDIN_FILENO : -1;
  std::optional<RawTerminal> raw;
  if (options.tty) {
    if (isatty(STDIN_FILENO) == 0)
      return user_error("`-t` needs a terminal as standard input; `-i` takes any input");
    options.environment = terminal_variables();
    ends.size = [] { return window_size(STDIN_FILENO); };
    raw.emplace(STDIN_FILENO);
    ends.resized = raw->bell();
  }
  return static_cast<int>(TRY(hold(options, ends)));
}

std::vector<CommandOption> talk_options() {
  return {{{"-i", "--interactive"}, "", "pass standard input to the command"},
          {{"-t", "--tty"}, "", "give this terminal to the command"}};
}

std::vector<Command> inside_commands() {
  const CommandGroup group{"services", {environment_option()}};
  const std::vector<CommandOption> talking = talk_options();
  const CommandOption user{{"-u", "--user"}, "USER", "the user who runs it"};
  return {
      group.reader(
          "service exec", "ENCLAVE SERVICE COMMAND…", 2, 999,
          "Runs a command in a service; a single word is run by a shell.",
          {"fettle service exec shop web 'ls /etc'", "fettle service exec shop web -u root -- id",
           "fettle service exec -it shop web top"},
          service_exec,
          {talking[0],
           talking[1],
           {{"-w", "--workdir"}, "FOLDER", "the folder in which it runs"},
           user},
          true),
      with_files(
          group.reader("service shell", "ENCLAVE SERVICE", 1, 2,
                       "Opens a shell in a service: bash if it exists, otherwise sh.",
                       {"fettle service shell shop web", "echo id | fettle service shell shop web"},
                       shell, {user}),
          [](const CommandLine&, NamedFiles& named) { named.takes_input = true; }),
      with_files(
          group.make(
              "service cp", "ENCLAVE SOURCE TARGET", 2, 3,
              "Copies a file or folder into or out of a service, SERVICE:PATH, or from one to "
              "another; `-` is a tar archive.",
              {"fettle service cp shop web:/etc/nginx ./nginx",
               "fettle service cp shop ./index.html web:/usr/share/nginx/html/",
               "tar -c conf | fettle service cp shop - web:/etc"},
              service_copy),
          [](const CommandLine& parsed, NamedFiles& named) {
            const size_t at = parsed.has("enclave") ? 0 : 1;
            name_copied(parsed.argument(at), parsed.argument(at + 1), named);
          }),
  };
}

}  // namespace fettle
