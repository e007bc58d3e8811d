/// Lays out texts that a test or `bench/differ` gives it: standard input holds them, each with a
/// zero byte behind it. Each answer is `=` and the result, or `!` and the error, and a zero byte.

#include <iostream>
#include <iterator>
#include <string>

#include "starlark/format/format.h"

int main() {
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  size_t begin = 0;
  for (size_t end = input.find('\0'); end != input.npos; end = input.find('\0', begin)) {
    const auto result = fettle::starlark::laid_out("text", input.substr(begin, end - begin));
    std::cout << (result ? '=' : '!') << (result ? *result : fettle::to_string(result.error()))
              << '\0';
    begin = end + 1;
  }
}
