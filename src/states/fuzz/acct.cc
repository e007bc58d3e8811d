/// Any bytes as MessagePack, as a file of credentials, as a token, and as modules that somebody
/// describes: a value whose parts are sound, or an error that tells no secret.

#include <cstdint>

#include "base/fuzz/require.h"
#include "states/acct.h"
#include "states/described.h"
#include "value/changes.h"
#include "value/json.h"
#include "value/mask.h"
#include "value/msgpack.h"

namespace fettle::states {
namespace {

constexpr const char* key = "cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4=";

void check_value(const Value& value) {
  require(changes_between(value, value).entries().empty(), "nothing differs from itself");
  const Value hidden = sealed(value);
  require(write_json(reveal(hidden)) == write_json(value), "what is sealed can be revealed");
}

void check_modules(const Value& value) {
  std::vector<Value> modules;
  if (value.is_list())
    modules.assign(value.items().begin(), value.items().end());
  const DescribedModules read = read_described(modules);
  require(read.modules.size() + read.problems.size() <= modules.size(), "each is one or the other");
  for (const Module& module : read.modules)
    require(!module.providers.empty(), "a module has providers");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const Result<Value> value = read_msgpack(bytes))
    check_value(*value);
  if (const Result<Value> value = read_json(bytes)) {
    check_value(*value);
    check_modules(*value);
  }
  for (const char* with : {"", key}) {
    const Result<Credentials> credentials = Credentials::read(bytes, "acct", with);
    if (!credentials)
      require(!credentials.error().message.empty(), "the error has a message");
    else
      require(credentials->profile(std::vector<Name>{"a"}, {}).has_value(),
              "one provider is clear");
  }
  return 0;
}

}  // namespace fettle::states
