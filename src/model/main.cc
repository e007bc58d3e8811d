/// The compiler alone, for measurements: `model_main -f FILE`.

#include "model/compile.h"

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  return fettle::model::run_compile_command(words);
}
