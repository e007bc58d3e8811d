#include "drivers/agent/named_digests.h"

namespace fettle {
namespace {

constexpr size_t digits_of_digest = 64;

bool is_digit(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
}

}  // namespace

/// Looks at the last byte of a place first: where that is no digit, no digest stands up to it. So
/// of most bytes one in 64 is read.
void NamedDigests::add(std::string_view bytes) {
  size_t end = digits_of_digest;
  while (end <= bytes.size()) {
    size_t run = 0;
    while (run < digits_of_digest && is_digit(bytes[end - 1 - run]))
      ++run;
    if (run < digits_of_digest) {
      end += digits_of_digest - run;
      continue;
    }
    // A longer row may have a length of the codec before it, which looks like a digit.
    do {
      digests_.emplace(bytes.substr(end - digits_of_digest, digits_of_digest));
    } while (end < bytes.size() && is_digit(bytes[end++]));
    end += digits_of_digest;
  }
}

}  // namespace fettle
