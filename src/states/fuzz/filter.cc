/// An expression of `--filter` on the first line and a document behind it: a value that can be
/// written, the same each time, or an error of the user's.

#include <cstdint>
#include <string_view>

#include "base/fuzz/require.h"
#include "value/jmespath.h"
#include "value/json.h"

namespace fettle::states {
namespace {

void check(std::string_view input) {
  const size_t end = input.find('\n');
  const Result<JmesPath> path = JmesPath::read(input.substr(0, end));
  const Result<Value> document =
      end == input.npos ? Result<Value>(Value()) : read_json(input.substr(end + 1), "");
  if (!path || !document) {
    require(path || path.error().blame == Blame::user, "a wrong expression is the user's");
    return;
  }
  const Result<Value> once = path->of(*document), again = path->of(*document);
  require(once.has_value() == again.has_value(), "it comes to the same each time");
  if (once)
    require(write_json(*once) == write_json(*again), "it comes to the same value each time");
  else
    require(once.error().blame == Blame::user, "a misused function is the user's");
}

}  // namespace
}  // namespace fettle::states

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fettle::states::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
