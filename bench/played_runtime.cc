/// played_runtime MILLISECONDS IMAGE...
///
/// The container runtime of the tests as a program: each pull of one of the images takes that long.
/// Prints the path of its socket, and plays until its input ends. It needs nginx.

#include <iostream>
#include <map>

#include "tests/kubernetes/played_runtime.h"

namespace fettle {
namespace {

int play(Duration pull, const std::vector<std::string>& images) {
  PlayedRuntime runtime;
  for (const std::string& image : images) {
    runtime.offer(image);
    runtime.hold(image);
  }
  std::cout << runtime.socket().string() << std::endl;
  const std::jthread releaser([&](const std::stop_token& stop) {
    std::map<std::string, size_t> seen;
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(1ms);
      for (const std::string& image : images)
        if (const size_t pulls = runtime.count("pull " + image); pulls > seen[image]) {
          std::this_thread::sleep_for(pull);
          runtime.release(image);
          while (runtime.count("pulled " + image) < pulls && !stop.stop_requested())
            std::this_thread::sleep_for(1ms);
          runtime.hold(image);
          seen[image] = pulls;
        }
    }
  });
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}

}  // namespace
}  // namespace fettle

int main(int count, char** values) {
  const int milliseconds = count > 1 ? std::atoi(values[1]) : 0;
  if (milliseconds <= 0 || count < 3) {
    std::cerr << "usage: played_runtime MILLISECONDS IMAGE...\n";
    return 2;
  }
  return fettle::play(std::chrono::milliseconds(milliseconds),
                      std::vector<std::string>(values + 2, values + count));
}
