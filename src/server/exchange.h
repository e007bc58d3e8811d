#pragma once
/// A request to our server and what is answered, without the sockets that carry them.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace fettle {

/// A request, read as a whole and within its limits. Header fields that were not sent are empty.
struct WebRequest {
  std::string method;
  std::string target;  ///< as it was sent: `/api/events?text=web`
  std::string host{}, origin{}, fetch_site{}, cookie{}, last_event_id{};
  size_t body_bytes = 0;
  std::string body{}, content_type{};  ///< of a request that acts
  std::string key{};                   ///< for what acts (`Fettle-Key`)
  bool wants_socket = false;           ///< to go on as a WebSocket
  std::string protocols{};             ///< that it offers for that
  std::string from{};  ///< who has connected, if others have handed the connection over
};

struct WebReply {
  int status = 200;
  std::string content_type = "application/json; charset=utf-8";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> fields{};  ///< beside those of every reply
  /// What it was made of. To free ten thousand records takes a quarter of the time of a graph, for
  /// which nobody has to wait.
  std::shared_ptr<const void> rest{};
};

/// The fields that every reply has: what a browser must not do with it.
const std::vector<std::pair<std::string, std::string>>& safety_fields();

/// The envelope of errors, as the command line prints it.
WebReply error_reply(int status, std::string message);
/// The status of an error: 404 or 400 if the user is to blame, else 502.
WebReply error_reply(const Error& error);
/// A document, with the schema's version if it is an object.
WebReply document_reply(const Value& document);

/// The path and the query of a target, decoded.
struct WebTarget {
  std::vector<std::string> segments;  ///< of the path; none: `/`
  std::map<std::string, std::string> query;
};
/// Errors (`Blame::user`): it is no path of ours to look for. What may be read in two ways is
/// refused: empty and dotted segments, encoded slashes, control characters, a name given twice.
Result<WebTarget> parse_target(std::string_view target);

}  // namespace fettle
