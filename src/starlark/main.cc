/// The command by itself, to measure and to test it.

#include <string>
#include <vector>

#include "starlark/command.h"

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  return fettle::starlark::run_starlark_command(arguments);
}
