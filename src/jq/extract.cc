#include "jq/extract.h"

#include <cmath>

#include "base/text.h"
#include "jq/machine.h"
#include "jq/prelude.h"
#include "jq/text_form.h"

namespace fettle::jq {
namespace {

Status compile(std::string_view text, Program& program) {
  Status read = Parser(text, program, prelude_functions()).program();
  if (read)
    return {};
  const Error& error = read.error();
  const int column = error.where.column;
  return user_error(cat("the jq expression `", text, "` cannot be used: ", error.message,
                        error.where.line > 1
                            ? cat(" (line ", error.where.line, ", column ", column, ")")
                            : cat(" (column ", column, ")")));
}

Value value_of(const Json& json);

Value value_of_real(double number) {
  if (const auto whole = static_cast<double>(clamped(number));
      whole == number && std::abs(number) < 9223372036854775808.0)
    return clamped(number);
  if (std::isfinite(number))
    return number;
  return std::isnan(number) ? "nan" : number > 0 ? "+inf" : "-inf";
}

/// The result of `@base64d` may be anything.
Value value_of_text(const std::string& text) {
  if (!is_valid_utf8(text))
    Budget::current().refuse("it gives a text that is not UTF-8");
  return text;
}

Value value_of(const Json& json) {
  // Shared parts are made each time.
  if (!Budget::current().spend(1))
    return {};
  switch (json.kind()) {
    case Json::Kind::boolean:
      return json.boolean();
    case Json::Kind::integer:
      return json.integer();
    case Json::Kind::real:
      return value_of_real(json.real());
    case Json::Kind::whole:
    case Json::Kind::numeral:
      return json.text();
    case Json::Kind::text:
      return value_of_text(json.text());
    case Json::Kind::list: {
      std::vector<Value> items;
      for (const Json& item : json.items())
        items.push_back(value_of(item));
      return Value::list(std::move(items));
    }
    case Json::Kind::dict: {
      std::vector<Entry> entries;
      for (const Member& member : json.members())
        entries.push_back({Name(member.key.text()), value_of(member.value)});
      return Value::dict(std::move(entries));
    }
    default:
      return {};
  }
}

std::string failure_text(const Failure& failure) {
  return failure.value.is_text() ? failure.value.text() : text_form(failure.value);
}

Result<Value> run(const Program& program, const Json& input) {
  Machine machine(program, input);
  std::vector<Value> found;
  std::string why;
  while (std::optional<Answer> answer = machine.next()) {
    if (!*answer)
      why = failure_text(answer->error());
    else if (!(*answer)->is_null())
      found.push_back(value_of(**answer));
  }
  if (Budget::current().is_over())
    return world_error(Budget::current().refusal());
  if (found.empty())
    return world_error(why.empty() ? "it gives nothing, or null" : why);
  return found.size() == 1 ? found.front() : Value::list(std::move(found));
}

/// The hint how an expression can read a text that holds a dict or a list as JSON. Empty: the text
/// holds none, or the expression does so already.
std::string advice_on_text(std::string_view program, std::string_view text) {
  if (program.find("fromjson") != program.npos)
    return "";
  const tl::expected<Json, std::string> inside = read(text, Numbers::real);
  if (!inside || (inside->kind() != Json::Kind::dict && inside->kind() != Json::Kind::list))
    return "";
  return cat("; the output is a text: `fromjson | ", program, "` reads the JSON in it");
}

}  // namespace

Status check(std::string_view program) {
  Program made;
  return compile(program, made);
}

Result<Value> extract(std::string_view program, std::string_view text, Input input,
                      const Budget::Limits& limits) {
  Program made;
  TRY(compile(program, made));
  Budget budget(limits);
  const Budget::Scope scope(budget);
  if (!is_valid_utf8(text))
    return world_error("the response is not UTF-8");
  tl::expected<Json, std::string> value =
      input == Input::text ? Json::text(std::string(text)) : read(text, Numbers::real);
  if (!value)
    return world_error(cat("the response is not JSON: ", value.error()));
  Result<Value> found = run(made, *value);
  if (!found && input == Input::text)
    found.error().message += advice_on_text(program, text);
  return std::move(found).context(cat("the jq expression `", program, "`"));
}

}  // namespace fettle::jq
