#include "base/text.h"
#include "jq/machine.h"
#include "jq/paths.h"
#include "jq/text_form.h"

namespace fettle::jq {
namespace {

Failure invalid_path(std::string_view doing, const Json& value) {
  return fail("invalid path ", doing, "against: ", typed_preview(value)).value();
}

}  // namespace

/// Whether a value is the one to which the path leads, and was not computed.
bool Machine::is_intact(const Json& value) const { return value.is_same(path_->value); }

void Machine::step_to(Json key, Json value) {
  Budget::current().take(sizeof(Path));
  paths_.push_back({path_, std::move(key), std::move(value), false});
  path_ = &paths_.back();
}

/// Takes the result of a function, and its effect on the path.
void Machine::follow(const Node& node, const std::vector<Json>& arguments, Json value) {
  if (is_tracking() && node.moves != Moves::nothing) {
    const Json& from = node.moves == Moves::getpath ? value_ : arguments[0];
    if (!is_intact(from))
      return fail(invalid_path("", from));
    if (node.moves == Moves::index)
      step_to(arguments[1], value);
    if (node.moves == Moves::slice)
      step_to(Json::dict({{Json::text("start"), arguments[2]}, {Json::text("end"), arguments[1]}}),
              value);
    if (node.moves == Moves::getpath)
      for (const Json& key : arguments[0].items())
        step_to(key, value);
  }
  emit(std::move(value));
}

void Machine::index(const Node& node) {
  if (node.op == Op::at_item && !value_.is_null() && !value_.is_list())
    return fail(jq::fail("expected an array but got: ", typed_preview(value_)).value());
  index_by(node.key);
}

void Machine::index_by(const Json& key) {
  Answer found = index_value(value_, key);
  if (!found)
    return fail(std::move(found).error());
  if (is_tracking()) {
    if (!is_intact(value_))
      return fail(invalid_path("", value_));
    step_to(key, *found);
  }
  emit(std::move(*found));
}

void Machine::iterate() {
  if (!value_.is_list() && !value_.is_dict())
    return fail(jq::fail("cannot iterate over: ", typed_preview(value_)).value());
  if (is_tracking() && !is_intact(value_))
    return fail(invalid_path("on iterating ", value_));
  Choice items{.sort = Sort::items,
               .frame = frame_,
               .path = path_,
               .quiet = quiet_,
               .value = value_,
               .marks = marks()};
  items.home = home_;
  next_item(items);
}

void Machine::next_item(Choice& choice) {
  const Json all = choice.value;
  const size_t at = choice.index, size = all.is_list() ? all.items().size() : all.members().size();
  if (at >= size) {
    goes_back_ = true;
    return;
  }
  if (at + 1 < size) {
    choice.index = at + 1;
    Budget::current().take(sizeof(Choice));
    choices_.push_back(std::move(choice));
  }
  emit(all.is_list() ? all.items()[at] : all.members()[at].value);
  if (is_tracking())
    step_to(all.is_list() ? Json::integer(static_cast<int64_t>(at)) : all.members()[at].key,
            value_);
}

void Machine::begin_path(const Node* of) {
  paths_.push_back({path_, {}, value_, true});
  path_ = &paths_.back();
  quiet_ = 0;
  node_ = of;
}

void Machine::end_path(const Frame& frame) {
  if (!is_intact(value_))
    return fail(invalid_path("", value_));
  Json::List keys;
  for (const Path* step = path_; !step->is_root; step = step->before)
    keys.push_back(step->key);
  std::ranges::reverse(keys);
  path_ = frame.path;
  quiet_ = frame.quiet;
  emit(Json::list(std::move(keys)));
}

/// `a |= b`: for each path of `a`, the first result of `b`. If there is none, the place is removed
/// at the end.
void Machine::begin_modify(const Node& node) {
  Cell& state = cell(value_);
  choose(Sort::end_of_modify, &node).cell = &state;
  push(Step::modify_path, &node).cell = &state;
  push(Step::path_done, &node);
  begin_path(node.a);
}

void Machine::modify(const Frame& frame) {
  const Json path = value_;
  const size_t choices = choices_.size();
  choose(Sort::not_modified, frame.node).cell = frame.cell;
  Answer found = get_path(frame.cell->value, path);
  if (!found)
    return fail(std::move(found).error());
  Frame& next = push(Step::modified, frame.node);
  next.cell = frame.cell;
  next.index = choices;
  go(frame.node->b, frame.home, std::move(*found));
}

void Machine::modified(const Frame& frame) {
  if (std::optional<Failure> refused = set_path(frame.cell->value, frame.held, value_))
    return fail(std::move(*refused));
  cut(frame.index);
  goes_back_ = true;
}

}  // namespace fettle::jq
