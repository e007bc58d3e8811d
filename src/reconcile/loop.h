#pragma once
/// Obeys a `Run`: writes to the store, starts acts, and waits for them and for timers. The executor
/// is a parameter: threads and clocks (`reconcile/executor.h`), or a simulation of both. There is
/// no other way to act.

#include "reconcile/executor.h"
#include "reconcile/run.h"
#include "store/edit.h"

namespace fettle {

/// Is told of everything as it happens, only by the deciding thread.
class Audience {
 public:
  virtual ~Audience() = default;
  virtual void event(const Event& /*event*/) {}
  virtual void progress(const Key& /*key*/, const Progress& /*progress*/) {}
  /// Called after each batch of commands, when `run` has been brought up to date.
  virtual void moved(const Run& /*run*/) {}
};

/// The present wish, the observations for it, and the records of it that the run does not know yet.
/// Null: the wish is unchanged. An error ends the run.
struct NewWish {
  std::shared_ptr<const Intent> intent;
  Seen seen{};
  Known also_known{};
};
using AskWhatIsWanted = std::function<Result<NewWish>(const Run&)>;

class Loop {
 public:
  /// All arguments must outlive it; `audience` may be null.
  Loop(Run& run, Edit& edit, Executor& executor, std::function<Driver*(const Name&)> driver,
       Audience* audience, AskWhatIsWanted wants = {})
      : run_(run),
        edit_(edit),
        executor_(executor),
        driver_(std::move(driver)),
        audience_(audience),
        wants_(std::move(wants)) {}

  /// Carries the run to its end. Errors: the store could not be written, or the present wish is
  /// impossible. The records stay.
  Result<Summary> carry_out();

 private:
  Status obey(std::vector<Order> orders);
  Status write(const std::vector<Order>& orders);
  void begin(StartAct start);

  Run& run_;
  Edit& edit_;
  Executor& executor_;
  std::function<Driver*(const Name&)> driver_;
  Audience* audience_;
  AskWhatIsWanted wants_;
  std::optional<Instant> wake_;
  std::optional<Error> refusal_;  ///< why nothing more is wanted; acts under way end first
};

}  // namespace fettle
