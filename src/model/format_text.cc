#include <cstdio>

#include "base/text.h"
#include "model/machine.h"
#include "model/text_form.h"

namespace fettle::model {
namespace {

struct Spec {
  std::string fill = " ";
  char align = 0;
  char sign = '-';
  size_t width = 0;
  int precision = -1;
  char type = 0;
};

bool read_spec(std::string_view text, Spec& spec) {
  size_t at = 0;
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  if (text.size() > 1 && is_align(text[1])) {
    spec.fill = text.substr(0, 1);
    spec.align = text[1];
    at = 2;
  } else if (!text.empty() && is_align(text[0])) {
    spec.align = text[0];
    at = 1;
  }
  if (at < text.size() && (text[at] == '+' || text[at] == '-' || text[at] == ' '))
    spec.sign = text[at++];
  if (at < text.size() && text[at] == '0' && spec.align == 0) {
    spec.fill = "0";
    spec.align = '=';
    ++at;
  }
  const auto number = [&](size_t& value) {
    const size_t start = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && value < 100'000; ++at)
      value = value * 10 + static_cast<size_t>(text[at] - '0');
    return at > start;
  };
  number(spec.width);
  if (at < text.size() && text[at] == '.') {
    ++at;
    size_t precision = 0;
    if (!number(precision) || precision > 300)
      return false;
    spec.precision = static_cast<int>(precision);
  }
  if (at < text.size())
    spec.type = text[at++];
  return at == text.size() && spec.width < 100'000;
}

std::string number_text(const Program& program, const Datum& value, const Spec& spec,
                        bool& is_good) {
  char buffer[700];
  if (spec.type == 'f' || spec.type == 'e' || spec.type == 'g' || spec.type == '%') {
    const double number = as_float(value) * (spec.type == '%' ? 100 : 1);
    const int precision = spec.precision < 0 ? 6 : spec.precision;
    const char* form = spec.type == 'e' ? "%.*e" : spec.type == 'g' ? "%.*g" : "%.*f";
    std::snprintf(buffer, sizeof buffer, form, precision, number);
    return spec.type == '%' ? cat(buffer, "%") : std::string(buffer);
  }
  if (value.tag != Tag::floating && (spec.type == 'x' || spec.type == 'X' || spec.type == 'o')) {
    const char* form = spec.type == 'x' ? "%llx" : spec.type == 'X' ? "%llX" : "%llo";
    std::snprintf(buffer, sizeof buffer, form,
                  static_cast<unsigned long long>(std::abs(as_integer(value))));
    return cat(as_integer(value) < 0 ? "-" : "", buffer);
  }
  is_good = spec.type == 0 || (spec.type == 'd' && value.tag != Tag::floating);
  if (value.tag == Tag::floating && spec.precision >= 0) {
    std::snprintf(buffer, sizeof buffer, "%.*g", spec.precision, value.floating);
    return buffer;
  }
  return value.tag == Tag::boolean ? std::to_string(as_integer(value)) : text_of(program, value);
}

}  // namespace

bool format_with(const Program& program, const Datum& value, std::string_view text,
                 std::string& made, std::string& error) {
  Spec spec;
  bool is_good = read_spec(text, spec);
  std::string shown;
  if (value.is_number()) {
    shown = number_text(program, value, spec, is_good);
    if (spec.sign != '-' && !shown.starts_with('-'))
      shown.insert(0, 1, spec.sign);
  } else {
    shown = text_of(program, value);
    is_good = is_good && (spec.type == 0 || spec.type == 's') && spec.align != '=';
    if (spec.precision >= 0 && shown.size() > static_cast<size_t>(spec.precision))
      shown.resize(static_cast<size_t>(spec.precision));
  }
  if (!is_good) {
    error = cat("Invalid format specifier '", text, "'");
    return false;
  }
  size_t length = 0;
  for (const char c : shown)
    length += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  const size_t missing = spec.width > length ? spec.width - length : 0;
  const char align = spec.align != 0 ? spec.align : value.is_number() ? '>' : '<';
  const size_t before = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  const bool has_sign = align == '=' && !shown.empty() && (shown[0] == '-' || shown[0] == '+');
  if (has_sign) {
    made.push_back(shown[0]);
    shown.erase(0, 1);
  }
  made.append(before, spec.fill[0]);
  made += shown;
  made.append(missing - before, spec.fill[0]);
  return true;
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
