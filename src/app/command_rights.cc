#include "app/command_rights.h"

#include <algorithm>

#include "app/scheduled_command.h"
#include "base/text.h"
#include "controller/workload_objects.h"
#include "server/exchange.h"

namespace fettle {
namespace {

using Rule = EnvironmentRule;
constexpr Right read_right = Right::read, plan_right = Right::plan, act_right = Right::act,
                admin_right = Right::admin;

/// `run` that only tells of the package.
Right right_of_run(const CommandLine& parsed) {
  const bool only_tells = parsed.flag("dry-run") || parsed.flag("dependencies") ||
                          parsed.flag("output-graph") || parsed.flag("with-mermaid") ||
                          parsed.has("output-graph-path");
  return only_tells && !parsed.flag("pull") ? plan_right : act_right;
}

/// `import` that only writes a package, for the client.
Right right_of_import(const CommandLine& parsed) {
  return parsed.flag("convert") || parsed.text("output") == "-" ? plan_right : right_of_run(parsed);
}

Right right_of_export(const CommandLine& parsed) {
  const bool stores_nothing = parsed.flag("dry-run") || parsed.has("json-file");
  return stores_nothing && !parsed.flag("apply") ? plan_right : act_right;
}

Right right_of_push(const CommandLine& parsed) {
  return parsed.flag("dry-run") ? plan_right : act_right;
}

/// About a schedule: the command itself asks for what its own command needs.
Right right_about_own(const CommandLine&) { return plan_right; }

/// Options of every command that ask for more.
struct RaisingOption {
  std::string_view name;
  Right right;
};
constexpr std::array<RaisingOption, 4> raising_options{{
    {"engine", Right::admin},      // the server reaches it, with its own keys
    {"on", Right::admin},          // from then on, whoever may act in the environment acts there
    {"on-each", Right::admin},     // the same
    {"show-secrets", Right::act},  // whoever may act can have them anyway
}};

/// `--agent web1=agent://b`: as `--on`.
constexpr RaisingOption agents_option{"agent", Right::admin};

bool names_machine(const CommandLine& parsed) {
  return std::ranges::any_of(parsed.all("agent"), [](const std::string& value) {
    return value.find("=agent://") != value.npos;
  });
}

/// The option that raises the right most. Null: none does.
const RaisingOption* raised_by(const CommandLine& parsed, Right right) {
  if (right < agents_option.right && names_machine(parsed))
    return &agents_option;
  const RaisingOption* found = nullptr;
  for (const RaisingOption& one : raising_options)
    if (parsed.has(std::string(one.name)) && one.right > right &&
        (found == nullptr || one.right > found->right))
      found = &one;
  return found;
}

const CommandRight* right_row(const std::string& words) {
  const auto& all = command_rights();
  const auto found = std::ranges::find(all, words, &CommandRight::words);
  return found == all.end() ? nullptr : &*found;
}

/// The environments of a command; none: its words do not say.
std::vector<std::string> environments_named(Rule rule, const CommandLine& parsed) {
  const std::string given = parsed.text("enclave");
  const auto one = [](std::string name) {
    return name.empty() ? std::vector<std::string>() : std::vector{std::move(name)};
  };
  // One for each machine, whose names only the server knows.
  if (parsed.has("on-each"))
    return {};
  switch (rule) {
    case Rule::option:
    case Rule::option_or_all:
      return one(given);
    case Rule::first:
    case Rule::first_or_all:
      return one(given.empty() ? parsed.argument(0) : given);
    case Rule::each: {
      std::vector<std::string> all = parsed.arguments;
      if (!given.empty())
        all.push_back(given);
      return all;
    }
    case Rule::name:
      return one(parsed.text("name", parsed.argument(0)));
    case Rule::fleet:
      return one(given.empty() ? std::string(default_fleet) : given);
    case Rule::path:
    case Rule::shown:
    case Rule::server:
      break;
  }
  return {};
}

Reach reach_of(Rule rule, bool is_named) {
  if (rule == Rule::server)
    return Reach::server;
  if (is_named)
    return Reach::named;
  const bool shows_all =
      rule == Rule::shown || rule == Rule::first_or_all || rule == Rule::option_or_all;
  return shows_all ? Reach::shown : Reach::unknown;
}

/// What a request reaches. One that cannot be understood is refused later, and shows nothing.
void reach_of_path(const std::string& path, CommandNeeds& needs) {
  needs.reach = Reach::shown;
  const Result<WebTarget> target = parse_target(path);
  if (!target || target->segments.size() < 2)
    return;
  const auto& segments = target->segments;
  if (segments[1] == "plans")  // that were kept: files of the server, of any environment
    needs.reach = Reach::server;
  else if (segments[1] == "environments" && segments.size() > 2)
    needs.environments = {segments[2]};
  else if (const auto asked = target->query.find("environment"); asked != target->query.end())
    needs.environments = {asked->second};
  std::erase(needs.environments, "");
  if (!needs.environments.empty())
    needs.reach = Reach::named;
}

std::vector<CommandRight> rights_about_environments() {
  return {
      {"run", act_right, Rule::option, right_of_run},
      {"state", act_right, Rule::option},
      {"exec", act_right, Rule::option},
      {"describe", act_right, Rule::option},
      {"refresh", act_right, Rule::option},
      {"restore", act_right, Rule::option},
      {"batch", act_right, Rule::option},
      {"import", act_right, Rule::option, right_of_import},
      {"export", act_right, Rule::option, right_of_export},
      {"versions ls", read_right, Rule::first},
      {"versions show", read_right, Rule::option},
      {"versions diff", read_right, Rule::option},
      {"versions check", read_right, Rule::option},
      {"versions push", act_right, Rule::option, right_of_push},
      {"versions release", act_right, Rule::option},
      {"set ls", read_right, Rule::option},
      {"set show", read_right, Rule::option},
      {"setting ls", read_right, Rule::first},
      {"setting get", read_right, Rule::option},
      {"setting set", act_right, Rule::option},
      {"apply", act_right, Rule::fleet},
      {"get", read_right, Rule::fleet},
      {"delete", act_right, Rule::fleet},
      {"controller", act_right, Rule::fleet},
      {"diff", plan_right, Rule::fleet},
      {"describe workload", read_right, Rule::fleet},
      {"scale", act_right, Rule::fleet},
      {"set image", act_right, Rule::fleet},
      {"label", act_right, Rule::fleet},
      {"annotate", act_right, Rule::fleet},
      {"rollout status", read_right, Rule::fleet},
      {"rollout pause", act_right, Rule::fleet},
      {"rollout resume", act_right, Rule::fleet},
      {"rollout undo", act_right, Rule::fleet},
      {"rollout history", read_right, Rule::fleet},
      {"rollout restart", act_right, Rule::fleet},
      {"images", read_right, Rule::fleet},
      {"describe pod", read_right, Rule::fleet},
      {"logs", read_right, Rule::fleet},
      {"pod exec", act_right, Rule::fleet, nullptr, true},
      {"cp", act_right, Rule::fleet, nullptr, true},
      {"install kubernetes", admin_right},
      {"uninstall kubernetes", admin_right},
      {"node ls", read_right},
      {"node add", admin_right},
      {"node rm", admin_right},
      {"node cordon", admin_right},
      {"node uncordon", admin_right},
      {"node drain", admin_right},
      {"plan", plan_right, Rule::option},
      {"why", read_right, Rule::option_or_all},
      {"show", read_right, Rule::first},
      {"drift", read_right, Rule::first},
      {"events", read_right, Rule::first_or_all},
      {"orphans ls", read_right, Rule::first_or_all},
      {"orphans rm", act_right, Rule::first},
      {"enclave add", act_right, Rule::name},
      {"enclave ls", read_right, Rule::shown},
      {"enclave inspect", read_right, Rule::first},
      {"enclave stop", act_right, Rule::each},
      {"enclave start", act_right, Rule::each},
      {"enclave restart", act_right, Rule::each},
      {"enclave rm", act_right, Rule::each},
      {"enclave dump", read_right, Rule::first},
      {"dump", read_right},
      {"clean", admin_right},
      {"force-unlock", admin_right, Rule::first},
      {"service ls", read_right, Rule::first},
      {"service inspect", read_right, Rule::first},
      {"service logs", read_right, Rule::first},
      {"service add", act_right, Rule::first},
      {"service update", act_right, Rule::first},
      {"service stop", act_right, Rule::first},
      {"service start", act_right, Rule::first},
      {"service restart", act_right, Rule::first},
      {"service rm", act_right, Rule::first},
      {"service exec", act_right, Rule::first, nullptr, true},
      {"service shell", act_right, Rule::first, nullptr, true},
      {"service cp", act_right, Rule::first, nullptr, true},
      {"port print", read_right, Rule::first},
      {"files ls", read_right, Rule::first},
      {"files inspect", read_right, Rule::first},
      {"files download", read_right, Rule::first},
      {"files upload", act_right, Rule::first},
      {"files storeservice", act_right, Rule::first},
      {"files storeweb", act_right, Rule::first},
      {"files rendertemplate", act_right, Rule::first},
      {"files rm", act_right, Rule::first},
      {"api", read_right, Rule::path},
  };
}

/// Of those that are about a server itself.
std::vector<CommandRight> rights_about_servers() {
  return {
      {"token create", admin_right},
      {"token ls", admin_right},
      {"token rm", admin_right},
      {"trust add", admin_right},
      {"trust ls", admin_right},
      {"trust rm", admin_right},
      {"agent ls", read_right},
      {"audit", admin_right},
      {"schedule add", act_right, Rule::shown},  // as what it has run
      {"schedule ls", read_right, Rule::shown},
      {"schedule rm", act_right, Rule::shown, right_about_own},
      {"schedule run", act_right, Rule::shown, right_about_own},
      {"schedule approve", act_right, Rule::shown},
      {"schedule refuse", act_right, Rule::shown},
  };
}

}  // namespace

const std::vector<CommandRight>& command_rights() {
  static const std::vector<CommandRight> all = [] {
    std::vector<CommandRight> rows = rights_about_environments();
    const std::vector<CommandRight> more = rights_about_servers();
    rows.insert(rows.end(), more.begin(), more.end());
    return rows;
  }();
  return all;
}

CommandNeeds needs_of(const Command& command, const CommandLine& parsed) {
  CommandNeeds needs;
  needs.what = cat("fettle ", command.words);
  if (command.words == "schedule add")
    if (const auto scheduled = scheduled_command(parsed)) {
      needs = needs_of(*scheduled->command, scheduled->parsed);
      // Whoever only looks keeps nothing at a server, nor has it call others.
      const bool reaches_out = parsed.has("git") || parsed.has("notify");
      needs.right = std::max(needs.right, reaches_out ? Right::act : Right::plan);
      needs.what = cat("fettle schedule add … ", scheduled->command->words);
      return needs;
    }
  const CommandRight* const row = right_row(command.words);
  if (row == nullptr)
    return needs;
  needs.right = row->less == nullptr ? row->right : row->less(parsed);
  needs.environments = environments_named(row->rule, parsed);
  needs.reach = reach_of(row->rule, !needs.environments.empty());
  if (row->rule == Rule::path)
    reach_of_path(parsed.argument(0), needs);
  if (const RaisingOption* const option = raised_by(parsed, needs.right)) {
    needs.right = option->right;
    needs.manner = cat(" with `--", option->name, "`");
  }
  return needs;
}

Right watch_of(const Command& command, const CommandLine& parsed) {
  const CommandRight* const row = right_row(command.words);
  if (row == nullptr)
    return Right::admin;
  const RaisingOption* const option = raised_by(parsed, Right::read);
  return option != nullptr ? option->right : row->is_inside ? row->right : Right::read;
}

}  // namespace fettle
