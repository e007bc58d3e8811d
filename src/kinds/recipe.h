#pragma once
/// Recipes: the acts of exec, request and wait inside or against a service, and the check of a
/// result.
///
/// Attributes have a recipe as `recipe`; outputs have its result: `code`, `output` of a command or
/// `body` of an answer, and `extract`.

#include "base/result.h"
#include "kinds/members.h"

namespace fettle {

struct Recipe {
  Name type;                  ///< `exec`, `exit`, `get` or `post`
  List command;               ///< of `exec`
  Hole<Name> port, endpoint;  ///< of an HTTP request, like the rest
  Dict headers;
  Hole<Name> body, content_type = "application/json";
  Dict extract;  ///< {key: jq expression over the output or body}
  bool is_command() const { return type == "exec"; }
  /// The service is expected to end; the result is its exit code.
  bool is_exit() const { return type == "exit"; }
  /// The rows of its type.
  const Members& members_of_type() const;
};

template <>
struct MemberType<Recipe> {
  static constexpr Member::Type type = Member::dict;
  static Value get(const Recipe& recipe) { return recipe.members_of_type().write(&recipe); }
  static void set(Recipe& recipe, const Value& value);
};

/// The recipe with its defaults. Errors (`Blame::user`): no such type, and those of its table.
Result<Recipe> normal_recipe(const Value& recipe);

/// The attributes with the defaults of their `recipe`.
Result<Attributes> with_normal_recipe(Attributes attributes);

/// The result of a command.
struct ExecOutputs {
  int64_t code = 0;
  Value output;
  Dict extract;
  static const Members& members();
};

/// Whether a result is that of an HTTP request.
bool has_request_outputs(const Outputs& outputs);

/// The result of an HTTP request.
struct RequestOutputs {
  int64_t code = 0;
  Value body;
  Dict extract;
  static const Members& members();
};

/// Kurtosis: ==, !=, <, <=, >, >=, IN, NOT_IN; both sides must have the same type. The error
/// (`Blame::world`) shows both values.
Status check_assertion(const Value& value, std::string_view assertion, const Value& target);

/// Whether there is such an assertion; otherwise an error that lists them.
Status check_assertion_name(std::string_view assertion);

/// The value of a field of a recipe's result: `code`, `output`, `body`, `extract.key`.
Result<Value> result_field(const Value& result, std::string_view field);

}  // namespace fettle
