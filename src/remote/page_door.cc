#include "remote/page_door.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/hash.h"
#include "base/lock_file.h"
#include "base/rfc3339.h"
#include "base/text.h"
#include "base/token.h"
#include "remote/audit_log.h"
#include "remote/jwt.h"
#include "remote/page_handover.h"
#include "remote/page_request.h"
#include "remote/posted_command.h"
#include "remote/tokens.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view page_of_text = "text/html; charset=utf-8";
constexpr std::string_view terminal_key = "key.", commands_path_of_api = "/api/commands";
/// Without a referrer, a browser says `Origin: null` with a form.
constexpr std::string_view safety_of_forms =
    "Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'\r\n"
    "X-Frame-Options: DENY\r\nReferrer-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n";
/// How often the first connections of a session may find that it has just ended.
constexpr int most_tries = 20;
constexpr Duration pause_of_tries = 100ms;

std::string in_html(std::string_view text) {
  std::string made;
  for (const char c : text)
    switch (c) {
      case '&':
        made += "&amp;";
        break;
      case '<':
        made += "&lt;";
        break;
      case '>':
        made += "&gt;";
        break;
      case '"':
        made += "&quot;";
        break;
      default:
        made += c;
    }
  return made;
}

std::string html_reply(int status, std::string_view body, const std::string& fields = {}) {
  return closing_reply(
      status, page_of_text,
      cat("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta "
          "name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta "
          "name=\"color-scheme\" content=\"light dark\"><title>fettle</title>",
          body, "</html>\n"),
      cat(safety_of_forms, fields));
}

/// Good for nothing but signing out: who has the cookie alone may see it, and has no key for what acts.
std::string sign_out_key(const PageSession& session) {
  return sha256_hex(cat("sign out\n", session.key));
}

/// A page of this server that goes on to another one: a request after a redirection would count as one of
/// whoever led here, and would have no cookie.
std::string onward(const std::string& path, const std::string& fields) {
  return html_reply(200,
                    cat("<meta http-equiv=\"refresh\" content=\"0; url=", path, "\"><p><a href=\"",
                        path, "\">Go on</a></p>"),
                    fields);
}

/// One request of a browser.
class PageAnswer {
 public:
  PageAnswer(Descriptor& socket, std::string bytes, const Caller& caller, std::string from,
             const ServeSettings& settings, const CommandHost& host)
      : socket_(socket),
        bytes_(std::move(bytes)),
        caller_(caller),
        from_(std::move(from)),
        settings_(settings),
        host_(host),
        place_(page_place(caller.at)),
        sessions_(page_sessions(settings)) {}

  std::optional<std::string> answer() {
    if (std::optional<std::string> refusal = begin())
      return refusal;
    if (request_.path == "/sign-in")
      return request_.method == "POST" ? sign_in() : form();
    if (request_.path == "/sign-in/oidc" || request_.path == "/sign-in/callback")
      return !settings_.oidc                    ? refusal_reply({404, "no issuer is known here"})
             : request_.path == "/sign-in/oidc" ? begin_at_issuer()
                                                : end_at_issuer();
    if (request_.path == "/sign-out")
      return sign_out();
    if (request_.path == "/api/session")
      return tell_session();
    return serve_session();
  }

  /// None: `visit` is that of the session. `bytes` get what was read.
  std::optional<std::string> refuse_client(std::string& bytes, Visit& visit) {
    if (std::optional<std::string> refusal = begin())
      return refusal;
    const Result<Grant> grant = known_grant();
    if (!grant)
      return reply_to_stranger(grant.error());
    if (request_.method == "POST" && !is_same_token(request_.key, session_->key))
      return refusal_reply({403, "this browser has no key for what acts: sign in again"});
    sessions_.note_use(*session_, now_);
    visit.sign_in_by(session_->id);
    bytes = std::move(bytes_);
    return std::nullopt;
  }

 private:
  /// Reads the request. The reply, if it is none for this page.
  std::optional<std::string> begin() {
    auto request = receive_page_request(socket_, bytes_);
    if (!request)
      return refusal_reply(request.error());
    request_ = *std::move(request);
    request_.path = caller_.at.own_target(request_.path);
    if (const auto refusal = refusal_of_page())
      return refusal_reply(*refusal);
    now_ = settings_.clock();
    session_ = sessions_.with_cookie(cookie_in(request_.cookie, place_.cookie), now_);
    return std::nullopt;
  }

  /// What browsers send for other pages.
  std::optional<UpgradeRefusal> refusal_of_page() const {
    if (!caller_.at.is_ours(request_.host))
      return UpgradeRefusal{421, "this server answers under its own address only"};
    const bool is_entry = request_.path == "/" || request_.path == "/sign-in" ||
                          request_.path == "/sign-in/callback" || request_.path == "/sign-in/oidc";
    const bool is_form = request_.path == "/sign-in" || request_.path == "/sign-out";
    if (request_.method != "GET" && !(request_.method == "POST" && (is_form || acts())))
      return UpgradeRefusal{405, "this page knows GET alone"};
    if (request_.method == "GET" && !request_.body.empty())
      return UpgradeRefusal{400, "a request to this page has no body"};
    const bool is_from_here =
        request_.site.empty() || request_.site == "same-origin" || request_.site == "none";
    // Others may lead here by a link, to what shows nothing without a cookie, which they do not send.
    if (!is_from_here && !(is_entry && request_.method == "GET"))
      return UpgradeRefusal{403, "another page asked for this"};
    const bool is_own = is_own_origin(request_.origin, request_.host, caller_.at);
    const bool needs_origin = request_.method == "POST" || request_.wants_socket;
    if (needs_origin ? !is_own : !request_.origin.empty() && !is_own)
      return UpgradeRefusal{403, "another page asked for this"};
    if (request_.method == "POST" && is_form &&
        request_.type != "application/x-www-form-urlencoded")
      return UpgradeRefusal{415, "expected a form"};
    return std::nullopt;
  }

  /// By a command, whose own reader looks at the body.
  bool acts() const {
    return request_.path == commands_path_of_api || run_to_cancel(request_.path);
  }

  std::string form(int status = 200, const std::string& trouble = {}) const {
    std::string body = "<h1>fettle</h1>";
    if (!trouble.empty())
      body += cat("<p role=\"alert\">", in_html(trouble), "</p>");
    const Result<Grant> grant =
        session_ ? grant_of_session(*session_, settings_, now_) : user_error("");
    if (grant)
      return html_reply(status,
                        cat(body, "<p>You are signed in as ", in_html(grant->token), " (",
                            to_string(grant->right), "). <a href=\"", place_.path,
                            "\">To the page</a></p><form method=\"post\" action=\"", place_.path,
                            "sign-out\"><input type=\"hidden\" name=\"key\" value=\"",
                            sign_out_key(*session_), "\"><button>Sign out</button></form>"));
    if (settings_.oidc)
      body += cat("<p><a href=\"", place_.path, "sign-in/oidc\">Sign in at ",
                  in_html(settings_.oidc->issuer), "</a></p>");
    body += cat("<form method=\"post\" action=\"", place_.path,
                "sign-in\"><p><label>Token of this server <input name=\"token\" type=\"password\" "
                "autocomplete=\"current-password\" required autofocus></label> "
                "<button>Sign in</button></p></form>");
    return html_reply(status, body);
  }

  std::string sign_in() {
    const std::string token(trim(form_fields(request_.body)["token"]));
    // That of a job would end before the session does.
    if (is_like_jwt(token))
      return form(401, "a token of a job is for commands alone");
    Visit visit(settings_, token, from_);
    if (const Status known = visit.enter(); !known)
      return form(known.error().blame == Blame::user ? 401 : 503, known.error().message);
    const CommandNeeds needs{Right::read, Reach::shown, {}, "sign in to the page"};
    if (const Result<Grant> grant = visit.allow(needs, needs.what); !grant)
      return form(403, grant.error().message);
    PageSession session;
    session.digest = sha256_hex(token);
    return begin_session(std::move(session));
  }

  std::string begin_session(PageSession session) {
    const Result<Grant> grant = grant_of_session(session, settings_, now_);
    if (!grant) {
      note_refusal("", "sign in to the page", grant.error().message, Right::read, from_);
      return form(403, grant.error().message);
    }
    const AuditLog log = audit_log(settings_.home);
    const Result<std::string> noted =
        log.begin({write_moment(now_), grant->token, from_, "sign in to the page"});
    const Result<std::string> cookie =
        noted ? sessions_.begin(std::move(session), now_) : Result<std::string>(noted.error());
    if (!cookie)
      return form(503, cookie.error().message);
    log.end(*noted, 0, now_);
    const std::optional<PageSession> begun = sessions_.with_cookie(*cookie, now_);
    if (session_)
      sessions_.end(session_->id);
    return onward(cat(place_.path, "#key=", begun ? begun->key : ""),
                  cat("Set-Cookie: ", place_.cookie, "=", *cookie, place_.attributes,
                      "; SameSite=Strict\r\nSet-Cookie: ", place_.sign_in_cookie, "=",
                      place_.attributes, "; SameSite=Lax; Max-Age=0\r\n"));
  }

  std::string begin_at_issuer() const {
    const Result<SignInBegin> begin =
        begin_sign_in(*settings_.oidc, settings_.folder(), place_.back, now_);
    if (!begin)
      return form(503, begin.error().message);
    return closing_reply(303, page_of_text, "",
                         cat(safety_of_forms, "Location: ", begin->location, "\r\nSet-Cookie: ",
                             place_.sign_in_cookie, "=", begin->cookie, place_.attributes,
                             "; SameSite=Lax; Max-Age=", sign_in_limit / 1s, "\r\n"));
  }

  std::string end_at_issuer() {
    std::map<std::string, std::string> fields = form_fields(request_.query);
    Result<NamedByIssuer> named =
        finish_sign_in(*settings_.oidc, settings_.folder(), place_.back,
                       cookie_in(request_.cookie, place_.sign_in_cookie),
                       {fields["state"], fields["code"], fields["error"], fields["iss"]}, now_);
    if (!named) {
      note_refusal("", "sign in to the page", named.error().message, Right::read, from_);
      return form(named.error().blame == Blame::user ? 403 : 502, named.error().message);
    }
    PageSession session;
    session.named = *std::move(named);
    return begin_session(std::move(session));
  }

  std::string sign_out() {
    if (request_.method != "POST")
      return refusal_reply({405, "signing out is a POST"});
    if (session_) {
      if (!is_same_token(form_fields(request_.body)["key"], sign_out_key(*session_)))
        return refusal_reply({403, "another page asked for this"});
      sessions_.end(session_->id);
    }
    return onward(cat(place_.path, "sign-in"),
                  cat("Set-Cookie: ", place_.cookie, "=", place_.attributes,
                      "; SameSite=Strict; Max-Age=0\r\nClear-Site-Data: \"storage\"\r\n"));
  }

  void note_refusal(const std::string& token, const std::string& what, const std::string& why,
                    Right right, const std::string& from) const {
    AuditEntry refused{write_moment(settings_.clock()), token, from, what};
    refused.right = to_string(right);
    refused.refused = why;
    audit_log(settings_.home).refuse(refused);
  }

  /// A session that may do nothing any more ends.
  Result<Grant> known_grant() const {
    if (!session_)
      return user_error("nobody is signed in: open the page again, and sign in");
    Result<Grant> grant = grant_of_session(*session_, settings_, now_);
    if (!grant && grant.error().blame == Blame::user)
      sessions_.end(session_->id);
    return grant;
  }

  static std::string reply_to_stranger(const Error& why) {
    return refusal_reply({why.blame == Blame::user ? 401 : 503, why.message},
                         "Fettle-Sign-In: ./sign-in\r\n");
  }

  /// Who is signed in, for the page's own views.
  std::string tell_session() const {
    const Result<Grant> grant = known_grant();
    if (!grant)
      return reply_to_stranger(grant.error());
    std::vector<Value> environments(grant->environments.begin(), grant->environments.end());
    return closing_reply(
        200, json_type,
        write_json(Value::dict({{"name", grant->token},
                                {"right", to_string(grant->right)},
                                {"environments", Value::list(std::move(environments))},
                                {"sign_out", sign_out_key(*session_)},
                                {"schema", 1}})));
  }

  std::optional<std::string> serve_session() {
    if (!session_ && request_.path == "/")
      return closing_reply(303, page_of_text, "",
                           cat(safety_of_forms, "Location: ", place_.path, "sign-in\r\n"));
    const Result<Grant> grant = known_grant();
    if (!grant)
      return reply_to_stranger(grant.error());
    if (request_.wants_socket && !has_terminal_key())
      return refusal_reply({403, "this browser has no key for terminals: sign in again"});
    // Who looks takes no place from commands: with TLS, for as long as his view is open.
    if (!caller_.seats.move(caller_.seat, Visitor::view, settings_.views))
      return refusal_reply({503, cat("the page has ", settings_.views,
                                     " connections already: close a view, and try again")});
    sessions_.note_use(*session_, now_);
    return hand_on(*grant);
  }

  bool has_terminal_key() const {
    return std::ranges::any_of(split(request_.protocols, ','), [&](std::string_view one) {
      return is_same_token(trim(one), cat(terminal_key, session_->key));
    });
  }

  /// To the process of the session, which this one may have to become.
  std::optional<std::string> hand_on(const Grant& grant) {
    const Path folder = settings_.folder() / "pages";
    const std::string name = session_->id + ".socket";
    alarm(0);
    if (!make_directories(folder))
      return refusal_reply({503, "the server cannot write to its folder"});
    with_own_target();
    HandedConnection own{std::move(socket_), from_, bytes_};
    const auto refuse = [&](const std::string& why) {
      socket_ = std::move(own.socket);
      return refusal_reply({503, why});
    };
    for (int left = most_tries; left > 0; --left) {
      if (hand_to_page(folder, name, own))
        return std::nullopt;
      Result<std::optional<LockFile>> lock = LockFile::take(folder / (session_->id + ".lock"));
      if (!lock)
        break;
      if (*lock) {
        if (pages_served(settings_) > most_pages)
          return refuse(cat("the page is open in ", most_pages,
                            " sessions already: try again when one has ended"));
        become(folder, name, grant, own);
        unlink((folder / name).c_str());
        std::move(**lock).remove();
        return std::nullopt;
      }
      usleep(static_cast<useconds_t>(pause_of_tries / 1us));
    }
    return refuse("the page does not begin: try again");
  }

  /// What is served has no path of a proxy in front of it.
  void with_own_target() {
    const std::string own = caller_.at.own_target(request_.target);
    if (own == request_.target)
      return;
    const size_t at = bytes_.find(request_.target);
    bytes_.replace(at, request_.target.size(), own);
  }

  void become(const Path& folder, const std::string& name, const Grant& grant,
              HandedConnection& own) {
    const Result<Descriptor> door = open_page_entrance(folder, name);
    if (!door)
      return;
    const std::optional<Descriptor> begun = begin_page_handover(folder, name, own);
    if (!begun)
      return;
    own.socket.close();
    caller_.seats.move(caller_.seat, Visitor::away, std::numeric_limits<size_t>::max());
    served_ = grant;
    const PageService service{*door, [this] { return allowed_grant().has_value(); },
                              [this](const PageAsk& ask) { return allow(ask); },
                              [this](const std::string& noted) {
                                audit_log(settings_.home).end(noted, 0, settings_.clock());
                              }};
    CommandRequest request;
    request.words = {"web"};
    request.folder = "/";
    const Permit permit{grant, Right::read, {}, &service};
    host_.run(request, folder.string(), permit);
  }

  /// While the session lasts, and may do what it might when its process began, whose store is held to
  /// that. On any thread.
  Result<Grant> allowed_grant() const {
    const Time now = settings_.clock();
    const std::optional<PageSession> session = sessions_.with_id(session_->id, now);
    if (!session)
      return user_error("nobody is signed in any more: sign in again");
    Grant grant = TRY(grant_of_session(*session, settings_, now));
    if (grant.right != served_.right || grant.environments != served_.environments)
      return world_error("what you may do has changed: try again");
    return grant;
  }

  PageAllowed allow(const PageAsk& ask) const {
    const Result<Grant> grant = allowed_grant();
    if (!grant)
      return {grant.error().blame == Blame::user ? 401 : 503, grant.error().message, {}};
    CommandRequest command;
    command.words = {"api", ask.target, "-o", "json"};
    command.folder = "/";
    const Result<CommandLook> look = host_.look(command);
    if (!look)
      return {400, look.error().message, {}};
    CommandNeeds needs = look->needs;
    needs.what = cat("GET ", ask.target.substr(0, ask.target.find('?')));
    if (ask.is_terminal)
      needs.right = Right::act;
    std::optional<Error> refusal = refusal_by_rights(*grant, needs);
    if (!refusal && ask.is_by_command && grant->is_confined())
      refusal =
          user_error(cat("`", needs.what, "` is answered by a command that may read all: it is ",
                         "for who may act in all environments"));
    if (refusal) {
      note_refusal(grant->token, needs.what, refusal->message, needs.right, ask.from);
      return {403, refusal->message, {}};
    }
    if (!ask.is_terminal)
      return {};
    AuditEntry begun{write_moment(settings_.clock()), grant->token, ask.from, needs.what};
    begun.right = to_string(needs.right);
    const Result<std::string> noted = audit_log(settings_.home).begin(begun);
    return noted ? PageAllowed{200, {}, *noted} : PageAllowed{503, noted.error().message, {}};
  }

  Descriptor& socket_;
  std::string bytes_;
  const Caller& caller_;
  const std::string from_;
  const ServeSettings& settings_;
  const CommandHost& host_;
  const PagePlace place_;
  const PageSessions sessions_;
  PageRequest request_;
  Time now_{};
  std::optional<PageSession> session_;
  Grant served_;  ///< what it may do, in the process that serves it
};

}  // namespace

size_t pages_served(const ServeSettings& settings) {
  size_t count = 0;
  std::error_code failure;
  for (const auto& each : std::filesystem::directory_iterator(settings.folder() / "pages", failure))
    if (each.path().extension() == ".lock")
      count += LockFile::is_taken(each.path()).value_or(false) ? 1 : 0;
  return count;
}

bool is_page_request(const UpgradeRequest& request, const ServeSettings& settings) {
  return settings.page && request.token.empty() && request.upgrade != stream_name &&
         request.target != commands_path;
}

bool is_as_client(const UpgradeRequest& request) {
  const std::string_view path =
      std::string_view(request.target).substr(0, request.target.find('?'));
  return path == commands_path_of_api || path == "/api/runs" || path.starts_with("/api/runs/") ||
         path == "/api/schedules";
}

std::optional<std::string> refusal_of_page_client(Descriptor& socket, std::string& bytes,
                                                  const Caller& caller,
                                                  const ServeSettings& settings,
                                                  const CommandHost& host, Visit& visit) {
  return PageAnswer(socket, bytes, caller, visit.from(), settings, host)
      .refuse_client(bytes, visit);
}

std::optional<std::string> answer_page(Descriptor& socket, std::string bytes, const Caller& caller,
                                       const std::string& from, const ServeSettings& settings,
                                       const CommandHost& host) {
  return PageAnswer(socket, std::move(bytes), caller, from, settings, host).answer();
}

}  // namespace fettle
