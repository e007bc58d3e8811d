/// Shows what the templates of a chunk file give: `jinja_main FILE`, for comparisons.

#include <iostream>

#include "base/file.h"
#include "template/jinja/chunks.h"

int main(int count, char** arguments) {
  const auto text = fettle::read_file(count == 2 ? arguments[1] : "");
  if (!text) {
    std::cerr << "usage: jinja_main FILE\n";
    return 2;
  }
  for (const fettle::jinja::Chunk& chunk : fettle::jinja::read_chunks(*text))
    std::cout << fettle::jinja::result_of(chunk) << "\n---\n";
  return 0;
}
