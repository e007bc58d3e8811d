#include "base/text.h"
#include "jq/machine.h"
#include "jq/paths.h"
#include "jq/text_form.h"

namespace fettle::jq {
namespace {

bool is_by_value(const std::string& parameter) { return parameter.starts_with('$'); }

}  // namespace

const Machine::Activation* Machine::outwards(uint32_t hops) const {
  if (hops == from_outside)
    return nullptr;
  const Activation* found = home_;
  for (; hops > 0; --hops)
    found = found->outer;
  return found;
}

Machine::Slot& Machine::slot(const Node& node) const {
  return (*outwards(node.hops)->slots)[node.slot];
}

Machine::Activation& Machine::activate(const Function& function, const Activation* outer) {
  Budget::current().take(sizeof(Activation) + function.slots * sizeof(Slot));
  activations_.emplace_back();
  Activation& made = activations_.back();
  made.outer = outer;
  made.slots = std::make_unique<std::vector<Slot>>(function.slots);
  return made;
}

Machine::Activation::~Activation() {
  if (slots != nullptr)
    Budget::current().give_back(slots->size() * sizeof(Slot));
}

void Machine::enter(const Closure& closure, Json value) {
  const Function* const function = closure.node->function;
  if (function == nullptr)
    go(closure.node->a, closure.home, std::move(value));
  else
    go(function->body, &activate(*function, closure.home), std::move(value));
}

void Machine::call(const Node& node) {
  const Function& function = *node.function;
  Activation& made = activate(function, outwards(node.hops));
  for (size_t i = 0; i < node.parts.size(); ++i)
    (*made.slots)[i].closure = {node.parts[i], home_};
  bind_by_value(function, &made, 0, value_);
}

/// Evaluates the parameters by value, from one on, and then the function.
void Machine::bind_by_value(const Function& function, const Activation* made, size_t from,
                            Json value) {
  home_ = made;
  value_ = std::move(value);
  for (size_t i = from; i < function.parameters.size(); ++i)
    if (is_by_value(function.parameters[i])) {
      Frame& frame = push(Step::by_value, function.body);
      frame.function = &function;
      frame.index = i;
      ++quiet_;
      return enter((*made->slots)[i].closure, value_);
    }
  node_ = function.body;
}

void Machine::take_by_value(const Frame& frame) {
  const Function& function = *frame.function;
  const auto begin = function.parameters.begin();
  const auto earlier =
      std::count_if(begin, begin + static_cast<std::ptrdiff_t>(frame.index), is_by_value);
  const size_t slot = function.parameters.size() + static_cast<size_t>(earlier);
  (*frame.home->slots)[slot].value = value_;
  quiet_ = frame.quiet;
  bind_by_value(function, frame.home, frame.index + 1, frame.held);
}

/// The last argument is evaluated first, so that the first one changes fastest.
void Machine::next_argument(const Node& node, const Frame* computed, Json held, size_t left) {
  value_ = std::move(held);
  if (left == 0)
    return compute(node, computed);
  Frame& frame = push(Step::argument, &node);
  frame.index = left - 1;
  frame.computed = computed;
  if (frame.index >= node.quiet_from)
    ++quiet_;
  node_ = node.parts[frame.index];
}

void Machine::take_argument(const Frame& frame) {
  quiet_ = frame.quiet;
  // Uses another frame, since this one may get another value later.
  Frame& kept = push(Step::argument, frame.node);
  frame_ = frame.next;
  kept.held = value_;
  kept.computed = frame.computed;
  next_argument(*frame.node, &kept, frame.held, frame.index);
}

void Machine::compute(const Node& node, const Frame* computed) {
  std::vector<Json> arguments;
  for (; computed != nullptr; computed = computed->computed)
    arguments.push_back(computed->held);
  if (node.op == Op::range)
    return begin_range(arguments);
  uint64_t weight = weight_of(value_);
  for (const Json& argument : arguments)
    weight += weight_of(argument);
  if (!Budget::current().spend(weight))
    return;
  Answer made = node.native->compute(value_, arguments);
  if (!made)
    return fail(std::move(made).error());
  follow(node, arguments, std::move(*made));
}

void Machine::begin_range(const std::vector<Json>& limits) {
  for (const Json& limit : limits)
    if (!limit.is_number())
      return fail(jq::fail("range cannot be applied to: ", typed_preview(limit)).value());
  Choice range{.sort = Sort::range,
               .frame = frame_,
               .path = path_,
               .quiet = quiet_,
               .value = limits[0],
               .step = Json::list({limits[1], limits[2]}),
               .marks = marks()};
  range.home = home_;
  next_number(range);
}

/// `value` is the number, `step` has the end and what is added.
void Machine::next_number(Choice& choice) {
  const Json &end = choice.step.items()[0], &step = choice.step.items()[1];
  if (compare(step, Json::integer(0)) * compare(choice.value, end) >= 0) {
    goes_back_ = true;
    return;
  }
  const Json number = choice.value;
  const std::array<Json, 2> sum{number, step};
  choice.value = *find_native("_add", 2)->compute({}, sum);
  Budget::current().take(sizeof(Choice));
  choices_.push_back(std::move(choice));
  emit(number);
}

/// Keys and values are evaluated in their order, so that the last one changes fastest.
void Machine::next_member(const Node& node, const Frame* computed, Json held, size_t at) {
  value_ = std::move(held);
  if (at == node.parts.size())
    return make_dict(computed);
  const Node* const part = node.parts[at];
  Frame& frame = push(Step::member, &node);
  frame.index = at;
  frame.computed = computed;
  if (part != nullptr) {
    node_ = part;
    return;
  }
  // The key was computed and has no value: it takes what `.` has there.
  index_by(computed->held);
}

void Machine::take_member(const Frame& frame) {
  Frame& kept = push(Step::member, frame.node);
  frame_ = frame.next;
  kept.held = value_;
  kept.computed = frame.computed;
  next_member(*frame.node, &kept, frame.held, frame.index + 1);
}

void Machine::make_dict(const Frame* computed) {
  Json::Dict members;
  for (; computed != nullptr; computed = computed->computed->computed) {
    const Json& key = computed->computed->held;
    if (!key.is_text())
      return fail(
          jq::fail("expected a string for object key but got: ", typed_preview(key)).value());
    members.push_back({key, computed->held});
  }
  std::ranges::reverse(members);
  emit(Json::dict(std::move(members)));
}

}  // namespace fettle::jq
