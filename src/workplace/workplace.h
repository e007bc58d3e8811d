#pragma once
/// Where verbs work: the store, the drivers, the clock. A face makes one and hands it to the verbs.

#include <functional>
#include <memory>
#include <string>

#include "base/doing.h"
#include "reconcile/carry_out.h"
#include "store/blobs.h"
#include "value/mask.h"

namespace fettle {

struct Workplace {
  std::string home;  ///< the folder of everything that is kept
  Store* store = nullptr;
  Blobs* blobs = nullptr;
  const Kinds* kinds = nullptr;
  std::function<Driver*(const Name&)> driver;  ///< none when there is no such driver
  /// Names of the nodes, each of which has an engine (`workplace/engines.h`); null: there are none.
  std::function<Result<std::vector<std::string>>()> nodes;
  /// Whether an engine of a node may have this address; empty: any may.
  std::function<Status(const std::string& address)> check_engine;
  std::function<Time()> clock;
  std::function<uint64_t()> random;
  Interrupt* interrupt = nullptr;
  Executor* executor = nullptr;  ///< what acts and waits stand on; null: threads and clocks
  WaitLimits limits{};           ///< of what is waited for
  /// What nobody is told; whoever learns of a secret adds it.
  std::shared_ptr<Mask> mask = std::make_shared<Mask>();
  bool shows_secrets = false;                      ///< reports are told as they are
  std::function<void(const std::string&)> notice;  ///< told to people while they wait; may be empty
  std::string command;                             ///< what was asked, for those who wait for us
  Holder::Role role = Holder::Role::command;       ///< what we are to them
  /// Told of all that is carried out, beside whoever asked for it; null: nobody looks.
  Audience* spectator = nullptr;
  /// Told what takes time now and is no act, and with an empty text that it has ended; may be
  /// empty.
  DoingSink doing{};

  void tell(const std::string& text) const {
    if (notice)
      notice(text);
  }
  RunContext run_context() const { return {*kinds, driver, blobs, interrupt->acts_token()}; }
};

/// 32 hexadecimal digits that nobody else has.
std::string new_uuid(const Workplace& place);

/// The environment by name, uuid or the beginning of its uuid. One that only the engine knows, by
/// its marks, is taken over. Errors: there is none (with a suggestion), or several begin like that.
Result<Environment> find_environment(const Workplace& place, const std::string& name);
/// Whether a text is written as a uuid, or at least four digits of its beginning.
bool may_be_uuid(std::string_view text);
/// Whether it is this uuid, or that much of its beginning.
bool begins_uuid(std::string_view uuid, std::string_view text);
/// The name of the environment that has this uuid, or one that begins so; otherwise what was given,
/// which may be the name of one that is to be made.
Result<std::string> name_of_environment(const Workplace& place, const std::string& given);
/// What is known, and what only the engine knows; an engine that does not run knows nothing.
Result<Known> with_found(const Workplace& place, const Name& environment, Known known);

}  // namespace fettle
