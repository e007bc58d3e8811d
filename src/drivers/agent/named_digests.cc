#include "drivers/agent/named_digests.h"

namespace fettle {
namespace {

constexpr size_t digits_of_digest = 64;

bool is_digit(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
}

}  // namespace

void NamedDigests::add(std::string_view bytes) {
  size_t run = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    run = is_digit(bytes[i]) ? run + 1 : 0;
    // A longer row may have a length of the codec before it, which looks like a digit.
    if (run >= digits_of_digest)
      digests_.emplace(bytes.substr(i + 1 - digits_of_digest, digits_of_digest));
  }
}

}  // namespace fettle
