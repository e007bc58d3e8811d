#include "kinds/request.h"

#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

class RequestKind : public KindOf<ServiceRequest, RequestOutputs> {
 public:
  RequestKind() : KindOf("request", Sort::action) {}
  /// Only a GET leaves the service as it was.
  Role role(const Attributes& attributes) const override {
    return read<ServiceRequest>(attributes).recipe.type == "get" ? Role::reads : Role::acts;
  }

 protected:
  Result<Attributes> settle(Attributes normal) const override {
    return with_normal_recipe(std::move(normal));
  }
};

}  // namespace

Value usual_codes() {
  std::vector<Value> codes;
  for (int code = 200; code <= 208; ++code)
    codes.emplace_back(code);
  codes.emplace_back(226);
  return Value::list(std::move(codes));
}

const Members& ServiceRequest::members() {
  static const Members all{
      required<&ServiceRequest::service>("service", "name"),
      required<&ServiceRequest::recipe>("recipe", "an HTTP request"),
      member<&ServiceRequest::acceptable_codes>("acceptable_codes", "[integer]"),
      member<&ServiceRequest::skip_code_check>("skip_code_check", "every status is good")};
  return all;
}

const TypedKind& request_kind() {
  static const RequestKind kind;
  return kind;
}

}  // namespace fettle
