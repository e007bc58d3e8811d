#include "drivers/cri/messages.h"

#include "base/text.h"
#include "drivers/cri/wire.h"

namespace fettle::cri {
namespace {

/// The version of the interface that kubelets ask with.
constexpr std::string_view asked_version = "0.1.0";

MessageWriter image_spec(std::string_view image) {
  MessageWriter spec;
  spec.text(1, image);
  return spec;
}

Error too_many(std::string_view what) {
  return world_error(cat("the runtime tells of too many ", what));
}

/// How much may still be read of one answer.
struct ImageAllowance {
  size_t images = most_images, names = most_image_names;
};

Status add_name(const WireField& field, std::vector<std::string>& names,
                ImageAllowance& allowance) {
  if (allowance.names == 0)
    return too_many("names of images");
  --allowance.names;
  names.push_back(TRY(field.text()));
  return {};
}

Result<RuntimeImage> read_image(std::string_view bytes, ImageAllowance& allowance) {
  if (allowance.images == 0)
    return too_many("images");
  --allowance.images;
  RuntimeImage image;
  MessageReader reader(bytes);
  while (const auto field = TRY(reader.next())) {
    switch (field->field) {
      case 1:
        image.id = TRY(field->text());
        break;
      case 2:
        TRY(add_name(*field, image.tags, allowance));
        break;
      case 3:
        TRY(add_name(*field, image.digests, allowance));
        break;
      case 4:
        image.size = TRY(field->number());
        break;
      case 8:
        image.is_pinned = TRY(field->number()) != 0;
        break;
      default:
        break;
    }
  }
  return image;
}

/// The text at a field of a message; the last one counts.
Result<std::string> text_in(std::string_view bytes, uint32_t wanted) {
  std::string text;
  MessageReader reader(bytes);
  while (const auto field = TRY(reader.next()))
    if (field->field == wanted)
      text = TRY(field->text());
  return text;
}

Result<uint64_t> number_in(std::string_view bytes, uint32_t wanted) {
  uint64_t number = 0;
  MessageReader reader(bytes);
  while (const auto field = TRY(reader.next()))
    if (field->field == wanted)
      number = TRY(field->number());
  return number;
}

Result<ImageFilesystem> read_filesystem(std::string_view bytes) {
  ImageFilesystem filesystem;
  MessageReader reader(bytes);
  while (const auto field = TRY(reader.next())) {
    if (field->field < 2 || field->field > 4)
      continue;
    const std::string_view inside = TRY(field->message());
    if (field->field == 2)
      filesystem.mountpoint = TRY(text_in(inside, 1));
    else if (field->field == 3)
      filesystem.used_bytes = TRY(number_in(inside, 1));
    else
      filesystem.used_inodes = TRY(number_in(inside, 1));
  }
  return filesystem;
}

}  // namespace

std::string version_request() {
  MessageWriter request;
  request.text(1, asked_version);
  return request.bytes();
}

std::string image_status_request(std::string_view image) {
  MessageWriter request;
  request.message(1, image_spec(image));
  return request.bytes();
}

std::string pull_image_request(const PullRequest& request) {
  MessageWriter written;
  written.message(1, image_spec(request.image));
  if (request.login) {
    MessageWriter login;
    login.text(1, request.login->username);
    login.text(2, request.login->password);
    written.message(2, login);
  }
  // Plugins of runtimes take it for granted that there is one.
  MessageWriter sandbox;
  for (const auto& [key, value] : request.labels)
    sandbox.entry(6, key, value);
  for (const auto& [key, value] : request.annotations)
    sandbox.entry(7, key, value);
  written.message(3, sandbox);
  return written.bytes();
}

Result<RuntimeVersion> read_version(std::string_view bytes) {
  RuntimeVersion version;
  MessageReader reader(bytes);
  while (const auto field = TRY(reader.next())) {
    switch (field->field) {
      case 2:
        version.name = TRY(field->text());
        break;
      case 3:
        version.version = TRY(field->text());
        break;
      case 4:
        version.api_version = TRY(field->text());
        break;
      default:
        break;
    }
  }
  return version;
}

Result<std::optional<RuntimeImage>> read_image_status(std::string_view bytes) {
  ImageAllowance allowance;
  std::optional<RuntimeImage> image;
  MessageReader reader(bytes);
  while (const auto field = TRY(reader.next())) {
    if (field->field != 1)
      continue;
    const std::string_view inside = TRY(field->message());
    image = TRY(read_image(inside, allowance));
  }
  return image;
}

Result<std::string> read_pull_image(std::string_view bytes) { return text_in(bytes, 1); }

Result<std::vector<RuntimeImage>> read_images(std::string_view bytes) {
  ImageAllowance allowance;
  std::vector<RuntimeImage> images;
  MessageReader reader(bytes);
  while (const auto field = TRY(reader.next())) {
    if (field->field != 1)
      continue;
    const std::string_view inside = TRY(field->message());
    images.push_back(TRY(read_image(inside, allowance)));
  }
  return images;
}

Result<std::vector<ImageFilesystem>> read_filesystems(std::string_view bytes) {
  std::vector<ImageFilesystem> filesystems;
  MessageReader reader(bytes);
  while (const auto field = TRY(reader.next())) {
    if (field->field != 1)
      continue;
    if (filesystems.size() == most_images)
      return too_many("file systems");
    const std::string_view inside = TRY(field->message());
    filesystems.push_back(TRY(read_filesystem(inside)));
  }
  return filesystems;
}

}  // namespace fettle::cri
