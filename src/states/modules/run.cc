/// `time.sleep`, `render.block`, `sls.run`, `acct.profile`: states that affect the rest of the run.

#include <set>

#include "base/text.h"
#include "states/builtins.h"
#include "states/modules/functions.h"

namespace fettle::states {
namespace {

/// Arguments that are no parameters of the function.
Value rest_of(const ModuleCall& call, const std::set<std::string_view>& parameters) {
  std::vector<Entry> entries;
  for (const Entry& entry : call.arguments.entries())
    if (!parameters.contains(entry.key.view()))
      entries.push_back(entry);
  return Value::dict(std::move(entries));
}

Result<Value> refs_argument(const ModuleCall& call, std::string_view parameter) {
  const Value& given = call.at(parameter);
  if (given.is_text())
    return Value::list({given});
  std::vector<Value> refs = TRY(list_argument(call, parameter));
  for (const Value& ref : refs)
    if (!ref.is_text())
      return user_error(cat("`", parameter, "` must be a list of refs, not ", to_text(given)));
  return Value::list(std::move(refs));
}

/// The answer of a resource without a state, as Idem reports it.
Answer said(bool result, std::string comment) {
  const Value none = Value::dict({});
  return ModuleAnswer{.ret = with(ret_of(result, "", none, none), "comment",
                                  Value::list({Value(std::move(comment))}))};
}

Answer time_sleep(const ModuleCall& call) {
  const Value& given = call.at("duration");
  const double seconds = TRY(seconds_argument(call, "duration"));
  if (call.is_test)
    return said(true, cat("Would sleep for ", to_text(given), " seconds."));
  if (call.so_far.is_null())
    return ModuleAnswer{.ret = {},
                        .again = Duration(static_cast<int64_t>(seconds * 1e9)),
                        .so_far = Value::dict({{"begun", true}})};
  return said(true, cat("Successfully slept for ", to_text(given), " seconds."));
}

Answer render_block(const ModuleCall& call) {
  const char* const parameter = call.at("sls").is_null() ? "block" : "sls";
  const std::string text = TRY(text_argument(call, parameter));
  return ModuleAnswer{
      .ret = ret_of(true, "Rendered"),
      .adds = Value::dict({{"block", Value::dict({{"text", text}, {"pipe", call.at("render")}})}})};
}

Answer sls_run(const ModuleCall& call) {
  const Value sources = TRY(refs_argument(call, "sls_sources"));
  if (sources.items().empty())
    return user_error("`sls_sources` must name files of states");
  std::vector<Entry> values;
  const Value remembered = TRY(dict_argument(call, "esm_params"));
  values.insert(values.end(), remembered.entries().begin(), remembered.entries().end());
  const Value rest = rest_of(call, {"sls_sources", "params", "esm_params"});
  values.insert(values.end(), rest.entries().begin(), rest.entries().end());
  return ModuleAnswer{
      .ret = ret_of(true, "Added"),
      .adds = Value::dict({{"sls", Value::dict({{"sources", sources},
                                                {"params", TRY(refs_argument(call, "params"))},
                                                {"values", Value::dict(std::move(values))},
                                                {"prefix", cat(call.name, ".")}})}})};
}

Answer acct_profile(const ModuleCall& call) {
  const std::string provider = TRY(text_argument(call, "provider_name"));
  const std::string name =
      call.at("profile_name").is_null() ? call.name : TRY(text_argument(call, "profile_name"));
  const Value values = rest_of(call, {"provider_name", "profile_name", "source_profile"});
  return ModuleAnswer{.ret = ret_of(true, cat("The profile ", name, " of ", provider, " is there")),
                      .profile = Value::dict({{"provider", provider},
                                              {"name", name},
                                              {"source", call.at("source_profile")},
                                              {"values", values}})};
}

}  // namespace

ModuleRow time_module() {
  return {"time",
          "Waiting.",
          {{"sleep",
            Rest::none,
            time_sleep,
            "Waits.",
            "True, without waiting",
            {{"duration", "", "seconds", Shape::seconds}}}},
          {},
          {},
          true};
}

ModuleRow render_module() {
  return {"render",
          "Blocks that become states of the run.",
          {{"block",
            Rest::none,
            render_block,
            "Renders a block and adds its states to the run.",
            as_always,
            {{"sls", "null", "the block"},
             {"block", "null", "the same"},
             {"render", "null", "the pipe (default: that of the run)"}}}}};
}

ModuleRow sls_module() {
  return {
      "sls",
      "Files of states as one state.",
      {{"run",
        Rest::any,
        sls_run,
        "Runs files of states with their own parameters. Their IDs start with its name and a dot; "
        "further arguments are parameters.",
        "that of each state in it",
        {{"sls_sources", "", "a list of refs", Shape::refs},
         {"params", "null", "a list of refs of parameters", Shape::refs},
         {"esm_params", "null", "parameters, too", Shape::dict}}}}};
}

ModuleRow acct_module() {
  return {"acct",
          "Credentials.",
          {{"profile",
            Rest::any,
            acct_profile,
            "Creates a profile for the rest of the run. States that use it must require this one.",
            as_always,
            {{"provider_name", "", "the provider of the profile", Shape::text},
             {"profile_name", "null", "the name of the profile (default: that of the state)",
              Shape::text},
             {"source_profile", "null", "the profile that it is based on"}}}}};
}

}  // namespace fettle::states
