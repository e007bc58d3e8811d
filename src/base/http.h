#pragma once
/// An HTTP client. Many requests are in flight at once on one thread of its own; whoever acts
/// calls `send` and waits, or `start` and is called back.
///
///   HttpClient client;
///   const HttpResponse pong = TRY(client.send({.url = "http://engine/_ping",
///                                              .unix_socket = "/var/run/docker.sock"}, stop));
///
/// An answer with any status is an answer; an error means that there was none.
///
/// An answer may have no end: with a sink and without `time_limit` it goes on until the stop token
/// ends it, and costs no thread. A connection whose peer is gone looks like one on which nothing
/// happens, and libcurl does not watch for answers to its pings; so such a request says how long
/// silence is fine (`idle_limit`), and its connection how long the peer's system may be silent
/// (`dead_peer_limit`).

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"

namespace fettle {

struct HttpHeader {
  std::string name{};
  std::string value{};
};

/// Who the two sides of TLS are, in PEM format: as files, or as texts, which come first. Empty ones
/// are not used.
struct TlsSettings {
  std::string authorities{};  ///< whom to trust, instead of the system's
  std::string certificate{};  ///< who we are
  std::string key{};
  std::string authorities_text{};
  std::string certificate_text{};
  std::string key_text{};
  std::string server_name{};    ///< whom the server must prove to be, if not the host of the URL
  bool trusts_anybody = false;  ///< whoever answers is not asked who they are
};

struct HttpRequest {
  std::string method = "GET";
  std::string url{};          ///< `http://…` or `https://…`
  std::string unix_socket{};  ///< connect to this path; the host in `url` is then only a name
  std::vector<HttpHeader> headers{};
  std::string body{};
  ByteSource source{};  ///< instead of `body`; pulled on the client's thread, so it must not wait
  /// Gets the body of an answer with status 2xx as it arrives; called on the client's thread.
  ByteSink sink{};
  Duration connect_limit = WaitLimits().connect;
  Duration time_limit{0};  ///< of the whole exchange; 0 is none
  /// From then on it is not begun any more: an error, and nothing has happened. Whoever is asked to
  /// send it may have waited, or been paused, since it was decided.
  std::optional<Instant> send_before{};
  /// The limit without a byte in either direction; 0: none. Only for `send`.
  Duration silence_limit = WaitLimits().silence;
  /// `send` asks this each time that the silence limit is over, on the thread that waits. An error
  /// ends the exchange; otherwise the silence is fine. Without it, silence is an error.
  std::function<Status(const std::stop_token& stop)> still_at_it{};
  /// The limit without a byte of the answer; 0: none. For answers without an end: nobody has to wait
  /// for it, so it also ends what was begun by `start`.
  Duration idle_limit{0};
  /// How long bytes may stay unacknowledged on a new connection until its peer is taken for dead; 0:
  /// the system's minutes.
  Duration dead_peer_limit{0};
  size_t body_limit = 64 << 20;  ///< of an answer without a sink
  bool follow_redirects = false;
  /// With TLS, HTTP/2 if the server agrees to it: many exchanges are on one connection then, and a
  /// request waits for one that is being made. Without TLS, HTTP/2 unasked, on a connection of its
  /// own: libcurl 7.88 would put HTTP/2 into the HTTP/2 of one that it used before.
  bool is_http2 = false;
  /// A connection that is used again and breaks before the answer is an error, though libcurl would
  /// send the same again on another one: it may have been done. Only of what has a body.
  bool is_sent_once = false;
  TlsSettings tls{};
};

/// Whether a request that was begun then and failed has had its time. libcurl counts the milliseconds
/// that it has begun, so one may be missing.
inline bool has_taken(Instant begun, Duration time_limit) {
  return instant_from_clock() - begun + std::chrono::milliseconds(1) >= time_limit;
}

struct HttpResponse {
  int status = 0;
  std::vector<HttpHeader> headers{};
  std::string body{};                  ///< empty when a sink took it
  std::vector<HttpHeader> trailers{};  ///< that came after the body
  /// The value of a header, whatever the case of its name. Empty: there is none.
  std::string_view header(std::string_view name) const;
};

class HttpClient {
 public:
  using Done = std::function<void(Result<HttpResponse>)>;

  HttpClient();
  ~HttpClient();  ///< cancels what is in flight
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Waits for the answer. Safe from many threads at once, but not from the client's own.
  Result<HttpResponse> send(HttpRequest request, std::stop_token stop);
  /// Calls `done` once, on the client's thread.
  void start(HttpRequest request, std::stop_token stop, Done done);

 private:
  class Worker;
  Worker& worker();
  std::unique_ptr<std::once_flag> begun_;
  std::unique_ptr<Worker> worker_;  ///< made by the first request
};

/// A URL as it may be shown: without its query, its fragment, its user and password.
std::string shown_url(std::string_view url);

/// `text` as it is written in a URL: all but letters, digits and `-._~` as `%XX`.
std::string percent_encode(std::string_view text);

/// Adds `name=value` to the query of a URL. Only the value is encoded.
void add_parameter(std::string& url, std::string_view name, std::string_view value);

}  // namespace fettle
