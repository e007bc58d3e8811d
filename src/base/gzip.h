#pragma once
/// Bytes on their way into a gzip file. Reading one: `gunzip_if_compressed`.

#include "base/bytes.h"

namespace fettle {

/// All of `source`, compressed. The same bytes give the same file: it has no name and no time.
Status pump_gzipped(const ByteSource& source, const ByteSink& sink);

}  // namespace fettle
