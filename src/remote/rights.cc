#include "remote/rights.h"

#include <fnmatch.h>

#include <algorithm>

#include "base/text.h"

namespace fettle {
namespace {

/// "`web-*` and `shop`"
std::string patterns_text(const std::vector<std::string>& patterns) {
  std::string text;
  for (size_t i = 0; i < patterns.size(); ++i)
    text += cat(i == 0 ? "" : i + 1 == patterns.size() ? " and " : ", ", "`", patterns[i], "`");
  return text;
}

bool is_like_uuid(const std::string& name) {
  constexpr size_t least = 4;
  return name.size() >= least && name.find_first_not_of("0123456789abcdef") == name.npos;
}

}  // namespace

std::string_view to_string(Right right) { return right_names[static_cast<size_t>(right)]; }

std::string_view right_text(const Grant& grant) {
  return grant.agent.empty() ? to_string(grant.right) : right_of_agents;
}

Result<Right> right_named(std::string_view name) {
  const auto found = std::ranges::find(right_names, name);
  if (found != right_names.end())
    return static_cast<Right>(found - right_names.begin());
  const std::vector<std::string> names(right_names.begin(), right_names.end());
  return user_error(cat("there is no right `", printable(name), "`",
                        suggestion(std::string(name), names),
                        "; the rights are read, plan, act and admin"));
}

bool fits_pattern(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

bool Grant::reaches(const std::string& environment) const {
  return environments.empty() || std::ranges::any_of(environments, [&](const std::string& pattern) {
           return fits_pattern(pattern, environment);
         });
}

std::optional<Error> refusal_by_rights(const Grant& grant, const CommandNeeds& needs) {
  const std::string token = cat("the token `", grant.token, "`");
  if (!needs.agent.empty() && grant.agent == needs.agent)
    return std::nullopt;
  if (!grant.agent.empty())
    return user_error(cat(token, " is good for nothing but to be the agent `", grant.agent,
                          "`, and ",
                          needs.agent.empty() ? cat("`", needs.what, "` is something else")
                                              : cat("this one is called `", needs.agent, "`")));
  if (!needs.agent.empty() && grant.right < needs.right)
    return user_error(cat(token, " is not for the agent `", needs.agent, "`: ask who keeps the ",
                          "server for one made with `fettle token create NAME --agent ",
                          needs.agent, "`"));
  if (grant.right < needs.right)
    return user_error(cat("`", needs.what, "`", needs.manner, " needs the right `",
                          to_string(needs.right), "`, and ", token, " has `",
                          to_string(grant.right), "`: ask who keeps the server for a ",
                          grant.trust.empty() ? "token made" : "trust added", " with `--right ",
                          to_string(needs.right), "`"));
  if (!grant.is_limited() || needs.reach == Reach::shown)
    return std::nullopt;
  const std::string limits = cat(token, " is for ", patterns_text(grant.environments), " only");
  if (needs.reach == Reach::server)
    return user_error(cat("`", needs.what, "` is about the server as a whole, and ", limits,
                          ": ask for a token that is not limited to environments"));
  if (needs.reach == Reach::unknown || needs.environments.empty())
    return user_error(cat("`", needs.what, "` does not say in its words which environment it is ",
                          "about, and ", limits, ": name one, as with `-e NAME`"));
  for (const std::string& name : needs.environments)
    if (!grant.reaches(name))
      return user_error(cat("`", needs.what, "` is about `", printable(name), "`, and ", limits,
                            is_like_uuid(name) ? ": a name counts here, and no uuid"
                                               : cat(": ask for a token with `--environment ",
                                                     printable(name), "`")));
  return std::nullopt;
}

}  // namespace fettle
