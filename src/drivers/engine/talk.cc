#include "drivers/engine/talk.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/shutdown_hold.h"
#include "base/wait.h"

namespace fettle {
namespace {

constexpr size_t piece = 64 * 1024;

/// Passes bytes on in both directions until the other side ends.
class Conversation {
 public:
  Conversation(Engine& engine, OpenExec& open, const TalkEnds& ends, bool tty, ByteSink sink,
               std::stop_token stop)
      : engine_(engine),
        open_(open),
        ends_(ends),
        sink_(std::move(sink)),
        stop_(std::move(stop)),
        input_(ends.input),
        tty_(tty) {}

  Status hold() {
    Poller poller(stop_);
    resize();
    while (true) {
      const Output output = TRY(take_output());
      if (output == Output::ended)
        return {};
      // While the other side takes nothing, nothing more is read for it.
      const bool is_full = !typed_.empty();
      const auto events = static_cast<short>(is_full ? POLLIN | POLLOUT : POLLIN);
      std::array<pollfd, 3> waited{pollfd{open_.connection.descriptor(), events, 0},
                                   pollfd{is_full ? -1 : input_, POLLIN, 0},
                                   pollfd{ends_.resized, POLLIN, 0}};
      TRY(poller.wait(waited, output == Output::more ? Duration(0) : for_ever));
      TRY(hand_on_typed());
      if (waited[2].revents != 0)
        take_resize();
      if (waited[1].revents != 0)
        TRY(hand_on_input());
    }
  }

 private:
  enum class Output { all, more, ended };

  /// Takes a piece of what has arrived. Not all of it: a command that prints endlessly is ended by a
  /// key, which must be passed on meanwhile.
  Result<Output> take_output() {
    const std::optional<size_t> count = TRY(open_.connection.read_ready(buffer_));
    if (!count)
      return Output::all;
    if (*count == 0)
      return Output::ended;
    TRY(sink_({buffer_.data(), *count}));
    return Output::more;
  }

  Status hand_on_input() {
    std::array<char, piece> read_now{};
    const ssize_t count = ::read(input_, read_now.data(), read_now.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
      return {};
    if (count > 0) {
      typed_.assign(read_now.data(), static_cast<size_t>(count));
      return hand_on_typed();
    }
    input_ = -1;
    // A terminal ends only by the key for it.
    if (tty_)
      return open_.connection.write("\x04", stop_);
    open_.connection.finish_writing();
    return {};
  }

  Status hand_on_typed() {
    if (!typed_.empty())
      typed_.erase(0, TRY(open_.connection.write_ready(typed_)));
    return {};
  }

  void take_resize() {
    std::array<char, 64> bells{};
    if (::read(ends_.resized, bells.data(), bells.size()) > 0)
      resize();
  }

  /// A window that changes its size is no reason to end.
  void resize() {
    const std::optional<WindowSize> size = ends_.size ? ends_.size() : std::nullopt;
    if (!size || size == told_)
      return;
    told_ = size;
    static_cast<void>(resize_exec(engine_, open_.id, size->rows, size->columns, stop_));
  }

  Engine& engine_;
  OpenExec& open_;
  const TalkEnds& ends_;
  ByteSink sink_;
  std::stop_token stop_;
  int input_;
  std::optional<WindowSize> told_;
  std::array<char, piece> buffer_{};
  std::string typed_;  ///< read and not passed on yet
  bool tty_;
};

}  // namespace

Result<int64_t> talk_inside(Engine& engine, const std::string& container,
                            const ExecOptions& options, const TalkEnds& ends,
                            const StreamSink& given, std::stop_token stop) {
  const StreamSink sink = without_engine_noise(given);
  const ShutdownHold hold;  // as in `run_exec`
  OpenExec open = TRY(open_exec(engine, container, options, stop));
  ByteSink take =
      options.tty ? ByteSink([&](std::string_view bytes) { return sink(OutputStream::out, bytes); })
                  : frame_sink(sink);
  auto conversation =
      std::make_unique<Conversation>(engine, open, ends, options.tty, std::move(take), stop);
  if (Status held = conversation->hold(); !held) {
    end_exec(engine, container, open.id);
    return held.error();
  }
  return exec_code(engine, open.id, stop);
}

}  // namespace fettle
