#include "drivers/engine/conflict.h"

#include "base/text.h"

namespace fettle {
namespace {

constexpr std::string_view podman_words = "is already allocated to container id ";

}  // namespace

std::string holder_of_address(std::string_view said) {
  const std::string text = lower_case(said);
  const size_t found = text.find(podman_words);
  if (found == text.npos)
    return {};
  const size_t begin = found + podman_words.size();
  const size_t end = text.find_first_not_of("0123456789abcdef", begin);
  return text.substr(begin, end == text.npos ? end : end - begin);
}

bool passes_by_itself(const EngineAnswer& answer) {
  return answer.status >= 500 &&
         lower_case(answer.message()).find("no such network interface") != std::string::npos;
}

EngineConflict what_is_taken(const Error& error) {
  const std::string said = lower_case(error.message);
  const auto says = [&](std::string_view words) { return said.find(words) != said.npos; };
  if (says(podman_words))
    return EngineConflict::address;
  // For an address, Docker says `… container networking: Address already in use`. For a port, it
  // names `bind`, a host port, or the port itself.
  if (says("address already in use") && !says("bind") && !says("port"))
    return EngineConflict::address;
  if (says("already in use") || says("already allocated"))
    return EngineConflict::port;
  return EngineConflict::nothing;
}

}  // namespace fettle
