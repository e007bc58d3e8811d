#pragma once
/// Where verbs work: the store, the drivers, the clock. A face makes a workplace and hands it to
/// the verbs.

#include <functional>
#include <memory>
#include <string>

#include "base/activity.h"
#include "reconcile/carry_out.h"
#include "store/blobs.h"
#include "value/mask.h"

namespace fettle {

struct Machines;

struct Workplace {
  std::string home;  ///< the folder of everything that is kept
  Store* store = nullptr;
  Blobs* blobs = nullptr;
  const Kinds* kinds = nullptr;
  std::function<Driver*(const Name&)> driver;  ///< null: there is no such driver
  /// The names of the nodes, each of which has an engine (`workplace/engines.h`). Empty function:
  /// there are none.
  std::function<Result<std::vector<std::string>>()> nodes;
  /// Whether an engine of a node may have this address. Empty function: any address may be used.
  std::function<Status(const std::string& address)> check_engine;
  /// Those of agents (`workplace/machines.h`). Null: there are none.
  const Machines* machines = nullptr;
  std::function<Time()> clock;
  std::function<uint64_t()> random;
  Interrupt* interrupt = nullptr;
  Executor* executor = nullptr;  ///< acts and waits run on it; null: threads and clocks
  WaitLimits limits{};           ///< for all that is waited for
  /// The secrets that nobody is shown. Whoever learns of one adds it.
  std::shared_ptr<Mask> mask = std::make_shared<Mask>();
  bool shows_secrets = false;                      ///< reports are shown as they are
  std::function<void(const std::string&)> notice;  ///< shows text to people who wait; may be empty
  std::string command;                             ///< the user's, for those who wait for us
  Holder::Role role = Holder::Role::command;       ///< our role for others
  /// Is told of all that is carried out, beside whoever asked for it. Null: nobody looks.
  Audience* spectator = nullptr;
  /// Is told what takes time now without being an act, and when that has ended, by an empty text.
  /// May be empty.
  DoingSink doing{};

  void tell(const std::string& text) const {
    if (notice)
      notice(text);
  }
  RunContext run_context() const { return {*kinds, driver, blobs, interrupt->acts_token()}; }
};

/// 32 hexadecimal digits that are not used anywhere else.
std::string new_uuid(const Workplace& place);

/// Finds the environment by its name, its uuid or the beginning of that. An environment that only
/// the engine knows, by its marks, is taken over. Errors: there is none (with a suggestion), or
/// several begin like that.
Result<Environment> find_environment(const Workplace& place, const std::string& name);
/// Whether a text has the form of a uuid, or of at least the first four digits of one.
bool may_be_uuid(std::string_view text);
/// Whether the text is this uuid, or the beginning of it.
bool begins_uuid(std::string_view uuid, std::string_view text);
/// The name of the environment whose uuid is this, or begins like this. Otherwise the given text,
/// which may be the name of an environment that is to be made.
Result<std::string> name_of_environment(const Workplace& place, const std::string& given);
/// The records, together with things that only the engine knows. An engine that does not run knows
/// nothing.
Result<Known> with_found(const Workplace& place, const Name& environment, Known known);

}  // namespace fettle
