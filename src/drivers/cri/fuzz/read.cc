/// Any bytes as the answer of a container runtime. The first byte says to which call.

#include <cstdint>

#include "base/fuzz/require.h"
#include "base/text.h"
#include "drivers/cri/grpc.h"
#include "drivers/cri/messages.h"
#include "drivers/cri/sockets.h"
#include "drivers/cri/wire.h"

namespace fettle::cri {
namespace {

template <typename T>
void require_words(const Result<T>& read) {
  require(read || !read.error().message.empty(), "an error says what is wrong");
}

/// What was read is the same after it was written and read once more.
void read_fields(std::string_view bytes) {
  MessageWriter writer;
  MessageReader reader(bytes);
  size_t left = bytes.size();
  while (true) {
    const auto field = reader.next();
    require_words(field);
    if (!field || !*field)
      break;
    require((*field)->bytes.size() <= left, "nothing is read beyond the end");
    left -= (*field)->bytes.size();
    if ((*field)->type == WireType::bytes)
      writer.text((*field)->field, (*field)->bytes);
    else if ((*field)->type == WireType::varint)
      writer.number((*field)->field, (*field)->value);
  }
  MessageReader again(writer.bytes());
  while (true) {
    const auto field = again.next();
    require(field.has_value(), "what we write can be read");
    if (!*field)
      break;
  }
}

void read_images_of(std::string_view bytes) {
  const auto images = read_images(bytes);
  require_words(images);
  size_t names = 0;
  if (!images)
    return;
  for (const RuntimeImage& image : *images) {
    names += image.tags.size() + image.digests.size();
    require(is_valid_utf8(image.id), "names are texts");
  }
  require(images->size() <= most_images && names <= most_image_names, "not too many");
}

/// Headers up to an empty line, then a body.
void read_answer(std::string_view bytes) {
  HttpResponse answer;
  answer.status = 200;
  const size_t end = std::min(bytes.find("\n\n"), bytes.size());
  for (const std::string_view line : split(bytes.substr(0, end), '\n'))
    if (const size_t colon = line.find(':'); colon != line.npos)
      answer.trailers.push_back(
          {std::string(line.substr(0, colon)), std::string(line.substr(colon + 1))});
  answer.body = bytes.substr(std::min(end + 2, bytes.size()));
  const auto read = read_grpc_answer(answer);
  require(read || (read.error().code != GrpcCode::ok && !read.error().message.empty()),
          "an error is none of success");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0)
    return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 7) {
    case 0:
      read_fields(bytes);
      break;
    case 1:
      if (const auto version = read_version(bytes))
        require(runtime_as_kubelets_tell(*version).starts_with(version->name), "a name stays");
      break;
    case 2:
      require_words(read_image_status(bytes));
      break;
    case 3:
      read_images_of(bytes);
      break;
    case 4:
      require_words(read_filesystems(bytes));
      break;
    case 5:
      require_words(read_pull_image(bytes));
      break;
    default:
      read_answer(bytes);
  }
  return 0;
}

}  // namespace fettle::cri
