/// Any bytes as what strangers and clients send to a server of commands: a request, frames that are
/// cut anywhere, a command in frames or over HTTP, a JWT, the keys of an issuer, the call of a hook. The
/// first byte says which.

#include <cstdint>

#include "base/fuzz/require.h"
#include "base/text.h"
#include "remote/agents.h"
#include "remote/frames.h"
#include "remote/hooks.h"
#include "remote/jwt.h"
#include "remote/key_set.h"
#include "remote/posted_command.h"
#include "remote/request.h"
#include "remote/upgrade.h"
#include "value/json.h"

namespace fettle {
namespace {

void read_as_upgrade(std::string_view bytes) {
  size_t used = 0;
  const Result<std::optional<UpgradeRequest>> request = read_upgrade(bytes, used);
  if (!request)
    return require(!request.error().message.empty(), "an error says what is wrong");
  require(used <= bytes.size(), "no more is used than there is");
  if (!*request)
    return;
  require(used > 0, "a request has bytes");
  const CalledAt here{9790, {}};
  const auto refusal = refusal_of(**request, here, user_error("nobody knows him"), "1.0");
  require(refusal && refusal->status >= 400, "who is not known is refused");
  static_cast<void>(here.own_target((*request)->target));
}

void read_as_frames(std::string_view bytes) {
  if (bytes.empty())
    return;
  const size_t piece = static_cast<unsigned char>(bytes[0]) + 1u;
  bytes.remove_prefix(1);
  const size_t all = bytes.size();
  FrameReader reader(4'096);
  size_t read = 0;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    reader.add(bytes.substr(0, piece));
    while (true) {
      const Result<std::optional<Frame>> frame = reader.next();
      if (!frame)
        return;
      if (!*frame)
        break;
      require((*frame)->payload.size() <= 4'096, "a frame is no larger than it may be");
      read += packed((*frame)->type, (*frame)->payload).size();
    }
  }
  require(read <= all, "frames are made of the bytes that came");
}

void check_files(const CommandRequest& request) {
  require(request.folder == "/" || is_plain_path(request.folder), "a folder leads nowhere else");
  for (const FileEntry& entry : request.files)
    require(is_plain_path(entry.path), "a path leads nowhere else");
}

void read_as_command(std::string_view bytes) {
  const Result<CommandRequest> request = command_request_of(bytes);
  if (!request)
    return;
  check_files(*request);
  require(command_request_of(write_json(value_of(*request))).has_value(), "it is sent as it came");
}

void read_as_posted(std::string_view bytes) {
  const Result<PostedCommand> command = posted_command_of(bytes);
  if (!command)
    return require(command.error().blame == Blame::user, "who posted it hears why");
  check_files(command->request);
  require(!command->request.words.empty(), "a command has words");
  for (const FileEntry& entry : command->request.files)
    require(entry.type != FileEntry::Type::file || command->contents.contains(entry.path),
            "a file has a content");
}

void read_as_jwt(std::string_view bytes) {
  const Result<Jwt> jwt = read_jwt(bytes);
  if (!jwt)
    return require(bytes.size() < 9 || jwt.error().message.find(bytes) == std::string::npos,
                   "an error does not repeat it");
  require(bytes.starts_with(jwt->signed_part) && !jwt->signature.empty(),
          "what is signed is a part of it");
  static_cast<void>(time_fault(jwt->claims, Time(std::chrono::seconds(1'700'000'000))));
  static_cast<void>(is_for_audience(jwt->claims, "fettle"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0)
    return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0:
      read_as_upgrade(bytes);
      break;
    case 1:
      read_as_frames(bytes);
      break;
    case 2:
      read_as_command(bytes);
      break;
    case 3:
      read_as_posted(bytes);
      break;
    case 4:
      read_as_jwt(bytes);
      break;
    case 5:
      if (const Result<KeySet> keys = read_key_set(bytes))
        static_cast<void>(keys->has("k"));
      break;
    case 6: {
      HookCall call;
      call.body = std::string(bytes);
      if (const Result<std::string> reason = reason_to_ignore(call, "main"); !reason)
        require(reason.error().blame == Blame::user, "who called hears why");
      require(!is_proven(call, "secret"), "nothing proves nothing");
      break;
    }
    default:
      static_cast<void>(agent_identity_of(bytes));
  }
  return 0;
}

}  // namespace fettle
