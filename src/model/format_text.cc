#include "base/text.h"
#include "model/machine.h"
#include "model/text_form.h"
#include "value/python.h"

namespace fettle::model {

bool format_with(const Program& program, const Datum& value, std::string_view spec,
                 std::string& made, std::string& error) {
  const Result<std::string> shown =
      value.tag == Tag::floating ? python::format_real(value.floating, spec)
      : value.is_number() && !(spec.empty() && value.tag == Tag::boolean)
          ? python::format_integer(as_integer(value), spec)
          : python::format_text(text_of(program, value), spec);
  if (shown)
    made += *shown;
  else
    error = shown.error().message;
  return shown.has_value();
}

std::string constraint_text(const Program& program, const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::regex:
      return cat("/", as<Regex>(expr).pattern, "/");
    case ExprKind::constant:
      return quoted(program, as<Constant>(expr).value);
    case ExprKind::name:
      return program.text(as<Name>(expr).name);
    case ExprKind::binary:
      return cat("(", constraint_text(program, as<Binary>(expr).left), " ",
                 spelling(as<Binary>(expr).op), " ",
                 constraint_text(program, as<Binary>(expr).right), ")");
    case ExprKind::negation:
      return cat("(not ", constraint_text(program, as<Negation>(expr).operand), ")");
    case ExprKind::list: {
      std::string made = "[";
      for (const Expr* item : as<ListExpr>(expr).items)
        made += cat(made.size() > 1 ? "," : "", constraint_text(program, item));
      return cat(made, "]");
    }
    case ExprKind::dict: {
      std::string made = "{";
      for (const DictItem& item : as<DictExpr>(expr).items)
        made += cat(made.size() > 1 ? ", " : "", python::quoted(item.key->view), ": ",
                    constraint_text(program, item.value));
      return cat(made, "}");
    }
    case ExprKind::call: {
      std::string made = cat(program.text(as<Call>(expr).function), "(");
      for (const Argument& argument : as<Call>(expr).arguments)
        made += cat(made.ends_with('(') ? "" : ",", constraint_text(program, argument.value));
      return cat(made, ")");
    }
    default:
      return "...";
  }
}

}  // namespace fettle::model
