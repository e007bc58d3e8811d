#include "model/evaluate/plugin_context.h"

#include "model/evaluate/cells.h"
#include "model/evaluate/evaluator.h"
#include "model/evaluate/type_checks.h"

namespace fettle::model {

bool PluginContext::accepts(const Type& type, const Datum& value, Reason& why) {
  return types_.accepts(type, value, why);
}

Step PluginContext::read_attribute(Instance* instance, uint32_t slot, Datum& value, Place at) {
  return cells_.read(instance, slot, value, at);
}

void PluginContext::on_behalf_of(Task& task, const std::function<void()>& work) {
  const ScopeGuard running(now_, Underway{&task, task.contributor(), task.depth()});
  const size_t mark = schedule_.mark();
  work();
  schedule_.drop(mark);
}

bool PluginContext::construct(Entity& entity, const Datum& attributes, const Call& at,
                              Datum& made) {
  if (now_.task == nullptr || now_.is_checking)
    return false;
  Constant* const given =
      program_.arena.make<Constant>(Expr{ExprKind::constant, at.at}, attributes);
  Constructor* const node = program_.arena.make<Constructor>(Expr{ExprKind::constructor, at.at});
  const Argument all{.value = given, .is_unpacked = true, .at = at.at};
  node->type.name = entity.name;
  node->type.at = at.at;
  node->arguments = program_.arena.copy(std::span<const Argument>(&all, 1));
  node->entity = &entity;
  return evaluator_.evaluate(node, nullptr, made) == Step::done;
}

Member PluginContext::member(Instance* instance, uint32_t slot) {
  using State = Member::State;
  Member made;
  if (!cells_.read_or_null(instance, slot, made.value))
    return {State::waits, Datum()};
  const bool is_option = instance->entity->slots[slot]->shape == Shape::option;
  made.state = is_option && made.value.tag == Tag::null ? State::unset : State::there;
  return made;
}

Step PluginContext::read_visible(const Call& node, Frame* frame, std::string_view name,
                                 Datum& value) {
  for (const Name* visible : node.visible)
    if (program().symbols.name(visible->name.name) == name) {
      const bool is_of_child = visible->found == NameKind::child_attribute;
      if (visible->found != NameKind::self_attribute && !is_of_child)
        return evaluator_.evaluate_name(*visible, frame, value);
      Instance* const self = frame->self();
      const uint32_t slot = self->entity->slot(visible->name.name);
      if (slot == no_slot)
        return visible->is_global_otherwise ? evaluator_.evaluate_name(*visible, frame, value)
                                            : Step::fail;
      const Member found = member(self, slot);
      value = found.value;
      return found.state == Member::State::there   ? Step::done
             : found.state == Member::State::waits ? Step::wait
                                                   : Step::fail;
    }
  return Step::fail;
}

}  // namespace fettle::model
