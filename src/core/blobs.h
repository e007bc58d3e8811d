#pragma once
/// Contents by digest, too large to stand in a record. Immutable once put. A content can be lost or
/// damaged beside us; whoever reads one notices, and what made it is due again.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace fettle {

/// A content that is read: `source` fails at its end when the bytes are not those of the digest.
struct Blob {
  uint64_t size = 0;
  ByteSource source;
};

class Blobs {
 public:
  virtual ~Blobs() = default;

  /// A content on its way in. One that is not finished leaves no trace.
  class Draft {
   public:
    virtual ~Draft() = default;
    virtual Status add(std::string_view bytes) = 0;
    /// The SHA-256 in hex of all that was added. From now on the content outlives a loss of power,
    /// and nobody clears it away as long as this process lives or a record refers to it.
    virtual Result<std::string> finish() = 0;
  };
  virtual Result<std::unique_ptr<Draft>> begin() = 0;

  /// Putting twice is putting once.
  Result<std::string> put(std::string_view bytes);
  Result<std::string> put(const ByteSource& source);

  /// Whether it is there in its full size. From now on it is kept as after `finish`.
  virtual Result<bool> has(std::string_view digest) = 0;
  /// Errors: there is no such content, or not all of it.
  virtual Result<Blob> open(std::string_view digest) = 0;

  /// Clears away what nobody refers to, and what processes that are gone have left half written.
  /// The answer is how many contents went; of those that keep nothing, none.
  virtual Result<size_t> clear() { return size_t{0}; }
};

/// There is no such content, or not all of it.
Error lost_content_error(std::string_view digest, std::string_view fate = "lost");

/// All of a content that is not larger than `limit`.
Result<std::string> read_blob(Blobs& blobs, std::string_view digest, size_t limit);

}  // namespace fettle
