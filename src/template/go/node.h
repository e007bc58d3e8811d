#pragma once
/// The tree of a parsed template.

#include <memory>
#include <string>
#include <vector>

#include "value/value.h"

namespace fettle::go_template {

struct Place {
  int line = 0, column = 0;
};

struct Pipe;

/// An operand of a command.
struct Operand {
  enum Type { literal, nil, dot, field, variable, function, pipe } type = dot;
  Value value;                      ///< literal
  std::string name;                 ///< variable (with `$`), function
  std::vector<std::string> fields;  ///< `.a.b` behind a dot, variable or pipe
  std::unique_ptr<Pipe> inner;
  Place place;
  std::string text;  ///< as written, for errors
};

/// `a b c`: a function or value with its arguments.
struct Command {
  std::vector<Operand> operands;
};

/// `$x, $y := command | command`.
struct Pipe {
  std::vector<std::string> variables;
  bool assigns = false;  ///< `=` in place of `:=`
  std::vector<Command> commands;
  Place place;
  std::string text;
};

struct Node {
  enum Type {
    list,
    text,
    action,
    branch_if,
    branch_with,
    loop,
    call,
    break_loop,
    continue_loop
  } type = list;
  std::string text_;  ///< text; name of a called template
  std::unique_ptr<Pipe> pipe;
  std::vector<std::unique_ptr<Node>> children;  ///< of a list
  std::unique_ptr<Node> then, otherwise;
  Place place;
};

}  // namespace fettle::go_template
