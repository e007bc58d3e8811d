#pragma once
/// Makes lines of a tree: one a statement, or head of a block, however long it is.

#include <functional>

#include "starlark/format/line.h"

namespace fettle::starlark::layout {

/// Walks a tree once. Tokens get their comments, spaces and spelling on the way.
class LineMaker {
 public:
  /// Gets each line that is not empty, in their order.
  using Take = std::function<void(Line)>;

  LineMaker(Parts& parts, Take take) : parts_(parts), take_(std::move(take)) {}

  void visit(Part* part);

 private:
  void end_line(int deeper = 0);
  void visit_children(Part* phrase);
  void visit_statement(Part* statement);
  void visit_simple_statement(Part* statement);
  void visit_chain(Part* chain);
  void visit_token(Part* token);
  void visit_own_comment(Part* comment);
  void append_token(Part* token);

  Parts& parts_;
  Take take_;
  Line line_;
};

}  // namespace fettle::starlark::layout
