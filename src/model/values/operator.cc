#include "model/values/operator.h"

namespace fettle::model {

std::string_view spelling(Operator op) {
  switch (op) {
    case Operator::or_:
      return "or";
    case Operator::and_:
      return "and";
    case Operator::equal:
      return "==";
    case Operator::not_equal:
      return "!=";
    case Operator::less:
      return "<";
    case Operator::less_equal:
      return "<=";
    case Operator::greater:
      return ">";
    case Operator::greater_equal:
      return ">=";
    case Operator::add:
      return "+";
    case Operator::subtract:
      return "-";
    case Operator::multiply:
      return "*";
    case Operator::divide:
      return "/";
    case Operator::modulo:
      return "%";
    case Operator::power:
      return "**";
    case Operator::in:
      return "in";
    case Operator::not_in:
      return "not in";
  }
  return "";
}

}  // namespace fettle::model
