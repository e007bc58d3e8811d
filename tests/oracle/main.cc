/// Runs histories of the oracle: `oracle COUNT`, or one with `oracle --seed SEED`.

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/oracle/oracle.h"

int main(int count, char** words) {
  const bool is_one = count == 3 && std::string_view(words[1]) == "--seed";
  const uint64_t number = std::strtoull(is_one      ? words[2]
                                        : count > 1 ? words[1]
                                                    : "20000",
                                        nullptr, 10);
  unsigned long long accepted = 0, refused = 0, failed = 0;
  for (uint64_t seed = is_one ? number : 1; seed <= number; ++seed) {
    const fettle::oracle::Report report = fettle::oracle::check_history(seed);
    accepted += static_cast<unsigned>(report.accepted);
    refused += static_cast<unsigned>(report.refused);
    if (report.good)
      continue;
    ++failed;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), report.problem.c_str());
    if (failed == 5)
      break;
  }
  std::printf("%llu exports accepted and %llu refused as one compile does, %llu histories failed\n",
              accepted, refused, failed);
  return failed == 0 ? 0 : 1;
}
