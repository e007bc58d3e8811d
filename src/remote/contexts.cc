#include "remote/contexts.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/lock_file.h"
#include "base/text.h"
#include "base/tls.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view clear_scheme = "http://", secured_scheme = "https://";
constexpr int usual_port_of_server = 9'790;
constexpr Duration longest_wait = 5s;  ///< for those who change the contexts

bool stands_in_path(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("/-._~").find(c) != std::string_view::npos;
}

bool is_url(std::string_view text) { return text.find("://") != text.npos; }

}  // namespace

const Context* Contexts::find(std::string_view name) const {
  const auto found = std::ranges::find(all, name, &Context::name);
  return found == all.end() ? nullptr : &*found;
}

Result<Contexts> read_contexts(const Path& file) {
  struct stat about{};
  if (stat(file.c_str(), &about) != 0)
    return Contexts{};
  if ((about.st_mode & 077U) != 0)
    return user_error(cat("others can read `", file.string(), "`, which has tokens of servers; ",
                          "`chmod 600 ", file.string(), "` closes it"));
  const Value value = TRY(read_json(TRY(read_file(file)), file.string()));
  Contexts contexts;
  contexts.used = value.text_at("used");
  for (const Value& item : items_of(value.at("contexts")))
    contexts.all.push_back({std::string(item.text_at("name")), std::string(item.text_at("url")),
                            std::string(item.text_at("token")),
                            std::string(item.text_at("authorities"))});
  return contexts;
}

Status write_contexts(const Path& file, const Contexts& contexts) {
  std::vector<Value> all;
  for (const Context& one : contexts.all) {
    std::vector<Entry> fields{{"name", one.name}, {"url", one.url}, {"token", one.token}};
    if (!one.authorities.empty())
      fields.push_back({"authorities", one.authorities});
    all.push_back(Value::dict(std::move(fields)));
  }
  return write_file(
      file,
      write_json(Value::dict({{"contexts", Value::list(std::move(all))}, {"used", contexts.used}}),
                 {.indent = 2}) +
          "\n",
      0600);
}

Status change_contexts(const Path& file, const std::function<Status(Contexts&)>& change) {
  const LockFile turn = TRY(LockFile::await(Path(file) += ".lock", longest_wait, {}));
  Contexts contexts = TRY(read_contexts(file));
  TRY(change(contexts));
  return write_contexts(file, contexts);
}

std::string ServerAddress::text() const {
  const bool is_ipv6 = host.find(':') != host.npos;
  return cat(is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "", ":", port);
}

Result<ServerAddress> parse_server_url(std::string_view url) {
  const auto wrong = [&](std::string_view why) {
    return user_error(cat("`", printable(url), "` ", why,
                          "; expected `https://HOST:PORT`, or `http://127.0.0.1:PORT`"));
  };
  const bool is_secured = url.starts_with(secured_scheme);
  if (!is_secured && !url.starts_with(clear_scheme))
    return wrong("is no address of a server");
  std::string_view rest = url.substr((is_secured ? secured_scheme : clear_scheme).size());
  const size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view path = rest.substr(slash);
  rest = rest.substr(0, slash);
  if (path.ends_with('/'))
    path.remove_suffix(1);
  if (!std::ranges::all_of(path, stands_in_path) || path.find("//") != path.npos ||
      path.find("/.") != path.npos)
    return wrong("has a path that is none of a server");
  const bool has_brackets = rest.starts_with('[');
  const size_t colon = rest.find(':', has_brackets ? rest.find(']') : 0);
  ServerAddress address{std::string(rest.substr(0, colon)), usual_port_of_server, is_secured,
                        std::string(path)};
  if (colon != rest.npos) {
    const std::string_view digits = rest.substr(colon + 1);
    const auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
    if (failure != std::errc() || end != digits.data() + digits.size() || address.port < 1 ||
        address.port > 65'535)
      return wrong("has no port");
  }
  std::string& host = address.host;
  if (has_brackets)
    host = host.ends_with(']') ? host.substr(1, host.size() - 2) : "";
  const auto stands_in_host = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_' ||
           (has_brackets && c == ':');
  };
  if (host.empty() || !std::ranges::all_of(host, stands_in_host))
    return wrong("names no host");
  if (!is_secured && host != "127.0.0.1" && host != "localhost")
    return wrong(
        "is in clear text and not at 127.0.0.1, so everybody between could read the token: call it "
        "by `https://` (`fettle serve --tls-cert FILE --tls-key FILE`), or forward its port (`ssh "
        "-L 9790:127.0.0.1:9790 HOST`)");
  return address;
}

Result<std::string> read_authorities(const Path& file) {
  Result<std::string> pem = read_file(file);
  if (!pem)
    return user_error(pem.error().message);
  return certificates_in(*pem, cat("`", file.string(), "`"));
}

Status check_token(std::string_view token, std::string_view what) {
  if (std::ranges::all_of(token, [](char c) { return c > ' ' && c < 0x7F; }))
    return {};
  return user_error(
      cat(what,
          " has a space, a line break or no ASCII: expected what `fettle token create`"
          " prints, or `fettle serve` behind `token:`"));
}

Result<std::optional<ServerChoice>> choose_server(const ServerWords& words, const Path& file) {
  std::string named = words.flag.empty() ? words.variable : words.flag;
  if (named == "local")
    return std::optional<ServerChoice>();
  const Contexts contexts = TRY(read_contexts(file));
  if (named.empty())
    named = contexts.used;
  if (named.empty())
    return std::optional<ServerChoice>();
  ServerChoice choice;
  if (is_url(named)) {
    choice.url = named;
    for (const Context& one : contexts.all)
      if (one.url == named) {
        choice.token = one.token;
        choice.authorities = one.authorities;
      }
  } else if (const Context* const known = contexts.find(named)) {
    choice.url = known->url;
    choice.token = known->token;
    choice.authorities = known->authorities;
  } else {
    std::vector<std::string> names;
    for (const Context& one : contexts.all)
      names.push_back(one.name);
    return user_error(cat("there is no context `", printable(named), "`", suggestion(named, names),
                          "; `fettle context add NAME URL` makes one"));
  }
  // The token of one server is not told to another one.
  const bool is_of_another = !words.variable.empty() && words.variable != named;
  if (!words.token.empty() && (choice.token.empty() || !is_of_another))
    choice.token = words.token;
  choice.address = TRY(parse_server_url(choice.url));
  if (!words.authorities.empty() && !is_of_another && choice.address.is_secured)
    choice.authorities = TRY(read_authorities(words.authorities).context("$FETTLE_TLS_CA"));
  if (choice.token.empty())
    return user_error(cat("no token is known for `", printable(choice.url),
                          "`: put it into `$FETTLE_TOKEN`, or add a context that has it"));
  TRY(check_token(choice.token, "the token"));
  return std::optional<ServerChoice>(std::move(choice));
}

}  // namespace fettle
