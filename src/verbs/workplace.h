#pragma once
/// Where verbs work: the store, the drivers, the clock. A face makes one and hands it to the verbs.

#include <functional>
#include <string>

#include "reconcile/loop.h"

namespace fettle {

struct Workplace {
  std::string home;  ///< the folder of everything that is kept
  Store* store = nullptr;
  Blobs* blobs = nullptr;
  const Kinds* kinds = nullptr;
  std::function<Driver*(const Name&)> driver;  ///< none when there is no such driver
  std::function<Time()> clock;
  std::function<uint64_t()> random;
  Interrupt* interrupt = nullptr;
  std::function<void(const std::string&)> notice;  ///< told to people while they wait; may be empty
  std::string command;                             ///< what was asked, for those who wait for us

  void tell(const std::string& text) const {
    if (notice)
      notice(text);
  }
};

/// 32 hexadecimal digits that nobody else has.
std::string new_uuid(const Workplace& place);

/// The right to change an environment, given back at the end. Waits for another process that has it
/// and says for whom, or fails at once.
class Lease {
 public:
  static Result<Lease> take(const Workplace& place, const Name& environment, bool wait);
  static Result<std::optional<Lease>> take_if_free(const Workplace& place, const Name& environment);
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&&) = delete;
  ~Lease();

 private:
  Lease(Store* store, Name environment, Holder me)
      : store_(store), environment_(std::move(environment)), me_(std::move(me)) {}
  Store* store_;
  Name environment_;
  Holder me_;
};

/// The environment by name, uuid or the beginning of its uuid. One that only the engine knows, by
/// its marks, is taken over. Errors: there is none (with a suggestion), or several begin like that.
Result<Environment> find_environment(const Workplace& place, const std::string& name);
/// An environment that nobody else changes meanwhile: what is read of it stays true.
struct Hold {
  Environment environment;
  Lease lease;
};
/// Errors: those of `find_environment`, also when it went away while we waited, and of
/// `Lease::take`.
Result<Hold> hold_environment(const Workplace& place, const std::string& name, bool wait);
/// What is known, and what only the engine knows.
Result<Known> with_found(const Workplace& place, const Name& environment, Known known);
/// Takes over what the engine has under the marks of an environment that the store does not know;
/// whether there was anything. The lease must be held.
Result<bool> adopt_environment(const Workplace& place, const Name& name);
/// The environment, made when there is none.
Result<Environment> ensure_environment(const Workplace& place, const std::string& name,
                                       const Value& detail);

/// Whether every driver that the intent names is ready, and has room for what is wanted of it.
Status check_ready(const Workplace& place, const Intent& intent, bool has_room = true);

/// Looks at everything of `intent` and `known` that can be looked at and was made before.
Result<Seen> look(const Workplace& place, const Intent& intent, const Known& known);

/// Carries an intent out: looks, plans, acts. The lease must be held.
Result<Summary> carry_out_intent(const Workplace& place, std::shared_ptr<const Intent> intent,
                                 const Known& known, const RunOptions& options, Audience* audience,
                                 Known* after);

}  // namespace fettle
