#include "base/text.h"
#include "model/program/describe.h"
#include "model/program/text_form.h"
#include "model/values/numbers.h"
#include "value/python.h"

namespace fettle::model {

bool format_with(const Program& program, const Datum& value, std::string_view spec,
                 std::string& made, std::string& error) {
  const Result<std::string> shown =
      value.tag == Tag::floating ? python::format_real(value.floating, spec)
      : value.is_number() && !(spec.empty() && value.tag == Tag::boolean)
          ? python::format_whole(digits_of(value), spec)
          : python::format_text(text_of(program, value), spec);
  if (shown)
    made += *shown;
  else
    error = shown.error().message;
  return shown.has_value();
}

std::string constraint_text(const Program& program, const Expr* expr) {
  return describe(program, expr);
}

}  // namespace fettle::model
