/// Reading and compiling files of states: flat ones, a chain, a lattice, and how much memory many
/// take. Prints targets and results.

#include <sys/resource.h>

#include <cstdio>
#include <ctime>
#include <fstream>

#include "base/text.h"
#include "states/compile.h"
#include "states/intent.h"

namespace fettle::states {
namespace {

/// The processor time of this program in seconds: what others do on the machine does not count.
double own_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The most memory that this program has had, in MB.
double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::string id_of(size_t number) {
  std::string digits = std::to_string(number);
  return cat("s", std::string(6 - std::min<size_t>(6, digits.size()), '0'), digits);
}

enum class Graph { flat, chain, lattice };

/// `count` states; in a chain each requires the one before, in a lattice each of ten requires the
/// ten before.
std::string text_of(Graph shape, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += cat(id_of(i), ":\n  test.nop:\n    - name: ", id_of(i), "\n");
    if (shape == Graph::chain && i > 0)
      text += cat("    - require:\n      - test: ", id_of(i - 1), "\n");
    if (shape == Graph::lattice && i >= 10) {
      text += "    - require:\n";
      for (size_t j = i / 10 * 10 - 10; j < i / 10 * 10; ++j)
        text += cat("      - test: ", id_of(j), "\n");
    }
  }
  return text;
}

/// Milliseconds of the fastest of some compiles.
double time_of(const std::string& text, bool with_intent) {
  const auto files = files_of({{"main.sls", text}});
  const std::vector<std::string> words{"main.sls"};
  double best = 1e9;
  for (int i = 0; i < 7; ++i) {
    const double began = own_time();
    const CompiledStates compiled = compile(words, *files, {});
    if (!compiled.errors.empty())
      std::printf("wrong: %s\n", compiled.errors[0].message.c_str());
    if (with_intent && intent_of(compiled, {.environment = "e"}).keys.empty())
      std::printf("wrong: no resources\n");
    best = std::min(best, own_time() - began);
  }
  return best * 1e3;
}

void measure(const char* what, Graph shape, size_t count, double target_ms) {
  const std::string text = text_of(shape, count);
  std::printf("%s: %.1f ms (target %.0f), with the intent %.1f ms; twice as many: %.1f ms\n", what,
              time_of(text, false), target_ms, time_of(text, true),
              time_of(text_of(shape, 2 * count), false));
}

/// In a process of its own: the peak counts.
void measure_memory(size_t count) {
  const double before = peak_mb();
  const auto files = files_of({{"main.sls", text_of(Graph::flat, count)}});
  const std::vector<std::string> words{"main.sls"};
  const CompiledStates compiled = compile(words, *files, {});
  const double compiled_mb = peak_mb();
  const StatesIntent made = intent_of(compiled, {.environment = "e"});
  std::printf("%zu states: at most %.0f MB, with the intent %.0f MB (target 150); %.0f MB before\n",
              made.keys.size(), compiled_mb, peak_mb(), before);
}

}  // namespace
}  // namespace fettle::states

int main(int count, char**) {
  using fettle::states::Graph;
  if (count > 1) {
    fettle::states::measure_memory(100'000);
    return 0;
  }
  fettle::states::measure("5,000 flat states", Graph::flat, 5000, 25);
  fettle::states::measure("a chain of 2,000 requires", Graph::chain, 2000, 50);
  fettle::states::measure("a lattice of 5,000 requisites", Graph::lattice, 510, 50);
  std::printf("memory: run it again with `memory`\n");
}
