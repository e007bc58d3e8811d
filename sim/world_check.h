#pragma once
/// What must hold between an intent and the world after a run that ended well.

#include <optional>
#include <set>
#include <string>

#include "core/step.h"
#include "sim/world.h"

namespace fettle::sim {

/// The first thing in which the world is not what the intent says: something is not there, is there
/// and should not be, has other attributes, missed an event of what refreshes it, or what happened
/// in a host is not its history, each act once. `edited`: what may have acted more often than is
/// recorded, on request or since the power was cut, so that its history and what it heard say
/// nothing.
std::optional<std::string> first_flaw(const Intent& intent, const Known& known, const World& world,
                                      const std::set<Key>& edited = {});

/// What a plan has to do, as text. What looks for itself does so in every run, and what stands on
/// it is judged after that.
std::string due_in(const Plan& plan);

/// The first content that a wanted resource put out and that is lost; what somebody changed
/// without a trace, by its digest, is left out.
std::optional<std::string> lost_content(const Intent& intent, const Known& known,
                                        const Kinds& kinds, Blobs& blobs,
                                        const std::set<std::string>& changed = {});

}  // namespace fettle::sim
