#pragma once
/// An error that a jq program raises.

#include <string>

#include <tl/expected.hpp>

#include "base/text.h"
#include "jq/json.h"

namespace fettle::jq {

struct Failure {
  enum class Sort : uint8_t {
    raised,  ///< `try` catches it, with a value
    left,    ///< `break`: on its way to a label
    halted,  ///< nobody catches it
  };
  Sort sort = Sort::raised;
  Json value{};  ///< what `catch` gets
  int64_t label = 0;
  int bodies_left = 0;  ///< of how many `try` the body gave a value before; those do not catch it
};

using Answer = tl::expected<Json, Failure>;

/// Joins the pieces to one message.
template <typename... Pieces>
tl::unexpected<Failure> fail(const Pieces&... pieces) {
  return tl::unexpected(Failure{.value = Json::text(cat(pieces...))});
}

}  // namespace fettle::jq
