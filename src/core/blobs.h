#pragma once
/// Contents by digest that are too large for a record. They are immutable once put. Something else
/// can lose or damage a content; its reader notices, and the act that made it is due again.

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace fettle {

/// A content that is being read: `source` fails at its end if the bytes do not match the digest.
struct Blob {
  uint64_t size = 0;
  ByteSource source;
};

using DigestSet = std::set<std::string, std::less<>>;

class Blobs {
 public:
  virtual ~Blobs() = default;

  /// A content that is being written. One that is not finished leaves no trace.
  class Draft {
   public:
    virtual ~Draft() = default;
    virtual Status add(std::string_view bytes) = 0;
    /// The SHA-256, in hex, of all added bytes. From now on the content survives a power loss, and
    /// nothing clears it as long as this process lives or a record refers to it.
    virtual Result<std::string> finish() = 0;
  };
  virtual Result<std::unique_ptr<Draft>> begin() = 0;

  /// Putting twice has the effect of putting once.
  Result<std::string> put(std::string_view bytes);
  Result<std::string> put(const ByteSource& source);

  /// Whether it exists in its full size. From now on it is kept as after `finish`.
  virtual Result<bool> has(std::string_view digest) = 0;
  /// Those of which `has` is true. A store on another machine is asked once for many.
  virtual Result<DigestSet> find_all(const DigestSet& digests);
  /// Errors: the content is missing or incomplete.
  virtual Result<Blob> open(std::string_view digest) = 0;

  /// Clears contents that no record refers to, and half-written ones of processes that are gone.
  /// Returns how many contents it cleared; stores that keep nothing return 0.
  virtual Result<size_t> clear() { return size_t{0}; }
};

/// The content is missing or incomplete.
Error lost_content_error(std::string_view digest, std::string_view fate = "lost");

/// The whole content, if it is not larger than `limit`.
Result<std::string> read_blob(Blobs& blobs, std::string_view digest, size_t limit);

}  // namespace fettle
