#pragma once
/// A template as tokens: texts, and what stands between `{{` and `}}`.

#include "base/result.h"
#include "template/go/node.h"

namespace fettle::go_template {

struct Token {
  enum Type {
    text,
    left,
    right,
    identifier,
    field,
    variable,
    dot,
    string,
    character,
    number,
    boolean,
    nil,
    open,
    close,
    pipe,
    comma,
    declare,
    assign,
    space,
    other,  ///< a printable character that means nothing
    end
  } type = end;
  std::string value;  ///< as written; of a string its contents
  Place place;
  size_t offset = 0;
};

Result<std::vector<Token>> lex(const std::string& name, std::string_view source);

/// The error of a template at a place, worded as Go words it.
Error error_at(const std::string& name, Place place, std::string message);

}  // namespace fettle::go_template
