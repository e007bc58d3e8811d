#include "base/gzip.h"

#include <zlib.h>

#include <array>

namespace fettle {
namespace {

class Deflater {
 public:
  explicit Deflater(const ByteSink& sink) : sink_(sink) {
    constexpr int gzip_window = 15 + 16, memory = 8;
    works_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, memory,
                          Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Deflater() {
    if (works_)
      deflateEnd(&stream_);
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  /// Takes bytes, or with `Z_FINISH` writes what is left.
  Status add(std::span<char> bytes, int flush) {
    if (!works_)
      return world_error("zlib cannot compress");
    stream_.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(made_.data());
      stream_.avail_out = static_cast<uInt>(made_.size());
      deflate(&stream_, flush);
      TRY(sink_({made_.data(), made_.size() - stream_.avail_out}));
    } while (stream_.avail_out == 0);
    return {};
  }

 private:
  const ByteSink& sink_;
  z_stream stream_{};
  bool works_ = false;
  std::array<char, 1 << 16> made_{};
};

}  // namespace

Status pump_gzipped(const ByteSource& source, const ByteSink& sink) {
  Deflater deflater(sink);
  std::array<char, 1 << 16> bytes{};
  while (const size_t count = TRY(source(bytes)))
    TRY(deflater.add(std::span(bytes).first(count), Z_NO_FLUSH));
  return deflater.add({}, Z_FINISH);
}

}  // namespace fettle
