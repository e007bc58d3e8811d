#pragma once
/// The failure that ends a compile. It starts where it is found; everything through which it
/// unwinds adds to it, until somebody has said in which statement it happened.

#include <optional>

#include "model/evaluate/underway.h"

namespace fettle::model {

enum class Step : uint8_t { done, wait, fail };

/// Who still has to say in which statement a failure happened.
///   itself     the expression that failed
///   above      the one around it, of which `unit` holds
///   unit       the nearest that the original computes on its own, else the statement
///   reader     the nearest one that computes with the value
///   statement  the statement
enum class Teller : uint8_t { nobody, itself, above, unit, reader, statement };

/// The writer of a value, for errors and for the place that a cell remembers.
struct Writer {
  const Expr* expr = nullptr;       ///< the constructor, or
  const Stmt* statement = nullptr;  ///< the assignment
  bool is_key = false;              ///< an argument that an index needed
  Place at;                         ///< of the value
};

class Diagnosis {
 public:
  Diagnosis(Program& program, const Underway& now) : program_(program), now_(now) {}

  explicit operator bool() const { return failure_.has_value(); }
  Failure& operator*() { return *failure_; }
  Failure* operator->() { return &*failure_; }
  void forget() { failure_.reset(); }
  /// The budget was used up while a task of this place ran. This replaces every other failure.
  void exceed(Place at);

  /// A failure of the expression that is evaluated now, or of the present statement. The first one
  /// stays. `causes`: the outermost first.
  Step fail(Place at, Reason reason, Importance importance = Importance::other,
            Teller telling = Teller::itself, std::vector<Reason> causes = {});
  Step fail(Place at, std::string message, Importance importance = Importance::other,
            Teller telling = Teller::itself) {
    return fail(at, Reason{std::move(message)}, importance, telling);
  }
  Step fail_name(const Name& name);
  /// A name in an argument that no index needs is looked up when the constructor runs.
  Step fail_need(const Need& missing);
  Step fail_in_type(const Expr& expr);
  /// The budget is used up: the place is that of the present task.
  Step fail_budget();
  /// The operand of `**` is no dict.
  Step fail_unpacking(const Argument& argument);
  /// A value has no attribute of this name.
  Step fail_attribute(const Expr* object, Symbol name, const Datum& value, Place at);
  Step fail_attribute(const Entity& entity, Symbol name, Place at);

  bool waits_for(Teller telling) const { return telling_ == telling; }
  void leave_to(Teller telling) { telling_ = telling; }
  /// Sets whether the failure is in something that the original computes by itself.
  void set_in_unit(bool is_in_unit) { is_in_unit_ = is_in_unit; }

  /// Says in which statement it happened, in the words of that: fills in the reasons that have
  /// none.
  void tell(std::string reported);
  /// … if that was left to such a statement.
  void tell_if(Teller telling, std::string reported);
  /// Adds an expression through which the failure unwinds.
  void tell(const Expr* expr);
  /// Adds the task that evaluated: it reports what no expression reported.
  void tell(const Task& task);
  /// Adds an expression of a stream: an element, the result of a comprehension, or a branch.
  void tell_part(const Task& task, const Expr* expr);
  /// Wraps the failure into `Could not set attribute`, unless it has that already.
  void tell(Instance* owner, uint32_t slot, std::string reported);
  /// Adds the writer of the value that could not be set.
  void tell(Instance* owner, uint32_t slot, const Writer& writer);
  /// For a step that computed the value for an attribute: the attribute reports the failure, unless
  /// an expression on the way is computed by itself.
  Step tell(Step step, Instance* owner, uint32_t slot, const Writer& writer);

 private:
  std::string reading_text(const Expr* reader) const;
  std::string written_by(const Writer& writer) const;
  void tell_unit(const Expr* expr);
  bool is_of_attribute() const { return failure_->reasons[0].kind == Reason::Kind::attribute; }

  Program& program_;
  const Underway& now_;
  std::optional<Failure> failure_;
  Teller telling_ = Teller::nobody;
  bool is_in_unit_ = false;
};

}  // namespace fettle::model
