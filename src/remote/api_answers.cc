#include "remote/api_answers.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "remote/command_child.h"
#include "remote/mirror.h"
#include "remote/path_filter.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view api_path = "/api/";
constexpr size_t most_output = size_t{64} << 20;
constexpr Duration command_limit = 60s;

struct CommandOutput {
  int code = -1;  ///< -1: it was ended by a signal
  std::string output;
};

/// Reads what has come. False: it has ended.
bool take_output(const Descriptor& from, std::string& into) {
  std::array<char, 65'536> buffer{};
  const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
  into.append(buffer.data(), count > 0 ? static_cast<size_t>(count) : 0);
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

/// What a command prints, until both its streams have ended or it takes too long.
CommandOutput printed_by(CommandChild child) {
  CommandOutput printed;
  std::string errors;
  const auto began = std::chrono::steady_clock::now();
  while (child.output.is_open() || child.errors.is_open()) {
    std::array<pollfd, 2> polled{
        pollfd{child.output.is_open() ? child.output.get() : -1, POLLIN, 0},
        pollfd{child.errors.is_open() ? child.errors.get() : -1, POLLIN, 0}};
    const auto left = command_limit - (std::chrono::steady_clock::now() - began);
    const int ready =
        left > 0s ? poll(polled.data(), polled.size(), static_cast<int>(left / 1ms)) : 0;
    errors.clear();
    if (ready == 0 || printed.output.size() > most_output) {
      kill(child.process, SIGKILL);
      break;
    }
    if (polled[0].revents != 0 && !take_output(child.output, printed.output))
      child.output.close();
    if (polled[1].revents != 0 && !take_output(child.errors, errors))
      child.errors.close();
  }
  int status = 0;
  while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status))
    printed.code = WEXITSTATUS(status);
  return printed;
}

UpgradeRefusal refusal_by(const Error& error, int status_of_user) {
  return {error.blame == Blame::user ? status_of_user : 503, error.message};
}

/// The status of the envelope of errors that a command has printed.
int status_of_error(const Value& error) {
  const std::string_view message = error.text_at("message");
  if (error.text_at("blame") != "user")
    return 502;
  if (message.find("needs the right") != message.npos)
    return 403;
  return message.starts_with("there is no") ? 404 : 400;
}

std::string reply_of(const CommandOutput& printed) {
  if (printed.code == 0)
    return closing_reply(200, json_type, printed.output);
  const Result<Value> envelope = read_json(printed.output);
  if (!envelope || !envelope->at("error").is_dict())
    return refusal_reply({502, "the command that answers this ended without an answer"});
  const Value& error = envelope->at("error");
  return refusal_reply({status_of_error(error), std::string(error.text_at("message"))});
}

}  // namespace

bool is_api_request(const UpgradeRequest& request) { return request.target.starts_with(api_path); }

std::string api_reply(const UpgradeRequest& request, const ServeSettings& settings,
                      const CommandHost& host, Visit& visit) {
  if (request.method != "GET" || request.has_body)
    return refusal_reply({405, "documents are asked for by GET without a body"});
  CommandRequest command;
  command.words = {"api", request.target, "-o", "json"};
  command.folder = "/";
  command.is_stream = true;
  const Result<CommandLook> look = host.look(command);
  if (!look)
    return refusal_reply(refusal_by(look.error(), 400));
  const Result<Grant> grant = visit.allow(look->needs, look->shown);
  if (!grant)
    return refusal_reply(refusal_by(grant.error(), 403));
  const Permit permit{*grant, look->needs.right, {}};
  const Path mirrors = settings.folder() / "mirrors";
  Result<std::optional<Mirror>> mirror = Mirror::take(mirrors);
  if (!mirror || !*mirror)
    return refusal_reply({503, mirror ? cat("the server runs ", most_commands, " commands already")
                                      : mirror.error().message});
  if (const Result<std::vector<size_t>> placed = (*mirror)->place({}); !placed)
    return refusal_reply(refusal_by(placed.error(), 400));
  const std::string root = (*mirror)->root();
  Result<CommandChild> child =
      start_command(command, command.folder, [&] { return host.run(command, root, permit); });
  if (!child)
    return refusal_reply(refusal_by(child.error(), 400));
  CommandOutput printed = printed_by(*std::move(child));
  PathFilter filter(mirrors.string());
  const std::string shown = filter.pass(printed.output);
  printed.output = shown + filter.rest();
  return reply_of(printed);
}

}  // namespace fettle
