#include "server/terminals.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>

#include "base/text.h"
#include "base/thread.h"
#include "value/json.h"
#include "verbs/environments/inside.h"

namespace fettle {
namespace {

constexpr size_t most_terminals = 16;
/// Printed, and not drawn yet.
constexpr int64_t window_of_bytes = 262'144;
constexpr uint64_t most_of_size = 2'000;

std::optional<int64_t> count_at(const Value& said, std::string_view name) {
  const int64_t count = said.integer_at(name);
  return count < 1 ? std::nullopt : std::optional(count);
}

}  // namespace

struct Terminals::Terminal {
  ServiceView service;
  Descriptor input, bell;  ///< read by the conversation
  std::shared_ptr<WebSocket> socket;

  std::mutex mutex;
  Condition has_room;
  int64_t not_drawn = 0;
  WindowSize size;

  std::stop_source stop;                ///< asked by whoever learns that the page has gone
  std::atomic<bool> has_ended = false;  ///< its thread
  Thread thread;

  /// On the listener's thread.
  bool take(std::string_view text);
  Status print(std::string_view bytes);
};

/// False: it is nothing that our page says.
bool Terminals::Terminal::take(std::string_view text) {
  const Result<Value> said = read_json(text);
  if (!said || !said->is_dict())
    return false;
  const std::lock_guard lock(mutex);
  if (const std::optional<int64_t> taken = count_at(*said, "taken")) {
    if (*taken > not_drawn)
      return false;
    not_drawn -= *taken;
    has_room.notify_one();
    return true;
  }
  const std::optional<int64_t> rows = count_at(*said, "rows"), columns = count_at(*said, "columns");
  if (!rows || !columns || std::max(*rows, *columns) > static_cast<int64_t>(most_of_size))
    return false;
  size = {static_cast<int>(*rows), static_cast<int>(*columns)};
  const uint64_t one = 1;
  return ::write(bell.get(), &one, sizeof one) > 0 || errno == EAGAIN;
}

Status Terminals::Terminal::print(std::string_view bytes) {
  {
    std::unique_lock lock(mutex);
    if (!has_room.wait(lock, stop.get_token(), [&] { return not_drawn < window_of_bytes; }))
      return cancelled_error();
    not_drawn += static_cast<int64_t>(bytes.size());
  }
  socket->send(std::string(bytes), SocketForm::bytes, {});
  return {};
}

Terminals::~Terminals() {
  for (const std::shared_ptr<Terminal>& terminal : terminals_)
    terminal->stop.request_stop();
  for (const std::shared_ptr<Terminal>& terminal : terminals_)
    terminal->thread = {};
}

Status Terminals::add(const RouteCall& call, bool wants_socket,
                      const std::shared_ptr<WebPeer>& peer) {
  sweep();
  const Environment environment = TRY(call.environment());
  const auto terminal = std::make_shared<Terminal>();
  terminal->service = TRY(inspect_service(call.place, environment, call.part("service")));
  TRY(check_runs(environment.name, terminal->service));
  terminal->size = {static_cast<int>(TRY(call.number("rows", 24, most_of_size))),
                    static_cast<int>(TRY(call.number("columns", 80, most_of_size)))};
  if (terminals_.size() >= most_terminals)
    return world_error(cat(most_terminals, " terminals are open already: close one of them"));
  if (!wants_socket) {
    WebReply reply = error_reply(426, "a terminal is a WebSocket");
    reply.fields.emplace_back("Upgrade", "websocket");
    peer->reply(std::move(reply));
    return {};
  }
  std::array<int, 2> ends{-1, -1};
  terminal->bell = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!terminal->bell.is_open() ||
      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return world_error("this server has no descriptor left for a terminal");
  terminal->input = Descriptor(ends[0]);
  // Its thread ends before it goes, so the thread may use it; the socket may outlive it.
  const std::weak_ptr<Terminal> weak = terminal;
  terminal->socket = peer->open_socket({.input = Descriptor(ends[1]),
                                        .told =
                                            [weak](std::string_view text) {
                                              const auto again = weak.lock();
                                              return again != nullptr && again->take(text);
                                            },
                                        .gone =
                                            [weak] {
                                              if (const auto again = weak.lock())
                                                again->stop.request_stop();
                                            }});
  terminal->thread = Thread([this, terminal = terminal.get()] { hold(*terminal); });
  terminals_.push_back(terminal);
  return {};
}

void Terminals::hold(Terminal& terminal) const {
  ExecOptions options;
  options.command = shell_command();
  options.environment = {"TERM=xterm-256color", "COLORTERM=truecolor"};
  options.input = true;
  options.tty = true;
  TalkEnds ends;
  ends.input = terminal.input.get();
  ends.resized = terminal.bell.get();
  ends.size = [&terminal]() -> std::optional<WindowSize> {
    const std::lock_guard lock(terminal.mutex);
    return terminal.size;
  };
  const Result<int64_t> code = talk_inside(
      place_, terminal.service, options, ends,
      [&](OutputStream, std::string_view bytes) { return terminal.print(bytes); },
      terminal.stop.get_token());
  const Value end =
      code ? Value::dict({{"ended", *code}}) : Value::dict({{"error", to_string(code.error())}});
  terminal.socket->send(write_json(end), SocketForm::text, {});
  terminal.socket->close();
  terminal.has_ended = true;
}

void Terminals::sweep() {
  for (const std::shared_ptr<Terminal>& terminal : terminals_)
    if (terminal->socket->is_gone())
      terminal->stop.request_stop();
  // An engine may take a moment to stop, for which nobody waits here.
  std::erase_if(terminals_, [](const std::shared_ptr<Terminal>& terminal) {
    return terminal->socket->is_gone() && terminal->has_ended;
  });
}

}  // namespace fettle
