#pragma once
/// Previews of a package or of a version of a model. A preview can be kept as a file. Whoever acts
/// by it is refused if something else would be done by then.

#include <map>

#include "workplace/field_changes.h"
#include "workplace/shared.h"

namespace fettle {

struct Preview {
  std::string environment;
  std::optional<Holder> at_work;  ///< who acts on the environment meanwhile
  std::shared_ptr<const Intent> intent;
  Plan plan;
  Seen seen;       ///< the looks that were made for it
  Sharers shared;  ///< things that are no longer wanted here, but by others
  std::vector<std::string> warnings;
  std::vector<Error> errors;        ///< of a model that does not compile; then the rest is empty
  std::optional<uint64_t> version;  ///< of a stored version of a model
  /// What looks found for resources that look and act in one call: by field, what is and what is
  /// wanted.
  std::map<Key, Value> changes;
  bool edit_in_place = false, replay = false;  ///< the flags of `run` with which it was made
  std::string package;                         ///< as `package_identity` says; empty for a model
  std::string asked;                           ///< a digest of the arguments and flags of a package
};

/// The changes of a step, as a look found them if there was one.
std::vector<FieldChange> changes_of(const Workplace& place, const Preview& preview,
                                    const Step& step);

/// The plan for an intent, and the looks that were made for it.
struct PreviewedPlan {
  Plan plan;
  Seen seen;
  Sharers shared;
};
Result<PreviewedPlan> look_and_plan(const Workplace& place, const Intent& intent,
                                    const Known& known, PlanOptions options);

/// A digest of what is done, to what, from what to what, and of how this machine is, without
/// reasons. 64 hexadecimal digits.
std::string digest_of(const Plan& plan, const Seen& seen);

/// A plan that is kept in a file.
struct KeptPlan {
  std::string environment;
  std::string digest;
  std::optional<uint64_t> version;
  bool edit_in_place = false, replay = false;  ///< as in `Preview`
  std::string package{}, asked{};              ///< as in `Preview`; empty if the file does not say
};
KeptPlan kept_plan_of(const Preview& preview);
Value plan_file_of(const Preview& preview);
/// `steps`: dictionaries of `verb` and `key`, for people.
Value plan_file_of(const KeptPlan& kept, std::vector<Value> steps);
/// Error (`Blame::user`): the text is no plan.
Result<KeptPlan> read_plan_file(const std::string& text, const std::string& file);
/// Error (`Blame::user`): something else has to be done than when the plan was made.
Status check_plan(const Plan& plan, const Seen& seen, const KeptPlan& kept);
Status check_plan(const std::string& digest, const KeptPlan& kept);

/// Lets resources that look and act in one call look. One that is as wanted is kept, and those that
/// need it are decided again. Nothing is changed. Returns what each look found.
Result<std::map<Key, Value>> refine_by_looks(const Workplace& place, const Intent& intent,
                                             const Known& known, PreviewedPlan& looked);

}  // namespace fettle
