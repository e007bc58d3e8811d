#pragma once
/// The HTTP request by which a connection becomes a stream of frames, and who may do that.
///
/// 127.0.0.1 protects nothing: every user of this machine reaches it, and so does every page that a
/// browser here shows. So a request needs a token of the server (`tokens.h`); what a browser sends is refused,
/// since no page has any business here; and in clear text `Host` must be an address of ours, for a
/// name that is made to mean 127.0.0.1 is somebody else's page. With TLS, a client has seen by our
/// certificate that the name is ours.
///
/// A new check is a line in `refusal_of` or `refusal_of_client`, and a row of docs/trust.md with its test.

#include <optional>
#include <string>
#include <string_view>

#include "remote/called_at.h"

namespace fettle {

/// The version of the stream; one that differs is refused.
constexpr std::string_view stream_name = "fettle-commands/1";
constexpr std::string_view commands_path = "/v1/commands";
/// That of agents, which are none of the connections of commands.
constexpr std::string_view agents_path = "/v1/agents";
constexpr std::string_view json_type = "application/json; charset=utf-8";

/// Fields that were not sent are empty, and so are those that were sent twice.
struct UpgradeRequest {
  std::string method, target, host, upgrade, token, version;
  std::string forwarded_for;     ///< of all fields with this name, in order
  bool is_from_browser = false;  ///< it says from where it comes
  bool has_body = false;
};

struct UpgradeRefusal {
  int status = 400;
  std::string message;
};

/// The header of a request, as far as it came. None: it is not whole yet. `used`: the bytes that it
/// took. Errors (`Blame::user`): it is no request, or it is too large.
Result<std::optional<UpgradeRequest>> read_upgrade(std::string_view bytes, size_t& used);

/// Why nothing is answered to whoever sent a request. None: he may ask. `here`: what it must call us.
/// `known`: whether its token is one of the server, or why not.
std::optional<UpgradeRefusal> refusal_of_client(const UpgradeRequest& request, const CalledAt& here,
                                                const Status& known);
/// Why a request is refused. None: it may become a stream. The parameters are as above.
std::optional<UpgradeRefusal> refusal_of(const UpgradeRequest& request, const CalledAt& here,
                                         const Status& known, std::string_view version);

/// `path`: that of a proxy, in front of the server's own (`target`); empty: none.
std::string upgrade_request(std::string_view host, std::string_view token, std::string_view version,
                            std::string_view path = {}, std::string_view target = commands_path);
/// The reply that begins the stream.
std::string upgrade_reply();
/// A reply that ends the connection.
/// `fields`: more lines of its header, each with its end.
std::string closing_reply(int status, std::string_view content_type, std::string_view body,
                          std::string_view fields = {});
/// The same with the envelope of errors.
std::string refusal_reply(const UpgradeRefusal& refusal, std::string_view fields = {});

}  // namespace fettle
