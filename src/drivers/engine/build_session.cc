#include "drivers/engine/build_session.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/token.h"
#include "drivers/cri/grpc.h"
#include "drivers/cri/wire.h"

namespace fettle {
namespace {

constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr size_t http2_head = 9, largest_frame = 16'384;
constexpr size_t largest_question = 64 << 10, most_questions = 1'000;  ///< open at once
constexpr size_t most_read = 16'384;

enum FrameType : uint8_t {
  data = 0,
  headers = 1,
  reset = 3,
  settings = 4,
  ping = 6,
  go_away = 7,
  window_update = 8,
};
enum FrameFlag : uint8_t { end_of_stream = 1, is_ack = 1, end_of_headers = 4, padded = 8 };
constexpr uint16_t initial_window_size = 4;

uint32_t number_in(std::string_view bytes) {
  uint32_t number = 0;
  for (const char byte : bytes)
    number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

void add_number(std::string& to, uint32_t number, int bytes) {
  for (int i = bytes - 1; i >= 0; --i)
    to += static_cast<char>(number >> 8 * i & 0xff);
}

void add_frame(std::string& to, FrameType type, int flags, uint32_t stream,
               std::string_view bytes) {
  add_number(to, static_cast<uint32_t>(bytes.size()), 3);
  to += static_cast<char>(type);
  to += static_cast<char>(flags);
  add_number(to, stream, 4);
  to += bytes;
}

/// Headers in the form of HPACK that needs no table: `:status: 200`, then names in full.
void add_field(std::string& block, std::string_view name, std::string_view value) {
  block += '\0';
  for (const std::string_view text : {name, value}) {
    block += static_cast<char>(text.size());  // all are shorter than 127
    block += text;
  }
}

std::string first_headers() {
  std::string block = "\x88";
  add_field(block, "content-type", "application/grpc");
  return block;
}

std::string status_field(cri::GrpcCode code) {
  std::string block;
  add_field(block, "grpc-status", std::to_string(static_cast<int>(code)));
  return block;
}

Error broken(std::string_view what) {
  return world_error(cat("the builder's session is no HTTP/2: ", what));
}

}  // namespace

struct SessionAnswers::Frame {
  uint8_t type = 0, flags = 0;
  uint32_t stream = 0;
  std::string_view bytes;
};

SessionAnswers::SessionAnswers(std::map<std::string, std::string> secrets)
    : secrets_(std::move(secrets)) {}

std::string SessionAnswers::greeting() {
  std::string bytes;
  add_frame(bytes, settings, 0, 0, {});
  return bytes;
}

Result<std::string> SessionAnswers::take(std::string_view bytes) {
  came_ += bytes;
  if (!is_greeted_) {
    const size_t count = std::min(came_.size(), preface.size());
    if (came_.compare(0, count, preface, 0, count) != 0)
      return broken("it begins otherwise");
    if (count < preface.size())
      return std::string();
    came_.erase(0, count);
    is_greeted_ = true;
  }
  size_t at = 0;
  const std::string_view all = came_;
  while (all.size() - at >= http2_head && !is_over_) {
    const std::string_view head = all.substr(at, http2_head);
    const size_t size = number_in(head.substr(0, 3));
    if (size > largest_frame)
      return broken("a frame is too large");
    if (all.size() - at < http2_head + size)
      break;
    TRY(take_frame({static_cast<uint8_t>(head[3]), static_cast<uint8_t>(head[4]),
                    number_in(head.substr(5)) & 0x7fffffff, all.substr(at + http2_head, size)}));
    at += http2_head + size;
  }
  came_.erase(0, at);
  send_ready();
  return std::exchange(out_, {});
}

Status SessionAnswers::take_frame(const Frame& frame) {
  switch (frame.type) {
    case data:
      return take_data(frame);
    case headers: {
      if (streams_.size() >= most_questions)
        return broken("it asks too much at once");
      Stream& stream = streams_.try_emplace(frame.stream).first->second;
      stream.window = first_window_;
      return (frame.flags & end_of_stream) != 0 ? answer(frame.stream, stream) : Status();
    }
    case reset:
      streams_.erase(frame.stream);
      return {};
    case settings:
      return take_settings(frame);
    case ping:
      if ((frame.flags & is_ack) == 0)
        add_frame(out_, ping, is_ack, 0, frame.bytes);
      return {};
    case go_away:
      is_over_ = true;
      return {};
    case window_update:
      return take_window(frame);
    default:
      return {};  // the rest of headers, and whatever else there may be
  }
}

Status SessionAnswers::take_settings(const Frame& frame) {
  if ((frame.flags & is_ack) != 0)
    return {};
  for (size_t at = 0; at + 6 <= frame.bytes.size(); at += 6)
    if (number_in(frame.bytes.substr(at, 2)) == initial_window_size) {
      const auto size = static_cast<int64_t>(number_in(frame.bytes.substr(at + 2, 4)));
      for (auto& [number, stream] : streams_)
        stream.window += size - first_window_;
      first_window_ = size;
    }
  add_frame(out_, settings, is_ack, 0, {});
  return {};
}

Status SessionAnswers::take_window(const Frame& frame) {
  if (frame.bytes.size() != 4)
    return broken("a window has another size");
  const auto more = static_cast<int64_t>(number_in(frame.bytes) & 0x7fffffff);
  if (frame.stream == 0)
    window_ += more;
  else if (const auto found = streams_.find(frame.stream); found != streams_.end())
    found->second.window += more;
  return {};
}

Status SessionAnswers::take_data(const Frame& frame) {
  const auto found = streams_.find(frame.stream);
  if (!frame.bytes.empty()) {  // it may send as much again
    std::string more;
    add_number(more, static_cast<uint32_t>(frame.bytes.size()), 4);
    add_frame(out_, window_update, 0, 0, more);
  }
  if (found == streams_.end())
    return {};
  std::string_view bytes = frame.bytes;
  if ((frame.flags & padded) != 0) {
    const size_t padding = bytes.empty() ? 1 : static_cast<unsigned char>(bytes[0]) + size_t{1};
    if (padding > bytes.size())
      return broken("there is more padding than data");
    bytes = bytes.substr(1, bytes.size() - padding);
  }
  Stream& stream = found->second;
  stream.asked += bytes;
  if (stream.asked.size() > largest_question)
    return broken("a question is too long");
  return (frame.flags & end_of_stream) != 0 ? answer(frame.stream, stream) : Status();
}

/// The message of an answer; none: this is nothing that is answered.
Result<std::optional<std::string>> SessionAnswers::message_for(std::string_view asked) const {
  cri::MessageWriter made;
  if (asked.empty()) {  // `Health/Check`
    made.number(1, 1);
    return made.bytes();
  }
  cri::MessageReader reader(asked);
  while (const auto field = TRY(reader.next()))
    if (field->field == 1 && field->type == cri::WireType::bytes)
      if (const auto secret = secrets_.find(std::string(field->bytes)); secret != secrets_.end()) {
        made.text(1, secret->second);
        return made.bytes();
      }
  return std::optional<std::string>();
}

Status SessionAnswers::answer(uint32_t number, Stream& stream) {
  if (stream.is_answered)
    return {};
  stream.is_answered = true;
  const Result<std::string> asked = cri::grpc_message(std::exchange(stream.asked, {}));
  if (const auto message = asked ? TRY(message_for(*asked)) : std::nullopt) {
    add_frame(out_, headers, end_of_headers, number, first_headers());
    stream.answer = cri::grpc_frame(*message);
    return {};
  }
  add_frame(out_, headers, end_of_headers | end_of_stream, number,
            first_headers() + status_field(cri::GrpcCode::unimplemented));
  streams_.erase(number);
  return {};
}

void SessionAnswers::send_ready() {
  for (auto at = streams_.begin(); at != streams_.end();) {
    Stream& stream = at->second;
    while (!stream.answer.empty() && stream.window > 0 && window_ > 0) {
      const size_t count =
          std::min({stream.answer.size(), largest_frame, static_cast<size_t>(stream.window),
                    static_cast<size_t>(window_)});
      add_frame(out_, data, 0, at->first, std::string_view(stream.answer).substr(0, count));
      stream.answer.erase(0, count);
      stream.window -= static_cast<int64_t>(count);
      window_ -= static_cast<int64_t>(count);
    }
    if (!stream.is_answered || !stream.answer.empty()) {
      ++at;
      continue;
    }
    add_frame(out_, headers, end_of_headers | end_of_stream, at->first,
              status_field(cri::GrpcCode::ok));
    at = streams_.erase(at);
  }
}

namespace {

/// Until the engine ends the connection, or a stop is asked for.
Status serve(HttpConnection& connection, SessionAnswers& answers, const std::stop_token& stop) {
  TRY(connection.write(SessionAnswers::greeting(), stop));
  std::array<char, most_read> buffer{};
  while (!answers.is_over()) {
    const size_t count = TRY(connection.read(buffer, stop));
    if (count == 0)
      return {};
    TRY(connection.write(TRY(answers.take({buffer.data(), count})), stop));
  }
  return {};
}

}  // namespace

Result<BuildSession> BuildSession::open(const Engine& engine,
                                        std::map<std::string, std::string> secrets,
                                        std::stop_token stop) {
  const std::string id = TRY(new_token("the name of a build's session")).substr(0, 32);
  EngineCall call{.method = "POST", .path = "/session"};
  call.headers = {
      {"Upgrade", "h2c"},
      {"X-Docker-Expose-Session-Uuid", id},
      {"X-Docker-Expose-Session-Name", "fettle"},
      {"X-Docker-Expose-Session-Sharedkey", id},
      {"X-Docker-Expose-Session-Grpc-Method", "/grpc.health.v1.Health/Check"},
      {"X-Docker-Expose-Session-Grpc-Method", "/moby.buildkit.secrets.v1.Secrets/GetSecret"}};
  auto connection = std::make_shared<HttpConnection>(
      TRY(HttpConnection::upgrade(engine.request(std::move(call)), std::move(stop))
              .context("opening a session for the build's secrets")));
  // A session that breaks makes the build fail, which says so.
  return BuildSession(id, Thread([connection, answers = SessionAnswers(std::move(secrets))](
                                     const std::stop_token& end) mutable {
                        static_cast<void>(serve(*connection, answers, end));
                      }));
}

}  // namespace fettle
