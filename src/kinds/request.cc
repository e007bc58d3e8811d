/// An HTTP request to a port of a service.
///
/// attributes  {"service": name, "recipe": see recipe.h, "acceptable_codes": [200, …],
///             "skip_code_check"}
/// needs       the service, inside
/// outputs     {"code", "body", "extract": {key: value}}

#include "kinds/kinds.h"
#include "kinds/recipe.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

/// Kurtosis: 200 to 208 and 226.
Value usual_codes() {
  std::vector<Value> codes;
  for (int code = 200; code <= 208; ++code)
    codes.emplace_back(code);
  codes.emplace_back(226);
  return Value::list(std::move(codes));
}

class RequestKind : public Kind {
 public:
  Name name() const override { return "request"; }
  Sort sort() const override { return Sort::action; }
  Result<Value> normalise(const Value& attributes) const override {
    static const Schema schema{{"service", Field::text, {}},
                               {"recipe", Field::dict, {}},
                               {"acceptable_codes", Field::list, usual_codes()},
                               {"skip_code_check", Field::boolean, false}};
    return normalise_with_recipe(schema, attributes);
  }
  /// Only a GET leaves the service as it was.
  Role role(const Value& attributes) const override {
    return attributes.at("recipe").text_at("type") == "get" ? Role::reads : Role::acts;
  }
};

}  // namespace

const Kind& request_kind() {
  static const RequestKind kind;
  return kind;
}

}  // namespace fettle
