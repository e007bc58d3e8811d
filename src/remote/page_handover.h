#pragma once
/// Connections that go from the process which has accepted them to the one that serves the page of
/// their session: the descriptor, and the bytes that were read of it. The place is a local socket in a
/// folder that only its owner may enter.
///
/// Whoever serves may end at any moment, so each connection is acknowledged, and one that is not
/// stays with who has it.

#include <optional>
#include <string>

#include "base/file.h"
#include "base/time.h"

namespace fettle {

struct HandedConnection {
  Descriptor socket;
  std::string from;   ///< who has connected, for notes; no line break
  std::string bytes;  ///< that were read of it
};

/// A request with its header, and no more.
constexpr size_t most_handed_bytes = 32 << 10;

/// A local socket that listens; one that is there is replaced. The folder must exist.
Result<Descriptor> open_page_entrance(const Path& folder, const std::string& name);
/// False: nobody has taken it, and it is still the caller's.
bool hand_to_page(const Path& folder, const std::string& name, const HandedConnection& connection);
/// The same without waiting for who takes it, for a process that is about to take it itself. What it
/// gives is to be kept until then.
std::optional<Descriptor> begin_page_handover(const Path& folder, const std::string& name,
                                              const HandedConnection& connection);
/// The next one, at most after `patience`.
std::optional<HandedConnection> take_for_page(const Descriptor& door, Duration patience);

}  // namespace fettle
