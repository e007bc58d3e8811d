#pragma once
/// The services of the evaluation for plugins.

#include <functional>

#include "model/evaluate/make_value.h"
#include "model/evaluate/state.h"

namespace fettle::model {

class Cells;
class Evaluator;
class TypeChecks;

/// The value that an instance has under a name. An option without a value is not set, which is not
/// null.
struct Member {
  enum class State : uint8_t { there, unset, waits };
  State state = State::unset;
  Datum value;
};

class PluginContext {
 public:
  PluginContext(State& state, Cells& cells, Evaluator& evaluator, TypeChecks& types,
                std::function<void(std::string_view)> print)
      : program_(state.program),
        contributions_(state.contributions),
        instances_(state.instances),
        schedule_(state.schedule),
        now_(state.now),
        cells_(cells),
        evaluator_(evaluator),
        types_(types),
        print_(std::move(print)) {}

  Program& program() { return program_; }
  Budget& budget() { return *program_.budget; }
  void print(std::string_view line) { print_(line); }
  std::span<Instance* const> instances() const { return instances_.all(); }

  Datum make_text(std::string_view text) { return model::make_text(program(), text); }
  Datum make_list(std::span<const Datum> items) { return model::make_list(program(), items); }
  Datum make_dict(std::span<const DictEntry> entries) {
    return model::make_dict(program(), entries);
  }

  /// Checks a value against a type. If it does not fit, `why` says what is wrong.
  bool accepts(const Type& type, const Datum& value, Reason& why);
  /// Reads an attribute of an instance, and waits for it.
  Step read_attribute(Instance* instance, uint32_t slot, Datum& value, Place at);
  /// The same for an attribute that may be missing.
  Member member(Instance* instance, uint32_t slot);
  /// Reads a variable that is visible at a plugin's call. `Step::fail`: there is none of that name,
  /// or it is an option that is not set.
  Step read_visible(const Call& node, Frame* frame, std::string_view name, Datum& value);
  /// Does something as if a task that waits were running: it may begin to wait for more.
  void on_behalf_of(Task& task, const std::function<void()>& work);
  /// The instance with these attributes, a dict, as a constructor at a place makes it. False: that
  /// failed, or nothing can be made here.
  bool construct(Entity& entity, const Datum& attributes, const Call& at, Datum& made);
  /// The plugin will give to nobody else what it gives to the present task.
  void allocate(const Datum& value) { contributions_.allocate(value); }
  /// How many things the present task misses, for which it will come again.
  int missing() const { return now_.task->missing; }

 private:
  Program& program_;
  Contributions& contributions_;
  const Instances& instances_;
  Schedule& schedule_;
  Underway& now_;
  Cells& cells_;
  Evaluator& evaluator_;
  TypeChecks& types_;
  std::function<void(std::string_view)> print_;
};

}  // namespace fettle::model
