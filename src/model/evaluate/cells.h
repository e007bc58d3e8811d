#pragma once
/// Cells are written once. A task that reads a cell without a value waits for it; the task that
/// writes it wakes the others.

#include "model/evaluate/place_table.h"
#include "model/evaluate/state.h"

namespace fettle::model {

class Cells {
 public:
  explicit Cells(State& state)
      : program_(state.program),
        errors_(state.errors),
        contributions_(state.contributions),
        instances_(state.instances),
        relations_(state.relations),
        schedule_(state.schedule),
        now_(state.now) {}

  Step read(Cell& cell) {
    if (cell.value.is_set())
      return Step::done;
    wait_on(cell);
    return Step::wait;
  }
  /// Reads an attribute of an instance. An option without a value is an error.
  Step read(Instance* owner, uint32_t slot, Datum& value, Place at);
  /// The same for an attribute that may be missing: null for an option without a value. False: it
  /// waits or has failed.
  bool read_or_null(Instance* owner, uint32_t slot, Datum& value);
  /// The present task waits; `wants_item`: one element of a list will do.
  void wait_on(Cell& cell, bool wants_item = false) {
    if (now_.task == nullptr || now_.is_probing)
      return;
    if (now_.is_checking)
      ++now_.task->missing;
    else
      schedule_.wait(*now_.task, cell, wants_item);
  }
  /// The cell of a variable. Null: the name stands for something else.
  Cell* variable(const Name& name, Frame* frame) const;

  /// Sets the value of a cell that has none, for all that wait for it.
  void set(Cell& cell, const Datum& value, Place at);
  /// … or that has an equal one. False: it has another one.
  bool set_once(Cell& cell, const Datum& value, Place at);
  /// Wakes tasks for which one element will do.
  void wake_for_item(Cell& cell);

  /// The number by which a value remembers a place.
  uint32_t place_number(Place at) { return places_.number(at); }
  /// Where the value of a cell was set. For a complete relation: who needed it to be complete.
  Place place_of(const Datum& value) const { return places_.at(value.place); }

 private:
  Program& program_;
  Diagnosis& errors_;
  Contributions& contributions_;
  Instances& instances_;
  Relations& relations_;
  Schedule& schedule_;
  const Underway& now_;
  PlaceTable places_;  ///< where cells were set
};

}  // namespace fettle::model
