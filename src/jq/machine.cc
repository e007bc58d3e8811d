#include "jq/machine.h"

#include "base/text.h"
#include "jq/paths.h"
#include "jq/text_form.h"

namespace fettle::jq {

Machine::Machine(const Program& program, Json input) : value_(std::move(input)) {
  node_ = program.main->body;
  home_ = &activate(*program.main, nullptr);
}

std::optional<Answer> Machine::next() {
  if (result_) {
    goes_back_ = true;
    if (std::optional<Choice> oldest = std::exchange(oldest_, std::nullopt))
      Budget::current().take(sizeof(Choice)), choices_.push_back(std::move(*oldest));
  }
  result_.reset();
  return run() ? std::move(result_) : std::nullopt;
}

/// Runs until there is a result. False: there is none.
bool Machine::run() {
  while (Budget::current().spend(1)) {
    if (goes_back_ && choices_.empty()) {
      if (!failure_)
        return false;
      result_ = tl::unexpected(std::move(*std::exchange(failure_, std::nullopt)));
      return true;
    }
    if (goes_back_) {
      back();
    } else if (node_ != nullptr) {
      evaluate();
    } else if (frame_ == nullptr) {
      result_ = Answer(value_);
      return true;
    } else {
      const Frame& frame = *frame_;
      frame_ = frame.next;
      receive(frame);
    }
  }
  return false;
}

void Machine::go(const Node* node, const Activation* home, Json value) {
  node_ = node;
  home_ = home;
  value_ = std::move(value);
}

void Machine::emit(Json value) {
  node_ = nullptr;
  value_ = std::move(value);
}

void Machine::fail(Failure failure) {
  failure_ = std::move(failure);
  goes_back_ = true;
}

void Machine::answer(Answer given) {
  if (given)
    emit(std::move(*given));
  else
    fail(std::move(given).error());
}

Machine::Frame& Machine::push(Step step, const Node* node) {
  Budget::current().take(sizeof(Frame));
  Frame& frame = frames_.emplace_back(Frame{.step = step,
                                            .node = node,
                                            .home = home_,
                                            .next = frame_,
                                            .held = value_,
                                            .quiet = quiet_,
                                            .path = path_});
  frame_ = &frame;
  return frame;
}

Machine::Choice& Machine::choose(Sort sort, const Node* node) {
  Budget::current().take(sizeof(Choice));
  return choices_.emplace_back(Choice{.sort = sort,
                                      .node = node,
                                      .home = home_,
                                      .frame = frame_,
                                      .path = path_,
                                      .quiet = quiet_,
                                      .value = value_,
                                      .marks = marks()});
}

Machine::Cell& Machine::cell(Json value) {
  Budget::current().take(sizeof(Cell));
  cells_.emplace_back();
  cells_.back().value = std::move(value);
  return cells_.back();
}

Machine::Marks Machine::marks() const {
  return {frames_.size(), paths_.size(), activations_.size(), cells_.size()};
}

namespace {
template <typename Things>
void shorten(Things& things, size_t size) {
  if (things.size() > size)
    Budget::current().give_back((things.size() - size) * sizeof(typename Things::value_type));
  while (things.size() > size)
    things.pop_back();
}
}  // namespace

void Machine::give_up(const Marks& marks) {
  shorten(frames_, marks.frames);
  shorten(paths_, marks.paths);
  shorten(activations_, marks.activations);
  shorten(cells_, marks.cells);
}

void Machine::cut(size_t choices) { shorten(choices_, choices); }

/// Goes back to the newest choice or, after a failure, to one that handles it.
void Machine::back() {
  Choice choice = std::move(choices_.back());
  cut(choices_.size() - 1);
  give_up(choice.marks);
  if (failure_ && !catches(choice)) {
    if (choices_.empty())
      oldest_ = std::move(choice);
    return;
  }
  goes_back_ = false;
  home_ = choice.home;
  frame_ = choice.frame;
  path_ = choice.path;
  quiet_ = choice.quiet;
  emit(choice.value);
  if (std::optional<Failure> caught = std::exchange(failure_, std::nullopt))
    handle(choice, std::move(*caught));
  else
    resume(choice);
}

bool Machine::catches(const Choice& choice) {
  switch (choice.sort) {
    case Sort::body_done:
      ++failure_->bodies_left;
      return false;
    case Sort::attempt:
      if (failure_->bodies_left > 0) {
        --failure_->bodies_left;
        return false;
      }
      return failure_->sort == Failure::Sort::raised;
    case Sort::label:
      return failure_->sort == Failure::Sort::left && failure_->label == choice.label;
    case Sort::patterns:
      return true;
    default:
      return false;
  }
}

void Machine::handle(const Choice& choice, Failure failure) {
  if (choice.sort == Sort::patterns)
    try_pattern(*choice.node, choice.index);
  else if (choice.sort == Sort::attempt && choice.node->b != nullptr)
    go(choice.node->b, choice.home, std::move(failure.value));
  else
    goes_back_ = true;
}

void Machine::resume(Choice& choice) {
  switch (choice.sort) {
    case Sort::branch:
      node_ = choice.node;
      return;
    case Sort::alternative:
      node_ = choice.node;
      goes_back_ = choice.cell->is_found;
      return;
    case Sort::attempt:
    case Sort::body_done:
    case Sort::patterns:
    case Sort::label:
      goes_back_ = true;
      return;
    case Sort::end_of_list:
      emit(choice.cell->list());
      return;
    case Sort::end_of_loop:
      emit(state_of(*choice.node).value);
      return;
    case Sort::items:
      next_item(choice);
      return;
    case Sort::range:
      next_number(choice);
      return;
    case Sort::not_modified:
      choice.cell->append(choice.value);
      goes_back_ = true;
      return;
    case Sort::end_of_modify:
      answer(delete_paths(std::move(choice.cell->value), choice.cell->list()));
      return;
  }
}

void Machine::evaluate() {
  const Node& node = *std::exchange(node_, nullptr);
  switch (node.op) {
    case Op::identity:
      return;
    case Op::constant:
      value_ = node.key;
      return;
    case Op::variable:
      value_ = slot(node).value;
      return;
    case Op::argument:
      return enter(slot(node).closure, value_);
    case Op::body:
      return enter({&node, home_}, value_);
    case Op::call:
      return call(node);
    case Op::native:
    case Op::range:
      return next_argument(node, nullptr, value_, node.parts.size());
    case Op::pipe:
      push(Step::pipe, &node);
      node_ = node.a;
      return;
    case Op::comma:
      choose(Sort::branch, node.b);
      node_ = node.a;
      return;
    case Op::alternative: {
      Cell& found = cell({});
      choose(Sort::alternative, node.b).cell = &found;
      push(Step::found, &node).cell = &found;
      node_ = node.a;
      return;
    }
    case Op::condition:
      push(Step::chosen, &node);
      ++quiet_;
      node_ = node.a;
      return;
    case Op::attempt:
      choose(Sort::attempt, &node);
      push(Step::body_done, &node);
      node_ = node.a;
      return;
    case Op::reduce:
    case Op::foreach:
      push(Step::start, &node);
      node_ = node.b;
      return;
    case Op::bind:
      push(Step::bound, &node);
      ++quiet_;
      node_ = node.a;
      return;
    case Op::choices:
      return try_pattern(node, 0);
    case Op::label:
      (*home_->slots)[node.slot].label = ++labels_;
      choose(Sort::label, &node).label = labels_;
      node_ = node.a;
      return;
    case Op::leave:
      return fail({.sort = Failure::Sort::left, .label = slot(node).label});
    case Op::list: {
      Cell& items = cell({});
      choose(Sort::end_of_list, &node).cell = &items;
      push(Step::append, &node).cell = &items;
      node_ = node.a;
      return;
    }
    case Op::object:
      return next_member(node, nullptr, value_, 0);
    case Op::iterate:
      return iterate();
    case Op::at:
    case Op::at_item:
      return index(node);
    case Op::path:
      push(Step::path_done, &node);
      return begin_path(node.a);
    case Op::set:
      push(Step::assign, &node);
      node_ = node.a;
      return;
    case Op::modify:
      return begin_modify(node);
    case Op::empty:
      goes_back_ = true;
      return;
  }
}

/// Passes a value to what is left to do.
void Machine::receive(const Frame& frame) {
  const Node& node = *frame.node;
  home_ = frame.home;
  switch (frame.step) {
    case Step::pipe:
      node_ = node.b;
      return;
    case Step::found:
      goes_back_ = !value_.is_true();
      frame.cell->is_found |= !goes_back_;
      return;
    case Step::chosen:
      quiet_ = frame.quiet;
      return go(value_.is_true() ? node.b : node.c, frame.home, frame.held);
    case Step::body_done:
      choose(Sort::body_done, &node);
      return;
    case Step::start:
      return begin_loop(frame);
    case Step::item:
      (*home_->slots)[node.slot].value = value_;
      push(Step::updated, &node);
      return go(node.c, frame.home, {});
    case Step::updated:
      state_of(node).value = value_;
      goes_back_ = node.op == Op::reduce;
      node_ = node.d;
      return;
    case Step::bound:
      (*home_->slots)[node.slot].value = value_;
      quiet_ = frame.quiet;
      return go(node.b, frame.home, frame.held);
    case Step::append:
      frame.cell->append(value_);
      goes_back_ = true;
      return;
    case Step::member:
      return take_member(frame);
    case Step::argument:
      return take_argument(frame);
    case Step::by_value:
      return take_by_value(frame);
    case Step::path_done:
      return end_path(frame);
    case Step::assign: {
      Json made = frame.held;
      if (std::optional<Failure> refused = set_path(made, node.key, value_))
        return fail(std::move(*refused));
      return emit(std::move(made));
    }
    case Step::modify_path:
      return modify(frame);
    case Step::modified:
      return modified(frame);
  }
}

Machine::Slot& Machine::state_of(const Node& loop) const {
  return (*home_->slots)[loop.slots.front()];
}

void Machine::begin_loop(const Frame& frame) {
  const Node& node = *frame.node;
  state_of(node).value = value_;
  if (node.op == Op::reduce)
    choose(Sort::end_of_loop, &node);
  push(Step::item, &node);
  go(node.a, frame.home, frame.held);
}

/// Tries the pattern at a place. If it, or what follows, fails, the next one is tried.
void Machine::try_pattern(const Node& node, size_t at) {
  for (const uint32_t slot : node.slots)
    (*home_->slots)[slot].value = {};
  if (at + 1 < node.parts.size())
    choose(Sort::patterns, &node).index = at + 1;
  node_ = node.parts[at];
}

Json Machine::Cell::list() {
  Budget::current().give_back(items.size() * sizeof(Json));
  return Json::list(std::exchange(items, {}));
}

void Machine::Cell::append(Json item) {
  if (Budget::current().take(sizeof(Json)))
    items.push_back(std::move(item));
}

Machine::Cell::~Cell() { Budget::current().give_back(items.size() * sizeof(Json)); }

}  // namespace fettle::jq
