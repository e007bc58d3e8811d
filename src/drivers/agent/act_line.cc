#include "drivers/agent/act_line.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t head_of_act = 9;

bool is_act_word(char letter) {
  switch (static_cast<ActWord>(letter)) {
    case ActWord::states:
    case ActWord::only_looks:
    case ActWord::ready:
    case ActWord::observe:
    case ActWord::apply:
    case ActWord::ask:
    case ActWord::stop:
    case ActWord::content:
    case ActWord::content_end:
    case ActWord::content_lost:
    case ActWord::answer:
    case ActWord::failure:
    case ActWord::progress:
    case ActWord::need:
    case ActWord::told:
      return true;
  }
  return false;
}

std::optional<ActMessage> message_of(std::string_view payload) {
  if (payload.size() < head_of_act || !is_act_word(payload[0]))
    return std::nullopt;
  ActMessage message{static_cast<ActWord>(payload[0]), 0, std::string(payload.substr(head_of_act))};
  for (const char byte : payload.substr(1, head_of_act - 1))
    message.number = message.number << 8 | static_cast<unsigned char>(byte);
  return message;
}

}  // namespace

Status ActLine::send(ActWord word, uint64_t number, std::string_view body) {
  if (body.size() > largest_act)
    return user_error(cat("it is too large for another machine: ", body.size(), " bytes, and ",
                          largest_act, " can be sent"));
  std::string payload(1, static_cast<char>(word));
  for (int shift = 56; shift >= 0; shift -= 8)
    payload += static_cast<char>(static_cast<unsigned char>(number >> shift & 0xff));
  payload += body;
  return send_packed(packed(FrameType::act, payload));
}

void ActLine::refuse(std::string_view why) {
  static_cast<void>(!send_packed(
      packed(FrameType::error, write_json(Value::dict({{"message", std::string(why)}})))));
  close();
}

Status ActLine::send_packed(std::string_view bytes) {
  const std::lock_guard lock(sending_);
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t count =
        ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return world_error("the connection was lost");
    sent += static_cast<size_t>(count);
  }
  return {};
}

std::optional<ActMessage> ActLine::receive() {
  while (true) {
    const Result<std::optional<Frame>> frame = reader_.next();
    if (!frame) {
      why_ = frame.error().message;
      return std::nullopt;
    }
    if (*frame && (*frame)->type == FrameType::error) {
      const Result<Value> said = read_json((*frame)->payload);
      why_ = printable(said ? said->text_at("message") : std::string_view("it is refused"));
      return std::nullopt;
    }
    if (*frame) {
      std::optional<ActMessage> message;
      if ((*frame)->type == FrameType::act)
        message = message_of((*frame)->payload);
      if (!message)
        why_ = "the other side says something that is not about acts";
      return message;
    }
    std::array<char, piece_bytes> buffer;
    const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::nullopt;
    reader_.add({buffer.data(), static_cast<size_t>(count)});
  }
}

void ActLine::close() { ::shutdown(socket_.get(), SHUT_RDWR); }

}  // namespace fettle
