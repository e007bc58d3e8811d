#include "remote/apart.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/file.h"
#include "base/text.h"

namespace fettle {
namespace {

constexpr char said_result = '+', said_error = '-';

[[noreturn]] void tell_and_end(const Descriptor& to, const Result<std::string>& said) {
  const std::string text = said ? cat(std::string(1, said_result), *said)
                                : cat(std::string(1, said_error), said.error().message);
  for (std::string_view left = text; !left.empty();) {
    const ssize_t count = ::write(to.get(), left.data(), left.size());
    if (count <= 0)
      _exit(1);
    left.remove_prefix(static_cast<size_t>(count));
  }
  _exit(0);
}

}  // namespace

Result<std::string> done_apart(const std::function<Result<std::string>()>& work, unsigned seconds) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return world_error("there is no pipe to be had");
  Descriptor from(ends[0]), to(ends[1]);
  std::fflush(nullptr);
  const unsigned left = alarm(0);
  const pid_t process = fork();
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGALRM, SIG_DFL);
    alarm(seconds);
    from.close();
    tell_and_end(to, work());
  }
  to.close();
  std::string text;
  std::array<char, 16'384> buffer{};
  for (ssize_t count = 1; process > 0 && count != 0 && text.size() <= most_apart;) {
    count = ::read(from.get(), buffer.data(), buffer.size());
    if (count < 0 && errno != EINTR)
      break;
    text.append(buffer.data(), count > 0 ? static_cast<size_t>(count) : 0);
  }
  from.close();
  int status = -1;
  while (process > 0 && waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  alarm(left);
  if (process < 0 || text.empty() || status != 0 || text.size() > most_apart)
    return world_error(cat("it has not answered within ", seconds, " seconds"));
  if (text[0] == said_error)
    return world_error(text.substr(1));
  return text.substr(1);
}

}  // namespace fettle
