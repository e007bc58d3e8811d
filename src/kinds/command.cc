/// A command on a machine, and what tells whether it has to run. Without `creates`, `unless` and
/// `onlyif` it runs once, and again when its attributes change; with them also when they say so.
///
/// attributes  {"command": text, split into words as a shell does, without a shell,
///             "creates": a path: not while it is there,
///             "unless": a command: not when it ends with code 0,
///             "onlyif": a command: only when it ends with code 0,
///             "reload": the command for an event; empty: `command`,
///             "reload_only": only for events, "cwd", "environment": {name: text}, "path": where
///             programs are looked up, "returns": [codes that are good], "timeout": seconds,
///             "skip_on_fail": a failure skips it, "purged": nothing is to be done,
///             "told": only where it is given: {"state": `json`, `yaml`, `text` or empty, how the
///             output is read, "hidden": [names of outputs that are secret]}
/// outputs     {"code", "ran": whether a command ran, "output": its last lines}; with "told" also
///             {"stdout", "stderr", "state"}
/// seen        {"due": whether its conditions ask for it now, "why"}

#include "base/text.h"
#include "kinds/kinds.h"
#include "kinds/schema.h"

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

/// A command of which nobody asks for more has the attributes that it always had.
Value without_told(const Value& attributes) {
  std::vector<Entry> entries;
  for (const Entry& entry : attributes.entries())
    if (entry.key != "told")
      entries.push_back(entry);
  return Value::dict(std::move(entries));
}

class CommandKind : public Kind {
 public:
  Name name() const override { return "command"; }
  Sort sort() const override { return Sort::observable; }

  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{
        {"command", Field::text, {}},     {"creates", Field::text, ""},
        {"unless", Field::text, ""},      {"onlyif", Field::text, ""},
        {"reload", Field::text, ""},      {"reload_only", Field::boolean, false},
        {"cwd", Field::text, ""},         {"environment", Field::dict, Value::dict({})},
        {"path", Field::text, ""},        {"returns", Field::list, Value::list({0})},
        {"timeout", Field::any, 300},     {"skip_on_fail", Field::boolean, false},
        {"purged", Field::boolean, false}};
    const Value* const told = attributes.is_dict() ? attributes.find("told") : nullptr;
    Value normal = TRY(schema.normalise(told == nullptr ? attributes : without_told(attributes)));
    TRY(check_codes(normal.at("returns")));
    TRY(check_timeout(normal.at("timeout")));
    if (told == nullptr)
      return normal;
    std::vector<Entry> entries(normal.entries().begin(), normal.entries().end());
    entries.push_back({"told", *told});
    return Value::dict(std::move(entries));
  }

  bool in_place_changes(const Value&, const Value&) const override { return true; }

  Comparison compare(const Record&, const Observation& seen, Presence) const override {
    if (!seen.state || !seen.state->bool_at("due"))
      return {};
    return {Verb::update, {}, std::string(seen.state->text_at("why"))};
  }
};

}  // namespace

const Kind& command_kind() {
  static const CommandKind kind;
  return kind;
}

}  // namespace fettle
