#pragma once
#include "template/jinja/lexer.h"
#include "template/jinja/node.h"

namespace fettle::jinja {

/// Parses a template. Errors are worded as Jinja2 words them, with template and line in `where`.
Result<std::shared_ptr<const Tree>> parse(const std::string& name, std::string_view source,
                                          const Syntax& syntax);

}  // namespace fettle::jinja
