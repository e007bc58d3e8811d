/// Any bytes as a kubeconfig file, as the answer of a server, a plugin or a watch that is cut
/// anywhere, and as a time. The first byte says which.

#include <cstdint>

#include "base/fuzz/require.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "kubernetes/config.h"
#include "kubernetes/credentials.h"
#include "kubernetes/lease.h"
#include "kubernetes/reflector.h"
#include "value/json.h"

namespace fettle::kubernetes {
namespace {

void read_as_config(std::string_view bytes) {
  static const Result<TemporaryDirectory> folder = TemporaryDirectory::make();
  const Path file = folder->path() / "config";
  require(write_file(file, bytes).has_value(), "the file can be written");
  const Result<Config> config = read_kubeconfig({file}, "");
  if (!config)
    return require(!config.error().message.empty() && config.error().excerpt.empty(),
                   "an error says what is wrong and shows no line");
  require(config->server.starts_with("http"), "a server has a scheme");
  require(config->tls.certificate_text.empty() == config->tls.key_text.empty(),
          "a certificate has a key");
  for (const HttpHeader& header : config->identity.impersonation)
    require(header.value.find_first_of("\r\n") == std::string::npos, "a header is one line");
}

/// What is told of objects, which must make sense whatever a server says.
class Names : public ObjectListener {
 public:
  void put(const ObjectName& name, const Value&) override { names_.insert(name); }
  void gone(const ObjectName& name, const std::string&) override {
    require(names_.erase(name) == 1, "only what was told is gone");
  }
  void synced() override {}
  size_t size() const { return names_.size(); }

 private:
  std::set<ObjectName> names_;
};

void read_as_watch(std::string_view bytes) {
  if (bytes.empty())
    return;
  const size_t piece = static_cast<unsigned char>(bytes[0]) + 1u;
  bytes.remove_prefix(1);
  Names names;
  Reflector reflector({.type = types::pods}, names, 1);
  reflector.begin({});
  WatchLines lines(4'096);
  ApiResult<void> end;
  while (!bytes.empty() && end) {
    end =
        lines.feed(bytes.substr(0, piece), [&](const WatchEvent& event) { reflector.take(event); });
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  require(names.size() == reflector.objects(), "all that is known was told");
  reflector.end_watch(end, {});
}

void read_as_answer(std::string_view bytes) {
  const ApiError error =
      read_api_error({.status = 500, .headers = {}, .body = std::string(bytes)}, "x");
  require(is_valid_utf8(error.message) || !is_valid_utf8(bytes), "a message is text");
  if (const Result<Value> lease = read_json(bytes)) {
    Election election({.lease = {"a", "b"}, .identity = "me"}, 1);
    election.begin({});
    election.take(*lease, {});
    require(!election.may_write_until(), "nobody leads by reading");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0)
    return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0:
      read_as_config(bytes);
      break;
    case 1:
      read_as_watch(bytes);
      break;
    case 2:
      read_as_answer(bytes);
      break;
    case 3:
      if (const auto answer = read_plugin_answer(bytes, {.command = "p", .api_version = "v"}))
        require(answer->token.find_first_of("\r\n") == std::string::npos, "a token is one line");
      break;
    default:
      if (const Result<Time> time = read_moment(bytes))
        require(*read_moment(write_precise_moment(*time)) <= *time, "a moment can be written");
  }
  return 0;
}

}  // namespace fettle::kubernetes
