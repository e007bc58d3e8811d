/// Loaded in front of the C library: the n-th call that changes a file below `$FAILING_FOLDER`, in
/// this process or its children, fails with `$FAILING_ERROR`; with `$FAILING_FOREVER`, so do all
/// later ones, as on a full disk. `$FAILING_COUNT` is a file in which calls are counted. With
/// `$FAILING_KILLS`, the call does not fail: who is listed in that file is killed before it, numbers
/// of processes, `self` for the one that calls, `parent` for the one that started it.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

/// Shared by all processes of a try.
std::atomic<long>* shared_count() {
  static std::atomic<long>* const count = [] {
    const char* path = std::getenv("FAILING_COUNT");
    const int file = path == nullptr ? -1 : static_cast<int>(syscall(257, AT_FDCWD, path, O_RDWR));
    void* memory = file < 0 ? MAP_FAILED
                            : mmap(nullptr, sizeof(std::atomic<long>), PROT_READ | PROT_WRITE,
                                   MAP_SHARED, file, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::atomic<long>*>(memory);
  }();
  return count;
}

bool is_below(const char* path) {
  const char* folder = std::getenv("FAILING_FOLDER");
  return folder != nullptr && path != nullptr &&
         std::strncmp(path, folder, std::strlen(folder)) == 0;
}

bool is_below(int file) {
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0)
    return false;
  path[size] = '\0';
  return is_below(path);
}

void kill_those_in(const char* path) {
  char text[256];
  const int file = static_cast<int>(syscall(257, AT_FDCWD, path, O_RDONLY));
  const ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0)
    close(file);
  if (size < 0)
    return;
  text[size] = '\0';
  bool is_meant = false;
  char* rest = nullptr;
  for (char* word = strtok_r(text, " \n", &rest); word != nullptr;
       word = strtok_r(nullptr, " \n", &rest)) {
    if (std::strcmp(word, "self") == 0)
      is_meant = true;
    else
      kill(std::strcmp(word, "parent") == 0 ? getppid() : std::atoi(word), SIGKILL);
  }
  if (is_meant)
    kill(getpid(), SIGKILL);
}

/// Whether this call fails; sets `errno` if so.
bool fails() {
  std::atomic<long>* const count = shared_count();
  const char* at = std::getenv("FAILING_AT");
  if (count == nullptr || at == nullptr)
    return false;
  const long number = ++*count, wanted = std::atol(at);
  const bool forever = std::getenv("FAILING_FOREVER") != nullptr;
  if (wanted <= 0 || number < wanted || (number > wanted && !forever))
    return false;
  if (const char* const kills = std::getenv("FAILING_KILLS")) {
    kill_those_in(kills);
    return false;
  }
  errno = std::atoi(std::getenv("FAILING_ERROR"));
  return true;
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define FAILING(result, name, parameters, arguments, what)                       \
  extern "C" result name parameters {                                            \
    static auto* const real = next<result(*) parameters>(#name);                 \
    return is_below(what) && fails() ? static_cast<result>(-1) : real arguments; \
  }

FAILING(ssize_t, write, (int file, const void* bytes, size_t size), (file, bytes, size), file)
FAILING(ssize_t, pwrite, (int file, const void* bytes, size_t size, off_t at),
        (file, bytes, size, at), file)
FAILING(ssize_t, pwrite64, (int file, const void* bytes, size_t size, off64_t at),
        (file, bytes, size, at), file)
FAILING(int, fsync, (int file), (file), file)
FAILING(int, fdatasync, (int file), (file), file)
FAILING(int, ftruncate, (int file, off_t size), (file, size), file)
FAILING(int, ftruncate64, (int file, off64_t size), (file, size), file)
FAILING(int, rename, (const char* from, const char* to), (from, to), to)
FAILING(int, mkdir, (const char* path, mode_t mode), (path, mode), path)

extern "C" int open(const char* path, int flags, ...) {
  static auto* const real = next<int (*)(const char*, int, ...)>("open");
  va_list more;
  va_start(more, flags);
  const auto mode = static_cast<mode_t>((flags & O_CREAT) != 0 ? va_arg(more, unsigned) : 0);
  va_end(more);
  if ((flags & O_CREAT) != 0 && access(path, F_OK) != 0 && is_below(path) && fails())
    return -1;
  return real(path, flags, mode);
}
extern "C" int open64(const char* path, int flags, ...) {
  static auto* const real = next<int (*)(const char*, int, ...)>("open64");
  va_list more;
  va_start(more, flags);
  const auto mode = static_cast<mode_t>((flags & O_CREAT) != 0 ? va_arg(more, unsigned) : 0);
  va_end(more);
  if ((flags & O_CREAT) != 0 && access(path, F_OK) != 0 && is_below(path) && fails())
    return -1;
  return real(path, flags, mode);
}
