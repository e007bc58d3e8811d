#include "cli/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "cli/print.h"

namespace fettle {
namespace {

constexpr const char* standard_output = "standard output";

Status write_to(int descriptor, const Path& path,
                const std::function<Status(const ByteSink&)>& fill) {
  return fill([&](std::string_view bytes) -> Status {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return path == standard_output ? Status(output_error(standard_output))
                                       : Status(file_error("cannot write", path));
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return {};
  });
}

Status write_to_special(const Path& path, const std::function<Status(const ByteSink&)>& fill) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.is_open() ? write_to(file.get(), path, fill) : file_error("cannot open", path);
}

}  // namespace

Status write_output(const std::string& path, const std::function<Status(const ByteSink&)>& fill) {
  if (is_standard_output(path)) {
    std::fflush(stdout);
    return write_to(STDOUT_FILENO, standard_output, fill);
  }
  // A path that is not valid is the user's fault; a later failure is the world's.
  struct stat about{};
  if (stat(path.c_str(), &about) != 0) {
    const Path folder = Path(path).parent_path();
    std::error_code failure;
    if (!folder.empty() && !std::filesystem::is_directory(folder, failure))
      return user_error(
          cat("cannot write `", path, "`: there is no folder `", folder.string(), "`"));
    return write_file(path, fill);
  }
  if (S_ISDIR(about.st_mode))
    return user_error(cat("cannot write `", path, "`: it is a folder"));
  if (!S_ISREG(about.st_mode))
    return write_to_special(path, fill);
  std::error_code code;
  const Path target = std::filesystem::canonical(path, code);
  return write_file(code ? Path(path) : target, fill, about.st_mode & 07777);
}

Status write_output(const std::string& path, std::string_view text) {
  return write_output(path, [&](const ByteSink& write) { return write(text); });
}

}  // namespace fettle
