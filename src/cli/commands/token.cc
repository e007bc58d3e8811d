#include "base/rfc3339.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/named_files.h"
#include "cli/print.h"
#include "documents/servers.h"
#include "remote/audit_log.h"
#include "remote/tokens.h"

namespace fettle {
namespace {

std::string environments_text(const Grant& grant) {
  return grant.is_limited() ? join(grant.environments, ", ") : "all";
}

Result<Token> token_asked(const Face& face, Time now) {
  Token token;
  token.grant.token = face.parsed.argument(0);
  token.grant.agent = face.parsed.text("agent");
  if (!token.grant.agent.empty() && (face.parsed.has("right") || face.parsed.has("environment")))
    return user_error(
        "`--agent` makes a token that is good for nothing else: leave out `--right` and "
        "`--environment`");
  token.grant.right = TRY(right_named(face.parsed.text("right", "read")));
  token.grant.environments = face.parsed.all("environment");
  token.created = now;
  if (face.parsed.has("expires"))
    token.expires = TRY(expiry_asked(face.parsed.text("expires"), now));
  return token;
}

Result<int> token_create(Face& face) {
  const Path home = TRY(face.home_folder());
  const Token token = TRY(token_asked(face, now_from_clock()));
  const std::string text = TRY(token_book(home).add(token));
  if (face.json || face.json_lines) {
    print_json(token_document(token, text));
    return 0;
  }
  print(text);
  if (face.quiet)
    return 0;
  const Right right = token.grant.right;
  const std::string lasts = token.expires ? cat(" until ", write_moment(*token.expires)) : "";
  const std::string& agent = token.grant.agent;
  if (!agent.empty()) {
    print_error(cat("`", token.grant.token, "` lets the agent `", agent, "` in",
                    lasts.empty() ? ", and never expires" : lasts,
                    ".\nKeep the text now: it is not shown again. On the agent's machine: "
                    "`FETTLE_TOKEN=… fettle agent --server URL --name ",
                    agent, "`"));
    return 0;
  }
  print_error(cat("`", token.grant.token, "` has the right `", to_string(right), "`",
                  token.grant.is_limited() ? cat(" in ", environments_text(token.grant)) : "",
                  lasts.empty() ? ", and never expires" : lasts,
                  right >= Right::act ? ". That is a shell as the user of the server" : "",
                  ".\nKeep the text now: it is not shown again. Its holder puts it into "
                  "$FETTLE_TOKEN, or into a context with `fettle context add NAME URL`"));
  return 0;
}

Result<int> token_ls(Face& face) {
  const TokenBook book = token_book(TRY(face.home_folder()));
  const std::vector<Token> tokens = TRY(book.all());
  const Time now = now_from_clock();
  std::vector<Value> documents;
  std::vector<std::vector<std::string>> rows{
      {"NAME", "RIGHT", "ENVIRONMENTS", "CREATED", "EXPIRES", "LAST USED"}};
  for (const Token& token : tokens) {
    const std::optional<Time> used = book.last_used(token.grant.token);
    documents.push_back(document_of(token, used));
    const bool is_over = token.expires && *token.expires <= now;
    rows.push_back(
        {token.grant.token,
         cat(right_text(token.grant), token.grant.agent.empty() ? "" : " ", token.grant.agent),
         token.grant.agent.empty() ? environments_text(token.grant) : "-",
         write_moment(token.created),
         token.expires ? cat(write_moment(*token.expires), is_over ? " (expired)" : "") : "never",
         used ? write_moment(*used) : "never"});
  }
  if (face.json)
    print_json(Value::list(std::move(documents)));
  else
    print(tokens.empty() ? "no tokens; `fettle token create NAME` makes one" : table(rows));
  return 0;
}

Result<int> token_rm(Face& face) {
  const std::string name = face.parsed.argument(0);
  TRY(token_book(TRY(face.home_folder())).remove(name));
  if (face.json)
    print_json(status_document(name, "removed"));
  else if (!face.quiet)
    print(cat("removed ", name, "; what it has begun goes on (`fettle runs`)"));
  return 0;
}

Result<int> audit(Face& face) {
  std::vector<AuditEntry> all = TRY(audit_log(TRY(face.home_folder())).all());
  if (face.parsed.flag("refused"))
    std::erase_if(all, [](const AuditEntry& entry) { return entry.refused.empty(); });
  const int64_t last = TRY(face.parsed.number("num", 100));
  if (last < 0)
    return user_error(cat("`--num` must be 0 or more, not ", last));
  if (last > 0 && all.size() > static_cast<size_t>(last))
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(last));
  if (face.json) {
    print_json(document_of(all));
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"WHEN", "TOKEN", "FROM", "RUN", "END", "COMMAND"}};
  for (const AuditEntry& entry : all)
    rows.push_back({entry.at, entry.token.empty() ? "-" : entry.token, entry.from,
                    entry.run == 0 ? "-" : cat(entry.run),
                    !entry.refused.empty() ? "refused"
                    : entry.code           ? cat(*entry.code)
                                           : "-",
                    entry.command.empty() ? entry.refused : entry.command});
  print(all.empty() ? "nothing has been asked of a server here" : table(rows));
  return 0;
}

}  // namespace

std::vector<Command> token_commands() {
  const CommandGroup group{"servers", {}};
  Command create = group.make(
      "token create", "NAME", 1, 1,
      "Makes a token of this home's server, and prints its text, which is shown only now.",
      {"fettle token create ci --right plan --expires 30d",
       "fettle token create shop-team --right act --environment 'shop-*'"},
      token_create,
      {{{"--right"},
        "read|plan|act|admin",
        "what its holder may do (default: read); each has those before it in it"},
       {{"--environment"},
        "NAME",
        "limits it to environments of this name, or pattern (`web-*`); may be repeated",
        true},
       {{"--agent"}, "HOST", "its holder may be the agent of this name, and nothing else"},
       {{"--expires"}, "WHEN", "how long it lives (30d, 12h), or its end (2027-12-31)"}});
  // Its output has the text of the token, which no run keeps.
  create.name_files = [](const CommandLine&, NamedFiles& named) { named.is_stream = true; };
  return {std::move(create),
          group.reader("token ls", "", 0, 0, "Lists the tokens, without their texts.",
                       {"fettle token ls", "fettle token ls -o json"}, token_ls),
          group.make("token rm", "NAME", 1, 1,
                     "Takes a token away: it is refused from its next command on.",
                     {"fettle token rm ci", "fettle token rm ci --server team"}, token_rm),
          group.reader("audit", "", 0, 0,
                       "Shows who had the server of this home do what, and who was refused.",
                       {"fettle audit", "fettle audit --refused -o json"}, audit,
                       {{{"-n", "--num"}, "N", "how many of the last entries (100); 0: all"},
                        {{"--refused"}, "", "only what was refused"}})};
}

}  // namespace fettle
