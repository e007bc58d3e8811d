#include "remote/contexts.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "base/lock_file.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr std::string_view scheme = "http://";
constexpr Duration longest_wait = 5s;  ///< for those who change the contexts

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
                            std::string(item.text_at("token"))});
  return contexts;
}

Status write_contexts(const Path& file, const Contexts& contexts) {
  std::vector<Value> all;
  for (const Context& one : contexts.all)
    all.push_back(Value::dict({{"name", one.name}, {"url", one.url}, {"token", one.token}}));
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

Result<ServerAddress> parse_server_url(std::string_view url) {
  const auto wrong = [&](std::string_view why) {
    return user_error(cat("`", printable(url), "` ", why, "; expected `http://127.0.0.1:PORT`"));
  };
  if (!url.starts_with(scheme))
    return wrong("is no address of a server");
  std::string_view rest = url.substr(scheme.size());
  if (rest.ends_with('/'))
    rest.remove_suffix(1);
  const size_t colon = rest.find(':');
  ServerAddress address{std::string(rest.substr(0, colon)), 9790};
  if (colon != rest.npos) {
    const std::string_view digits = rest.substr(colon + 1);
    const auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
    if (failure != std::errc() || end != digits.data() + digits.size() || address.port < 1 ||
        address.port > 65'535)
      return wrong("has no port");
  }
  if (address.host != "127.0.0.1" && address.host != "localhost")
    return wrong(
        "is not on this machine, and a server listens for its own machine only: forward "
        "its port (`ssh -L 9790:127.0.0.1:9790 HOST`)");
  return address;
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
      if (one.url == named)
        choice.token = one.token;
  } else if (const Context* const known = contexts.find(named)) {
    choice.url = known->url;
    choice.token = known->token;
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
  if (choice.token.empty())
    return user_error(cat("no token is known for `", printable(choice.url),
                          "`: put it into `$FETTLE_TOKEN`, or add a context that has it"));
  TRY(check_token(choice.token, "the token"));
  return std::optional<ServerChoice>(std::move(choice));
}

}  // namespace fettle
