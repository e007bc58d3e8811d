#include "base/rfc3339.h"
#include "base/text.h"
#include "base/tls.h"
#include "cli/commands/commands.h"
#include "cli/print.h"
#include "documents/servers.h"
#include "remote/trusts.h"

namespace fettle {
namespace {

std::string trust_reach(const Grant& grant) {
  return grant.is_limited() ? join(grant.environments, ", ") : "all";
}

std::string rules_text(const Trust& trust) {
  std::vector<std::string> texts;
  for (const ClaimRule& rule : trust.claims)
    texts.push_back(to_string(rule));
  return join(texts, " ");
}

Result<Trust> trust_asked(const Face& face, Time now) {
  const CommandLine& parsed = face.parsed;
  Trust trust;
  trust.grant.token = parsed.argument(0);
  trust.grant.right = TRY(right_named(parsed.text("right", "read")));
  trust.grant.environments = parsed.all("environment");
  trust.issuer = parsed.text("issuer");
  trust.audience = parsed.text("audience");
  trust.created = now;
  for (const std::string& text : parsed.all("claim"))
    trust.claims.push_back(TRY(claim_rule_in(text, false, "--claim")));
  for (const std::string& text : parsed.all("claim-like"))
    trust.claims.push_back(TRY(claim_rule_in(text, true, "--claim-like")));
  if (const std::string file = parsed.text("jwks"); !file.empty())
    trust.keys = TRY(read_given(file));
  if (const std::string file = parsed.text("ca"); !file.empty())
    trust.authorities = TRY(certificates_in(TRY(read_given(file)), cat("`", file, "`")));
  return trust;
}

Result<int> trust_add(Face& face) {
  const Trust trust = TRY(trust_asked(face, now_from_clock()));
  TRY(trust_book(TRY(face.home_folder())).add(trust));
  if (face.json || face.json_lines) {
    print_json(document_of(trust, {}));
    return 0;
  }
  if (face.quiet)
    return 0;
  const Right right = trust.grant.right;
  print(cat("added ", trust.grant.token, ": jobs with ", rules_text(trust), " have the right `",
            to_string(right), "`",
            trust.grant.is_limited() ? cat(" in ", trust_reach(trust.grant)) : ""));
  print_error(cat(right >= Right::act ? "That is a shell as the user of the server. " : "",
                  "A job puts a token of its forge, with the audience `", trust.audience,
                  "`, into $FETTLE_TOKEN"));
  return 0;
}

Result<int> trust_ls(Face& face) {
  const TrustBook book = trust_book(TRY(face.home_folder()));
  std::vector<Value> documents;
  std::vector<std::vector<std::string>> rows{
      {"NAME", "RIGHT", "ENVIRONMENTS", "ISSUER", "AUDIENCE", "CLAIMS", "LAST USED"}};
  for (const Trust& trust : TRY(book.all())) {
    const std::optional<Time> used = book.last_used(trust.grant.token);
    documents.push_back(document_of(trust, used));
    rows.push_back({trust.grant.token, std::string(to_string(trust.grant.right)),
                    trust_reach(trust.grant), trust.issuer, trust.audience, rules_text(trust),
                    used ? write_moment(*used) : "never"});
  }
  if (face.json)
    print_json(Value::list(std::move(documents)));
  else
    print(rows.size() == 1 ? "nobody is trusted but those who have a token of the server; `fettle "
                             "trust add NAME` trusts jobs of CI"
                           : table(rows));
  return 0;
}

Result<int> trust_rm(Face& face) {
  const std::string name = face.parsed.argument(0);
  TRY(trust_book(TRY(face.home_folder())).remove(name));
  if (face.json)
    print_json(status_document(name, "removed"));
  else if (!face.quiet)
    print(cat("removed ", name, "; what its jobs have begun goes on (`fettle runs`)"));
  return 0;
}

}  // namespace

std::vector<Command> trust_commands() {
  const CommandGroup group{"servers", {}};
  return {
      group.make(
          "trust add", "NAME", 1, 1,
          "Trusts jobs of CI: their forge gives each a token (OIDC), which the server takes.",
          {"fettle trust add shop --issuer https://token.actions.githubusercontent.com --audience "
           "https://fettle.example:9790 --claim repository=acme/shop --claim ref=refs/heads/main "
           "--right act --environment 'shop-*'",
           "fettle trust add ours --issuer https://gitlab.example.com --audience fettle "
           "--claim-like 'project_path=acme/*' --claim ref_protected=true --right plan --ca "
           "ca.pem"},
          trust_add,
          {{{"--issuer"}, "URL", "who issues their tokens (`iss`), exactly as it calls itself"},
           {{"--audience"}, "TEXT", "for whom they must be meant (`aud`): best this server's URL"},
           {{"--claim"},
            "NAME=TEXT",
            "a claim must be exactly this; may be repeated, and each must hold",
            true},
           {{"--claim-like"},
            "NAME=PATTERN",
            "a claim must fit a pattern (`*` also stands for slashes); may be repeated",
            true},
           {{"--right"},
            "read|plan|act|admin",
            "what such a job may do (default: read); each has those before it in it"},
           {{"--environment"},
            "NAME",
            "limits it to environments of this name, or pattern (`web-*`); may be repeated",
            true},
           {{"--jwks"},
            "FILE",
            "the issuer's keys (JWKS), which alone count and are kept; default: it is asked for "
            "them"},
           {{"--ca"},
            "FILE",
            "the certificate (PEM) of the authority that signed that of the issuer's server, which "
            "is "
            "kept; default: those that the system knows"}}),
      group.reader("trust ls", "", 0, 0, "Lists whom the server trusts beside its tokens.",
                   {"fettle trust ls", "fettle trust ls -o json"}, trust_ls),
      group.make("trust rm", "NAME", 1, 1,
                 "Trusts them no more: they are refused from their next command on.",
                 {"fettle trust rm shop", "fettle trust rm shop --server team"}, trust_rm)};
}

}  // namespace fettle
