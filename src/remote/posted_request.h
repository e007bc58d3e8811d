#pragma once
/// A request that is read whole: a call of a hook, a command over HTTP, or a browser's to the page.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "remote/upgrade.h"

namespace fettle {

struct PostedRequest {
  std::string method{}, target{}, body{};
  std::vector<std::pair<std::string, std::string>> fields{};
  bool is_from_browser = false;  ///< it says from where it comes
  bool wants_socket = false;     ///< to become a WebSocket

  /// Empty: it was not sent, or twice. `name`: in any case of letters.
  std::string field(std::string_view name) const;
  size_t count(std::string_view name) const;
};

using PostedResult = tl::expected<PostedRequest, UpgradeRefusal>;

/// Reads the rest of a request whose first `bytes` have come; they get all of them. None: the caller
/// went. Refused: it is no request, its header is too large, or its body has more than `most_body`
/// bytes.
std::optional<PostedResult> receive_posted(const Descriptor& socket, std::string& bytes,
                                           uint64_t most_body);

}  // namespace fettle
