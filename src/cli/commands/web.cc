#include <cstdlib>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "base/thread.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "documents/graphs.h"
#include "remote/page_handover.h"
#include "remote/page_door.h"
#include "server/own_server.h"
#include "server/server.h"
#include "server/session_door.h"

namespace fettle {
namespace {

bool has_display() {
  for (const char* const name : {"DISPLAY", "WAYLAND_DISPLAY"})
    if (const char* const value = std::getenv(name); value != nullptr && *value != 0)
      return true;
  return false;
}

/// The file that leads to the page at such an address.
Path link_to(const Path& home, const std::string& address) {
  const size_t port = address.rfind(':') + 1;
  return home / cat("web-", address.substr(port, address.find('/', port) - port), ".html");
}

/// A file that leads to the page, while the page is served. The words of a process are seen by every
/// user of this machine, so a browser is not given the address, which has the key, but this file.
class PageLink {
 public:
  explicit PageLink(Path path) : path_(std::move(path)) {}
  ~PageLink() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  PageLink(const PageLink&) = delete;
  PageLink& operator=(const PageLink&) = delete;

  const Path& path() const { return path_; }

 private:
  const Path path_;
};

/// In a browser; that there is none is no reason to serve no page.
void open_page(const Face& face, const Path& link, const std::string& address) {
  const auto open = [&]() -> Status {
    TRY(write_file(link,
                   cat("<!doctype html><meta charset=\"utf-8\"><title>fettle</title>",
                       "<meta http-equiv=\"refresh\" content=\"0; url=", address, "\">\n"),
                   0600));
    TRY(start_detached({.arguments = {"xdg-open", link.string()}}));
    return {};
  };
  if (const Status opened = open(); !opened && !face.quiet)
    print_error(cat("warning: no browser was opened: ", to_string(opened.error())));
}

Status tell_address(const Face& face, const std::string& address, std::string_view what) {
  if (face.json || face.json_lines)
    print_json(page_document(address));
  else
    print(address);
  // Nobody would open a page whose address was lost.
  if (std::ferror(stdout) != 0)
    return output_error("standard output");
  if (!face.quiet && !face.json && !face.json_lines)
    print_error(what);
  return {};
}

/// The page of a server, for one session, whose connections others hand over.
Result<int> serve_session(Face& face, const PageService& service) {
  Workplace* const place = TRY(face.workplace());
  place->interrupt->expect();
  WebSettings settings;
  settings.still_counts = service.counts;
  settings.patience = settings.linger;
  const auto allow = [&](const SessionAsk& ask) {
    PageAllowed allowed = service.allow({ask.target, ask.from, ask.is_terminal, ask.is_by_command});
    return SessionAllowed{allowed.status, std::move(allowed.message), std::move(allowed.noted)};
  };
  const std::unique_ptr<WebServer> server = TRY(WebServer::open_for_handed(
      *place, settings, page_files(), std::make_unique<SessionDoor>(allow, service.note_end)));
  const Thread hands([&](const std::stop_token& done) {
    constexpr Duration look_around = 100ms;
    while (!done.stop_requested())
      if (std::optional<HandedConnection> handed = take_for_page(service.door, look_around))
        server->adopt(std::move(handed->socket), std::move(handed->bytes), std::move(handed->from));
  });
  server->serve(place->interrupt->acts_token());
  return 0;
}

Result<int> web(Face& face) {
  if (const auto caller = face.served(); caller && caller->page != nullptr)
    return serve_session(face, *caller->page);
  Workplace* place = TRY(face.workplace());
  if (place->shows_secrets)
    return user_error("the page never shows secrets: leave out `--show-secrets`");
  WebSettings settings;
  const int64_t port = TRY(face.parsed.number("port", 0));
  if (port < 0 || port > 65'535)
    return user_error(cat("`--port` must be a number from 0 to 65535, not ", port));
  settings.port = static_cast<int>(port);
  if (const std::string name = face.parsed.text("enclave", face.parsed.argument(0)); !name.empty())
    settings.landing = cat("/env/", TRY(known_environment(face, name)).name);
  const Path home = place->home;
  const OwnServerWish wish{settings.port, settings.landing};
  const bool opens =
      !face.parsed.flag("no-open") && has_display() && !find_program("xdg-open").empty();
  if (const std::optional<std::string> address =
          address_of_own_server(home, wish, place->interrupt->acts_token())) {
    TRY(tell_address(face, *address,
                     "the address opens the page once; the server was already there"));
    // The file is taken away by the server, when it ends.
    if (opens)
      open_page(face, link_to(home, *address), *address);
    return 0;
  }
  place->interrupt->expect();
  const std::unique_ptr<WebServer> server = TRY(WebServer::open(*place, settings, page_files()));
  const std::string address = server->address();
  const std::optional<OwnServerNote> note =
      TRY(OwnServerNote::leave(home, server->address_of_another("")));
  TRY(tell_address(
      face, address,
      "the address opens the page once; it is served until nobody has looked at it for "
      "a minute, or until Ctrl-C"));
  const PageLink link(link_to(home, address));
  if (opens)
    open_page(face, link.path(), address);
  server->serve(place->interrupt->acts_token());
  return 0;
}

}  // namespace

Command web_command() {
  return CommandGroup{"machine", {environment_option()}, CommandPlace::here}.reader(
      "web", "[ENCLAVE]", 0, 1,
      "Serves a page about the environments of this machine, for you alone, and opens it.\n"
      "It shows graphs, runs, events, logs and versions, and has a terminal in each service.\n"
      "A server of this page that is already there is used.",
      {"fettle web", "fettle web shop --no-open"}, web,
      {{{"--port"}, "N", "the port of 127.0.0.1 (default: any that is free)"},
       {{"--no-open"}, "", "print the address, and open no browser"}});
}

}  // namespace fettle
