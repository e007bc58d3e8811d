#include "model/evaluate/tasks.h"

#include "model/evaluate/constructors.h"
#include "model/evaluate/statements.h"
#include "model/evaluate/streams.h"

namespace fettle::model {

Step Tasks::execute(Task& task) {
  switch (task.kind) {
    case Task::Kind::statement:
      return statements_.execute_statement(task);
    case Task::Kind::promise:
      return statements_.execute_promise(task);
    case Task::Kind::implement:
      return statements_.execute_implement(task);
    case Task::Kind::argument:
      return constructors_.execute_argument(task);
    case Task::Kind::member:
      return streams_.execute_member(task);
    case Task::Kind::stream:
      return streams_.execute_stream(task);
    case Task::Kind::guard:
      return streams_.execute_guard(task);
    case Task::Kind::element:
      return streams_.execute_element(task);
  }
  return Step::done;
}

bool Tasks::run(Task& task) {
  const ScopeGuard running(now_, Underway{&task, task.contributor(), task.depth()});
  const size_t mark = schedule_.mark();
  const Step step = execute(task);
  if (step == Step::fail || errors_) {
    errors_.tell(task);
    return false;
  }
  if (step == Step::wait) {
    schedule_.block(task);
    schedule_.keep(task, mark);
  } else if (task.missing == 0) {
    schedule_.end(&task);
  }
  schedule_.drop(mark);
  return true;
}

}  // namespace fettle::model
