#include "kinds/command.h"

#include "base/text.h"
#include "core/open_payload.h"
#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

Status check_codes(const Value& codes) {
  if (!codes.is_list())
    return {};
  for (const Value& code : codes.items())
    if (!code.is_unknown() && !(code.is_integer() && code.integer()))
      return user_error(cat("`returns` must be a list of exit codes, not `", to_text(code), "`"));
  return {};
}

Status check_timeout(const Value& timeout) {
  const bool good = timeout.is_unknown() ||
                    (timeout.is_real() && timeout.real() > 0 && timeout.real() < 1e9) ||
                    (timeout.is_integer() && timeout.integer().value_or(0) > 0 &&
                     timeout.integer().value_or(0) < 1'000'000'000);
  if (good)
    return {};
  return user_error(cat("`timeout` must be a number of seconds, not `", to_text(timeout), "`"));
}

class CommandKind : public KindOf<HostCommand, CommandOutputs, CommandSeen> {
 public:
  CommandKind() : KindOf("command", Sort::observable) {}

  bool in_place_changes(const Attributes&, const Attributes&) const override { return true; }

  Comparison compare(const Record&, const Observation& seen, Presence) const override {
    const CommandSeen state = seen.state ? read<CommandSeen>(*seen.state) : CommandSeen();
    return state.is_due ? Comparison{Verb::update, {}, state.why.str()} : Comparison{};
  }

 protected:
  Result<Attributes> settle(Attributes normal) const override {
    const HostCommand command = read<HostCommand>(normal);
    TRY(check_codes(command.returns.value()));
    TRY(check_timeout(command.timeout));
    return normal;
  }
};

}  // namespace

const Members& OutputRequest::members() {
  static const Members all{
      member<&OutputRequest::form>("state",
                                   "`json`, `yaml`, `text` or empty: how the output is read"),
      member<&OutputRequest::hidden>("hidden", "[name of an output that is secret]")};
  return all;
}

const Members& HostCommand::members() {
  static const Members all{
      required<&HostCommand::command>("command",
                                      "text, split into words as a shell does, without a shell"),
      member<&HostCommand::creates>("creates", "a path: not if it exists"),
      member<&HostCommand::unless>("unless", "a command: not if it ends with code 0"),
      member<&HostCommand::onlyif>("onlyif", "a command: only if it ends with code 0"),
      member<&HostCommand::reload>("reload", "the command for an event; empty: `command`"),
      member<&HostCommand::reload_only>("reload_only", "it runs only for events"),
      member<&HostCommand::cwd>("cwd", "the folder in which it runs"),
      member<&HostCommand::environment>("environment", "{name: text}"),
      member<&HostCommand::path>("path", "where programs are looked up"),
      member<&HostCommand::returns>("returns", "[exit code that is good]"),
      member<&HostCommand::timeout>("timeout", "seconds"),
      member<&HostCommand::skip_on_fail>("skip_on_fail", "a failure skips it"),
      member<&HostCommand::purged>("purged", "it needs no act"),
      given<&HostCommand::told>("told",
                                "{\"state\": how the output is read, \"hidden\": [output]}")};
  return all;
}

const Members& CommandOutputs::members() {
  static const Members all{member<&CommandOutputs::code>("code", "exit code"),
                           member<&CommandOutputs::has_run>("ran", "whether a command ran"),
                           member<&CommandOutputs::output>("output", "its last lines")};
  return all;
}

const Members& ToldOutputs::members() {
  static const Members all{member<&ToldOutputs::out>("stdout", "text"),
                           member<&ToldOutputs::errors>("stderr", "text"),
                           member<&ToldOutputs::state>("state", "the output as a value")};
  return all;
}

bool has_told(const Outputs& outputs) { return dict_of(outputs).find("stdout") != nullptr; }

const Members& CommandSeen::members() {
  static const Members all{
      member<&CommandSeen::is_due>("due", "whether its conditions ask for it now"),
      member<&CommandSeen::why>("why", "text")};
  return all;
}

const TypedKind& command_kind() {
  static const CommandKind kind;
  return kind;
}

}  // namespace fettle
