#include <charconv>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <stop_token>
#include <thread>

#include "base/file.h"
#include "base/listener.h"
#include "base/service_manager.h"
#include "base/text.h"
#include "base/token.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "cli/server_choice.h"
#include "documents/servers.h"
#include "packages/git_cache.h"
#include "remote/client.h"
#include "remote/command_server.h"
#include "remote/issuer_keys.h"
#include "remote/upgrade.h"
#include "server/server.h"

namespace fettle {
namespace {

constexpr int usual_port = 9'790;

/// `--tls-cert` and `--tls-key`.
Result<std::optional<TlsFiles>> tls_asked(const CommandLine& parsed) {
  const std::string certificate = parsed.text("tls-cert"), key = parsed.text("tls-key");
  if (certificate.empty() && key.empty())
    return std::optional<TlsFiles>();
  if (certificate.empty() || key.empty())
    return user_error(certificate.empty()
                          ? "`--tls-key` needs `--tls-cert FILE`, the certificate that it is for"
                          : "`--tls-cert` needs `--tls-key FILE`, the private key of it");
  // The server looks at them again later.
  std::error_code failure;
  const Path here = std::filesystem::current_path(failure);
  return std::optional(TlsFiles{here / certificate, here / key});
}

/// `--listen`: `127.0.0.1:9790`, or a port alone; with TLS any address.
Status read_listen(ServeSettings& settings, std::string text) {
  const bool is_port = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (is_port)
    text = cat(settings.host, ":", text);
  const Result<ListenAddress> address = parse_listen_address(text);
  if (!address)
    return user_error(
        cat("`--listen` must be HOST:PORT, such as `127.0.0.1:9790` or, with TLS, "
            "`:9790`, not `",
            printable(text), "`"));
  if (!settings.tls && address->host != "127.0.0.1" && address->host != "localhost")
    return user_error(cat("`--listen` must be 127.0.0.1:PORT, not `", printable(text),
                          "`: in clear text a server listens for its own machine only; `--tls-cert "
                          "FILE --tls-key FILE` let it listen for others"));
  settings.host = settings.tls ? address->host : settings.host;
  settings.port = std::stoi(address->port);
  return {};
}

/// Where to listen: at the socket of a service manager, else as `--listen` says.
Status choose_listener(ServeSettings& settings, const CommandLine& parsed) {
  std::optional<Descriptor> given = TRY(inherited_listener());
  if (!given)
    return read_listen(settings, parsed.text("listen", cat(usual_port)));
  if (parsed.has("listen"))
    return user_error(
        "`--listen` says where to listen, and so does the socket that the service manager made: "
        "leave out one of them");
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(given->get(), reinterpret_cast<sockaddr*>(&address), &size);
  TRY(read_listen(settings, text_of_address(address)).context("the service manager's socket"));
  settings.inherited = given->release();
  return {};
}

/// The line of a file that only its owner reads. `what`, for errors: `the token`.
Result<std::string> secret_in(const std::string& path, std::string_view what) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure))
    return user_error(cat("there is no file `", path, "`, which would have ", what));
  const auto mode = std::filesystem::status(path, failure).permissions();
  if ((mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all)) !=
      std::filesystem::perms::none)
    return user_error(cat("others can read `", path, "`, which has ", what, "; `chmod 600 ", path,
                          "` closes it"));
  std::string secret(trim(TRY(read_file(path))));
  if (secret.empty() || secret.find_first_of(" \t\r\n") != secret.npos)
    return user_error(cat("`", path, "` must have ", what, " in one line, without spaces"));
  return secret;
}

/// The token of such a file; one that is not there is made.
Result<std::string> token_in(const std::string& path) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) {
    std::string token = TRY(new_token("a token"));
    TRY(write_file(path, token + "\n", 0600));
    return token;
  }
  std::string token = TRY(secret_in(path, "the token"));
  constexpr size_t least = 32;
  if (token.size() < least)
    return user_error(cat("`", path, "` must have a token of at least ", least,
                          " characters in one line; without the file, one is made"));
  return token;
}

/// For schedules: the files of a repository, which somebody who may act has named.
Result<std::string> fetch_branch(const Path& folder, const std::string& url,
                                 const std::string& branch) {
  // Whoever ends this process means git, too.
  sigset_t ends;
  sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT, SIGHUP})
    sigaddset(&ends, number);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::stop_source stop;
  const std::jthread watcher([&](const std::stop_token& done) {
    constexpr timespec pause{0, 50'000'000};
    while (!done.stop_requested())
      if (sigtimedwait(&ends, nullptr, &pause) > 0)
        stop.request_stop();
  });
  GitCache cache{folder};
  cache.url = url;
  cache.stop = stop.get_token();
  return cache.checkout("checkout", branch.empty() ? branch : cat("refs/heads/", branch));
}

/// `--public-url` and `--trusted-proxy`.
Status read_proxy(ServeSettings& settings, const CommandLine& parsed) {
  if (const std::string url = parsed.text("public-url"); !url.empty())
    settings.by_proxy = TRY(parse_public_url(url));
  for (const std::string& address : parsed.all("trusted-proxy")) {
    TRY(check_proxy_address(address));
    settings.trusted_proxies.push_back(address);
  }
  return {};
}

/// `--page` and what belongs to it.
Status read_page(ServeSettings& settings, const CommandLine& parsed) {
  settings.page = parsed.flag("page");
  for (const char* const name : {"oidc-issuer", "oidc-client", "oidc-secret-file", "oidc-group",
                                 "oidc-group-claim", "oidc-scope", "oidc-ca"})
    if (parsed.has(name) && !settings.page)
      return user_error(cat("`--", name, "` is about signing in at the page: add `--page`"));
  OidcSettings oidc;
  oidc.issuer = parsed.text("oidc-issuer");
  oidc.client = parsed.text("oidc-client");
  const std::vector<std::string>& groups = parsed.all("oidc-group");
  if (oidc.issuer.empty() && oidc.client.empty() && groups.empty())
    return {};
  if (oidc.issuer.empty())
    return user_error(cat("`--oidc-", oidc.client.empty() ? "group" : "client",
                          "` needs `--oidc-issuer URL`, where people sign in"));
  TRY(check_issuer(oidc.issuer, "--oidc-issuer"));
  if (oidc.client.empty() || groups.empty())
    return user_error(
        "`--oidc-issuer` needs `--oidc-client ID`, as which the issuer knows this server, and "
        "`--oidc-group GROUP=RIGHT`, who may do what");
  if (!settings.by_proxy)
    return user_error(
        "`--oidc-issuer` needs `--public-url URL`, how browsers call this server: the issuer sends "
        "them back to that URL with `/sign-in/callback` behind it");
  for (const std::string& text : groups)
    oidc.groups.push_back(TRY(group_rule_in(text)));
  if (const std::string file = parsed.text("oidc-secret-file"); !file.empty())
    oidc.secret = TRY(secret_in(file, "the secret of the client"));
  if (const std::string file = parsed.text("oidc-ca"); !file.empty())
    oidc.authorities = TRY(read_authorities(file));
  oidc.group_claim = parsed.text("oidc-group-claim", oidc.group_claim);
  oidc.scope = parsed.text("oidc-scope", oidc.scope);
  settings.oidc = std::move(oidc);
  return {};
}

Result<int> serve(Face& face) {
  ServeSettings settings;
  settings.tls = TRY(tls_asked(face.parsed));
  TRY(read_proxy(settings, face.parsed));
  TRY(read_page(settings, face.parsed));
  if (settings.page)
    TRY(check_page(page_files()));
  TRY(choose_listener(settings, face.parsed));
  settings.home = TRY(face.home_folder());  // in which the file of the token may be
  const std::string file = face.parsed.text("token-file");
  settings.token = file.empty() ? TRY(new_token("a token")) : TRY(token_in(file));
  settings.version = face.build().version;
  const std::unique_ptr<CommandServer> server = TRY(CommandServer::open(settings));
  const std::string address = server->address();
  const std::string told = file.empty() ? settings.token : "";
  if (face.json || face.json_lines)
    print_json(server_document(address, told));
  else
    print(told.empty() ? address : cat(address, "\ntoken: ", told));
  std::fflush(stdout);
  // Nobody would come to a server whose token was lost.
  if (std::ferror(stdout) != 0)
    return output_error("standard output");
  tell_ready();
  const auto tell = [&](const std::string& text) {
    if (!face.quiet)
      print_error(text);
  };
  if (!face.json && !face.json_lines)
    tell(cat("commands come here by `--server ", address,
             "` with the token in $FETTLE_TOKEN, or by `fettle context add NAME ", address,
             "`; that token may do everything, and `fettle token create` makes others; Ctrl-C ends "
             "the server"));
  CommandHost host = face.command_host();
  host.fetch = fetch_branch;
  return server->serve(host, tell) == SIGTERM ? 0 : interrupted_code;
}

Result<Path> contexts_file(Face& face) { return Path(TRY(face.home_folder())) / "contexts.json"; }

/// From `--token-file` (`-`: standard input), else `$FETTLE_TOKEN`.
Result<std::string> token_of_context(const Face& face) {
  const std::string file = face.parsed.text("token-file");
  const char* const variable = std::getenv("FETTLE_TOKEN");
  std::string token(trim(file.empty() ? std::string(variable == nullptr ? "" : variable)
                                      : TRY(read_given(file))));
  if (token.empty())
    return user_error(
        "the token of the server is not known: put what `fettle serve` or `fettle token create` "
        "printed there into $FETTLE_TOKEN, or name a file with `--token-file`");
  TRY(check_token(token, "the token"));
  return token;
}

Result<int> context_add(Face& face) {
  const std::string name = face.parsed.argument(0), url = face.parsed.argument(1);
  if (name == "local" || name.find("://") != name.npos)
    return user_error(cat("a context cannot be called `", printable(name), "`"));
  const ServerAddress address = TRY(parse_server_url(url));
  const std::string file = face.parsed.text("tls-ca");
  if (!file.empty() && !address.is_secured)
    return user_error(cat("`--tls-ca` is for a server with TLS, and `", printable(url),
                          "` is in clear text: its address would begin with `https://`"));
  const std::string authorities =
      file.empty() ? std::string() : TRY(read_authorities(file).context("--tls-ca"));
  const std::string token = TRY(token_of_context(face));
  TRY(change_contexts(TRY(contexts_file(face)), [&](Contexts& contexts) -> Status {
    std::erase_if(contexts.all, [&](const Context& one) { return one.name == name; });
    contexts.all.push_back({name, url, token, authorities});
    std::ranges::sort(contexts.all, {}, &Context::name);
    return {};
  }));
  if (face.json)
    print_json(status_document(name, "added"));
  else if (!face.quiet)
    print(cat("added ", name, "; `fettle context use ", name, "` makes commands run there"));
  return 0;
}

Error no_context(const std::string& name, const Contexts& contexts) {
  std::vector<std::string> names{"local"};
  for (const Context& one : contexts.all)
    names.push_back(one.name);
  return user_error(cat("there is no context `", printable(name), "`", suggestion(name, names)));
}

Result<int> context_use(Face& face) {
  const std::string name = face.parsed.argument(0);
  TRY(change_contexts(TRY(contexts_file(face)), [&](Contexts& contexts) -> Status {
    if (name != "local" && contexts.find(name) == nullptr)
      return no_context(name, contexts);
    contexts.used = name == "local" ? "" : name;
    return {};
  }));
  if (face.json)
    print_json(status_document(name, "used"));
  else if (!face.quiet)
    print(name == "local" ? "commands run here" : cat("commands run at ", name));
  return 0;
}

Result<int> context_rm(Face& face) {
  const std::string name = face.parsed.argument(0);
  TRY(change_contexts(TRY(contexts_file(face)), [&](Contexts& contexts) -> Status {
    if (contexts.find(name) == nullptr)
      return no_context(name, contexts);
    std::erase_if(contexts.all, [&](const Context& one) { return one.name == name; });
    if (contexts.used == name)
      contexts.used.clear();
    return {};
  }));
  if (face.json)
    print_json(status_document(name, "removed"));
  else if (!face.quiet)
    print(cat("removed ", name));
  return 0;
}

Result<int> context_ls(Face& face) {
  const Contexts contexts = TRY(read_contexts(TRY(contexts_file(face))));
  if (face.json) {
    print_json(document_of(contexts));
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"NAME", "SERVER", "USED"}};
  for (const Context& one : contexts.all)
    rows.push_back({one.name, one.url, one.name == contexts.used ? "yes" : ""});
  print(table(rows));
  return 0;
}

/// Error (`Blame::user`): no server is meant.
Result<ServerChoice> needed_server(Face& face) {
  std::optional<ServerChoice> server = TRY(server_meant(face));
  if (!server)
    return user_error(
        "only a server has runs: name one with `--server URL`, $FETTLE_SERVER, or "
        "`fettle context use NAME`");
  return *std::move(server);
}

Result<int64_t> run_asked(const Face& face, bool may_be_last) {
  const std::string given = face.parsed.argument(0);
  if (given.empty() && may_be_last)
    return 0;
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(given.data(), given.data() + given.size(), number);
  if (failure != std::errc() || end != given.data() + given.size() || number < 1)
    return user_error(
        cat("a run has a number, as `fettle runs` shows, not `", printable(given), "`"));
  return number;
}

Result<int> runs(Face& face) {
  const std::vector<RunView> all =
      TRY(runs_of_server(TRY(needed_server(face)), client_place(face)));
  if (face.json) {
    print_json(document_of(all));
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"RUN", "STATUS", "BEGAN", "TOKEN", "COMMAND"}};
  for (const RunView& run : all)
    rows.push_back(
        {cat(run.number),
         run.code ? cat(status_of(run), " (", *run.code, ")") : std::string(status_of(run)),
         run.began, run.token, run.command});
  print(table(rows));
  return 0;
}

Result<int> attach(Face& face) {
  if (face.json || face.json_lines)
    return user_error("`fettle attach` shows what the run printed; the run itself has `-o`");
  const int64_t number = TRY(run_asked(face, true));
  const ClientEnd end = TRY(attach_to_run(TRY(needed_server(face)), number, client_place(face)));
  return end.code;
}

Result<int> cancel(Face& face) {
  const int64_t number = TRY(run_asked(face, false));
  const RunView run = TRY(cancel_run(TRY(needed_server(face)), number, client_place(face)));
  if (face.json)
    print_json(value_of(run));
  else if (!face.quiet)
    print(cat("asked run ", run.number, " to stop; what it is changing is finished first"));
  return 0;
}

}  // namespace

std::vector<Command> server_commands() {
  const CommandGroup machine{"servers", {}, CommandPlace::here};
  const CommandGroup client{"servers", {}, CommandPlace::client};
  const CommandOption token_file{
      {"--token-file"}, "FILE", "a file with the token; `-` is standard input"};
  return {
      machine.reader(
          "serve", "", 0, 0,
          "Runs commands of others, and keeps their environments in the folder of this user's "
          "state.",
          {"fettle serve", "fettle serve --listen 127.0.0.1:9790 --token-file ~/.fettle-token",
           "fettle serve --listen :9790 --tls-cert server.pem --tls-key server.key",
           "fettle serve --public-url https://example.org:443/fettle --trusted-proxy 127.0.0.1",
           "fettle serve --page --listen :9790 --tls-cert server.pem --tls-key server.key"},
          serve,
          {{{"--listen"},
            "ADDRESS",
            "127.0.0.1:PORT (default: 127.0.0.1:9790); port 0: any; with TLS also others, such as "
            ":9790 for all of this machine"},
           {{"--tls-cert"},
            "FILE",
            "speak TLS with this certificate (PEM), behind which those of the authorities between "
            "may stand; read again when it changes"},
           {{"--tls-key"}, "FILE", "the private key of the certificate (PEM)"},
           {{"--public-url"},
            "URL",
            "how clients call it if a reverse proxy brings them, with the path that the proxy has "
            "for it: https://example.org:443/fettle"},
           {{"--trusted-proxy"},
            "ADDRESS",
            "believe what comes from this address when it says for whom it asks "
            "(X-Forwarded-For)",
            true},
           {{"--page"},
            "",
            "browsers get the page of `fettle web`, after signing in by a token of the server"},
           {{"--oidc-issuer"},
            "URL",
            "they may also sign in at this issuer (OpenID Connect); with `--public-url`"},
           {{"--oidc-client"}, "ID", "as which client the issuer knows this server"},
           {{"--oidc-secret-file"},
            "FILE",
            "a file with the client's secret; default: it has none"},
           {{"--oidc-group"},
            "GROUP=RIGHT[:ENV-PATTERN]",
            "what who is in a group may do: `ops=act`, `dev=act:shop-*`; may be repeated",
            true},
           {{"--oidc-group-claim"}, "NAME", "the claim that lists the groups (default: groups)"},
           {{"--oidc-scope"}, "TEXT", "what is asked for (default: openid profile email)"},
           {{"--oidc-ca"},
            "FILE",
            "the certificate (PEM) of the authority that signed that of the issuer's server"},
           {{"--token-file"},
            "FILE",
            "a file with the server's own token, which may do everything, and which is made if it "
            "is not there; default: a new one is printed"}}),
      machine.make("context add", "NAME URL", 2, 2, "Remembers a server, with its token.",
                   {"FETTLE_TOKEN=6f1d… fettle context add team http://127.0.0.1:9790",
                    "fettle context add team http://127.0.0.1:9790 --token-file token",
                    "fettle context add team https://fettle.example:9790 --tls-ca ca.pem"},
                   context_add,
                   {token_file,
                    {{"--tls-ca"},
                     "FILE",
                     "the certificate (PEM) of the authority that signed that of the server, which "
                     "is kept; default: those that the system knows"}}),
      machine.make("context use", "NAME", 1, 1,
                   "Makes commands run at a server; `local`: here, as without one.",
                   {"fettle context use team", "fettle context use local"}, context_use),
      machine.reader("context ls", "", 0, 0, "Lists the servers that are remembered.",
                     {"fettle context ls", "fettle context ls -o json"}, context_ls),
      machine.make("context rm", "NAME", 1, 1, "Forgets a server.",
                   {"fettle context rm team", "fettle context rm team -q"}, context_rm),
      client.reader("runs", "", 0, 0,
                    "Lists what runs at the server, and the last runs that have ended.",
                    {"fettle runs --server team", "fettle runs -o json"}, runs),
      client.reader("attach", "[RUN]", 0, 1,
                    "Shows what a run has printed, and follows it (default: the last one).",
                    {"fettle attach", "fettle attach 12 --server team"}, attach),
      client.make("cancel", "RUN", 1, 1,
                  "Asks a run to stop, as Ctrl-C does: running changes are finished.",
                  {"fettle cancel 12", "fettle cancel 12 --server team"}, cancel)};
}

}  // namespace fettle
