#pragma once
/// What is said about acts, as bytes and back: between a run at a server and the agent of another
/// machine. Both are of the same version, so there is no format of earlier ones.
///
/// Every `read_…` is an error (`Blame::world`) for bytes that its `written` did not make.

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/driver.h"

namespace fettle {

/// An act, with what it borrows. A driver that compares has no need of `compares` and `is_instant`.
std::string written(const Act& act);
Result<Act> read_act(std::string_view bytes);

std::string written(std::span<const Subject> subjects);
struct ReadSubjects {
  std::deque<Resource> wanted;  ///< to which `subjects` point
  std::vector<Subject> subjects;
};
Result<ReadSubjects> read_subjects(std::string_view bytes);

std::string written(std::span<const Observation> seen);
Result<std::vector<Observation>> read_observations(std::string_view bytes);

/// `additions`: states that the act has added to its run.
std::string written(const Outcome& outcome, std::span<const Value> additions);
struct ReadOutcome {
  Outcome outcome;
  std::vector<Value> additions;
};
Result<ReadOutcome> read_outcome(std::string_view bytes);

std::string written(const Error& error);
/// What the bytes say, or that they are none.
Error read_error(std::string_view bytes);

std::string written(const Progress& progress);
Result<Progress> read_progress(std::string_view bytes);

std::string written(const Value& value);
Result<Value> read_value(std::string_view bytes);

}  // namespace fettle
