#include "kinds/print.h"

#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {

const Members& Message::members() {
  static const Members all{required<&Message::message>("message", "any value")};
  return all;
}

const TypedKind& print_kind() {
  static const KindOf<Message, Message> kind("print", Sort::action);
  return kind;
}

}  // namespace fettle
