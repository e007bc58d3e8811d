#include "cli/server_choice.h"

#include <cstdlib>

#include "base/text.h"
#include "cli/named_files.h"
#include "cli/print.h"

namespace fettle {
namespace {

std::string text_of_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Result<std::optional<ServerChoice>> server_meant(Face& face) {
  const ServerWords words{face.parsed.text("server"), text_of_variable("FETTLE_SERVER"),
                          text_of_variable("FETTLE_TOKEN"), text_of_variable("FETTLE_TLS_CA")};
  if (words.flag == "local")
    return std::optional<ServerChoice>();
  Result<std::string> home = face.home_folder();
  if (!home && words.flag.empty() && words.variable.empty())
    return std::optional<ServerChoice>();
  return choose_server(words, Path(TRY(std::move(home))) / "contexts.json");
}

ClientPlace client_place(const Face& face) {
  return {face.build().version, [](const std::string& text) { print_error(text); }, face.quiet};
}

std::optional<Error> refusal_at_server(const Command& command, const CommandLine& parsed) {
  if (parsed.has("store"))
    return user_error(
        "a server says where its state is kept: leave out `--store`, or call it with `--server "
        "local`");
  switch (command.place) {
    case CommandPlace::server:
      if (command.needs_no_state != nullptr && command.needs_no_state(parsed))
        return user_error(cat("`fettle ", command.words,
                              "` with these words reads files alone, where it is called: leave out "
                              "`--server`"));
      return std::nullopt;
    case CommandPlace::here:
    case CommandPlace::client:
      return user_error(cat("`fettle ", command.words,
                            "` is about the machine on which it is called: leave out `--server`"));
  }
  return std::nullopt;
}

Result<std::optional<ClientEnd>> run_elsewhere(const Command& command,
                                               const std::vector<std::string>& words, Face& face) {
  const bool only_reads_files =
      command.needs_no_state != nullptr && command.needs_no_state(face.parsed);
  const bool is_here = command.place == CommandPlace::here || only_reads_files;
  if (command.place == CommandPlace::client)
    return std::optional<ClientEnd>();
  if (is_here) {
    const std::string asked = face.parsed.text("server");
    if (command.place == CommandPlace::here && !asked.empty() && asked != "local")
      return *refusal_at_server(command, face.parsed);
    return std::optional<ClientEnd>();
  }
  const std::optional<ServerChoice> server = TRY(server_meant(face));
  if (!server)
    return std::optional<ClientEnd>();
  if (std::optional<Error> refusal = refusal_at_server(command, face.parsed))
    return *std::move(refusal);
  CommandRequest request;
  request.words = words;
  request.is_kurtosis = face.is_kurtosis;
  // A folder of ours that a variable names travels as that of the flag does.
  if (const std::string mirror = text_of_variable("FETTLE_PACKAGE_MIRROR");
      !mirror.empty() && find_option(command.options, "--package-mirror") != nullptr &&
      !face.parsed.has("package-mirror")) {
    face.parsed.options["package-mirror"] = {mirror};
    request.words.insert(request.words.begin(), {"--package-mirror", mirror});
  }
  return std::optional<ClientEnd>(
      TRY(run_at_server(*server, std::move(request), named_files(command, face.parsed),
                        command.ends_with_reader, client_place(face))));
}

bool complete_elsewhere(const std::vector<std::string>& words, Face& face) {
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--server" && i + 1 < words.size())
      face.parsed.options["server"] = {words[i + 1]};
    if (words[i].starts_with("--server="))
      face.parsed.options["server"] = {words[i].substr(words[i].find('=') + 1)};
  }
  const Result<std::optional<ServerChoice>> server = server_meant(face);
  if (!server || !*server)
    return false;
  CommandRequest request;
  request.words = words;
  // It answers or is silent.
  static_cast<void>(run_at_server(**server, std::move(request), {}, true, client_place(face)));
  return true;
}

}  // namespace fettle
