#pragma once
/// Who may ask our server. It listens on the loopback address of this machine, which is no
/// protection: every program of every user here reaches it, and so does every page that a browser
/// of this machine shows.
///
/// * Another user: a request needs a cookie of 256 random bits. Whoever is told our address gets
///   it for the key in the address, which counts once: an address that is found in a history, a
///   list of processes or a log afterwards opens nothing.
/// * A page of somebody else: the cookie is `SameSite=Strict` and no script reads it, so a request
///   from there has none; what a browser says about where a request comes from (`Sec-Fetch-Site`,
///   `Origin`) must be ourselves.
/// * A page of this machine at another port: browsers give it our cookie, so what acts needs a key
///   more, which the page keeps where only pages of our port can read it: a terminal, and what is
///   posted.
/// * A name that is made to mean 127.0.0.1 after the page was loaded: `Host` must be our address.
///
/// A new check is a line in `refusal_of`, and a row of docs/trust.md with its test.

#include <list>
#include <optional>
#include <string>

#include "server/exchange.h"

namespace fettle {

/// Each hexadecimal, 256 bits.
struct WebKeys {
  std::string address, cookie;
  std::string terminal;  ///< for what acts
  std::string another;   ///< gives another address
};
/// From the system's source of random bits. Error: it gives none.
Result<WebKeys> new_web_keys();

class WebPeer;

/// Who may ask.
class WebDoor {
 public:
  virtual ~WebDoor() = default;
  /// What is answered instead of looking for what was asked. None: the request may be looked at, and
  /// `peer` is who gets the answer. On the listener's thread.
  virtual std::optional<WebReply> answer(const WebRequest& request,
                                         std::shared_ptr<WebPeer>& peer) = 0;
};

class Guard : public WebDoor {
 public:
  /// `landing`: where the page opens, behind `#`: a path of names; may be empty.
  Guard(int port, WebKeys keys, std::string landing = {});

  /// `http://127.0.0.1:PORT/?key=…`, the first one.
  std::string address() const;
  /// Answers with another address, which opens at `at`. It is for the user's other calls of
  /// `fettle web`.
  std::string address_of_another(std::string_view at) const;
  /// Whether it asks for that.
  static bool asks_for_another(const WebRequest& request);
  /// What is answered instead of looking for what was asked: a refusal, or the exchange of the key
  /// for the cookie. None: the request may be looked at.
  std::optional<WebReply> answer(const WebRequest& request);
  std::optional<WebReply> answer(const WebRequest& request, std::shared_ptr<WebPeer>&) override {
    return answer(request);
  }

 private:
  std::optional<WebReply> refusal_of(const WebRequest& request) const;
  std::optional<WebReply> refusal_of_socket(const WebRequest& request) const;
  std::optional<WebReply> refusal_of_act(const WebRequest& request) const;
  WebReply give_another(const WebRequest& request);
  WebReply exchange_key(const WebRequest& request);
  bool has_cookie(const WebRequest& request) const;

  const std::string own_host_;
  const std::string cookie_name_;  ///< has the port: cookies are shared by all ports of a host
  const WebKeys keys_;
  /// Keys that were not used, and where each opens the page; the oldest first.
  std::list<std::pair<std::string, std::string>> unused_;
};

}  // namespace fettle
