/// engine_tool start podman|docker ROOT [--registry HOST:PORT] [IMAGES-FOLDER [NAME…]]
/// engine_tool import ADDRESS IMAGES-FOLDER [NAME…]
/// engine_tool drop ADDRESS [NAME…]
/// engine_tool stop podman|docker ROOT [--wipe]
///
/// Real engines for scripts: starts one below ROOT (or finds it there), imports the images of
/// make_images.sh, and prints the path of its socket. `--registry`: one without TLS on this
/// machine.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/text.h"
#include "tests/engine/test_engines.h"

namespace fettle {
namespace {

Status run(std::vector<std::string> arguments) {
  std::string registry;
  if (const auto flag = std::ranges::find(arguments, "--registry");
      flag != arguments.end() && flag + 1 != arguments.end()) {
    registry = flag[1];
    arguments.erase(flag, flag + 2);
  }
  if (arguments.size() > 2 && arguments[0] == "import") {
    const EngineAddress address = TRY(parse_engine_address(arguments[1], process_variable));
    return import_test_images(address, arguments[2], {arguments.begin() + 3, arguments.end()});
  }
  if (arguments.size() > 1 && arguments[0] == "drop")
    return drop_test_images(TRY(parse_engine_address(arguments[1], process_variable)),
                            {arguments.begin() + 2, arguments.end()});
  if (arguments.size() < 3 || (arguments[1] != "podman" && arguments[1] != "docker"))
    return user_error("usage: engine_tool start|stop podman|docker ROOT …");
  TestEngine engine(arguments[1] == "podman" ? TestEngine::Sort::podman : TestEngine::Sort::docker,
                    arguments[2], registry);
  if (arguments[0] == "stop")
    return engine.stop(arguments.size() > 3 && arguments[3] == "--wipe");
  if (arguments[0] != "start")
    return user_error(cat("unknown command `", arguments[0], "`"));
  const EngineAddress address = TRY(engine.start());
  if (arguments.size() > 3) {
    std::vector<std::string> names(arguments.begin() + 4, arguments.end());
    if (names.empty())
      names = {"busybox", "web", "redis", "python"};
    TRY(engine.import(arguments[3], names));
  }
  std::printf("%s\n", address.unix_socket.c_str());
  return {};
}

}  // namespace
}  // namespace fettle

int main(int count, char** values) {
  const fettle::Status done = fettle::run(std::vector<std::string>(values + 1, values + count));
  if (!done)
    std::fprintf(stderr, "engine_tool: %s\n", fettle::to_string(done.error()).c_str());
  return done ? 0 : 1;
}
