#include "cli/store_choice.h"

#include <cstdlib>

namespace fettle {

std::string store_named(const std::string& address) {
  return address == "file" ? std::string() : address;
}

std::string store_meant(const CommandLine& parsed) {
  const char* const variable = std::getenv("FETTLE_STORE");
  return store_named(parsed.text("store", variable == nullptr ? "" : variable));
}

}  // namespace fettle
