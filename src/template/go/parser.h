#pragma once
/// Tokens as a tree.

#include <map>

#include "template/go/lexer.h"

namespace fettle::go_template {

struct ParseResult {
  std::unique_ptr<Node> root;
  std::map<std::string, std::unique_ptr<Node>> defined;
};

Result<ParseResult> parse(const std::string& name, std::string_view source);

}  // namespace fettle::go_template
