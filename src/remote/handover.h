#pragma once
/// A socket that goes from one process of a server to another, with some words about it.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"

namespace fettle {

/// Two ends between processes: what one says comes as it was said, whole or not at all.
Result<std::array<Descriptor, 2>> handover_ends();

struct HandedOver {
  std::string words;
  Descriptor socket;  ///< closed: none came, or this process has too many
};

/// The socket stays open here, too; -1: words alone. Error: nobody takes it.
Status hand_over(int end, std::string_view words, int socket = -1);
/// Without waiting. None: nothing is there. What has no words is the end of the other side.
std::optional<HandedOver> take_over(int end);

/// Closes what this process has besides these, and besides its standard streams: it was forked from
/// one with many.
void close_all_but(std::vector<int> kept);

}  // namespace fettle
