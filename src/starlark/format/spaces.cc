#include "starlark/format/spaces.h"

namespace fettle::starlark::layout {
namespace {

bool is_of_subscript(const Part* part) {
  return part != nullptr && (part->kind == Kind::subscript || part->kind == Kind::slice_step);
}

bool is_math(Kind kind) {
  return kind == Kind::operation || kind == Kind::star || kind == Kind::star_star;
}

/// The first token of a phrase hugs what stands before the phrase.
bool hugs(const Part& token, const Part* before, bool is_complex) {
  if (before == nullptr || is_opening(before->kind))
    return true;
  const Part* const phrase = before->parent;
  if (token.kind == Kind::colon)
    return before->kind == Kind::colon || (before->kind != Kind::comma && !is_complex);
  if (before->kind == Kind::equal)
    return phrase != nullptr &&
           (phrase->kind == Kind::arguments || phrase->kind == Kind::argument ||
            phrase->kind == Kind::parameters || phrase->kind == Kind::lambda_parameters ||
            phrase->kind == Kind::parameter_list);
  if (before->kind == Kind::star || before->kind == Kind::star_star)
    if (is_rest_star(before))
      return true;
  if (before->kind == Kind::colon && is_of_subscript(phrase))
    return !is_complex;
  return is_math(before->kind) && phrase != nullptr && phrase->kind == Kind::sign;
}

bool is_sign_hugging(const Part& token, const Part* sibling) {
  if (sibling != nullptr)
    return token.kind == Kind::name || token.kind == Kind::number || token.kind == Kind::string;
  const Part* const before = token_before(token.parent);
  if (before == nullptr || is_opening(before->kind))
    return true;
  return (before->kind == Kind::colon && is_of_subscript(before->parent)) ||
         (before->kind == Kind::equal && before->parent->kind == Kind::argument);
}

/// What the phrase of a token says: whether the token stands without a space.
bool hugs_in_phrase(const Part& token, const Part* sibling, bool is_complex) {
  const Kind kind = token.kind;
  const bool is_after_comma = sibling != nullptr && sibling->kind == Kind::comma;
  switch (token.parent->kind) {
    case Kind::parameters:
    case Kind::arguments:
    case Kind::parameter_list:
      return !is_after_comma;
    case Kind::lambda_parameters:
      return sibling != nullptr && !is_after_comma;
    case Kind::trailer:
      return kind == Kind::open_paren || kind == Kind::close_paren ||
             (sibling == nullptr ? kind == Kind::dot || kind == Kind::open_bracket
                                 : !is_after_comma);
    case Kind::argument: {
      if (kind == Kind::equal)
        return true;
      if (sibling != nullptr)
        return sibling->kind == Kind::equal || sibling->kind == Kind::star ||
               sibling->kind == Kind::star_star;
      const Part* const before = token_before(token.parent);
      return before == nullptr || before->kind == Kind::open_paren;
    }
    case Kind::subscript:
    case Kind::slice_step:
      if (sibling == nullptr)
        return token.parent->parent->kind != Kind::subscripts;
      return !is_complex;
    case Kind::sign:
      return is_sign_hugging(token, sibling);
    default:
      return false;
  }
}

}  // namespace

bool asks_for_subscript(const Part& token) {
  if (token.kind == Kind::colon || is_of_subscript(token.parent))
    return true;
  if (token.parent == nullptr || token.place != 0)
    return false;
  const Part* const before = token_before(token.parent);
  return before != nullptr && before->kind == Kind::colon;
}

int spaces_before(const Part& token, bool is_complex) {
  if (is_closing(token.kind) || token.kind == Kind::comma || token.kind == Kind::own_comment)
    return 0;
  if (token.kind == Kind::comment)
    return 2;
  const Kind phrase = token.parent->kind;
  if (token.kind == Kind::colon && phrase != Kind::subscript && phrase != Kind::subscripts &&
      phrase != Kind::slice_step)
    return 0;
  const Part* const sibling = previous_sibling(&token);
  if (sibling == nullptr) {
    const Part* const before = token_before(token.parent);
    if (hugs(token, before, is_complex))
      return 0;
    // Decided: these do not ask what the phrase says.
    if (token.kind == Kind::colon)
      return 1;
    if (before->kind == Kind::colon && is_of_subscript(before->parent))
      return 1;
  } else if (is_opening(sibling->kind)) {
    return 0;
  }
  return hugs_in_phrase(token, sibling, is_complex) ? 0 : 1;
}

}  // namespace fettle::starlark::layout
