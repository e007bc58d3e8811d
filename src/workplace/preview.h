#pragma once
/// Previews of a package or of a version of a model. A preview can be kept as a file; who acts by
/// it is refused when something else would be done by then.

#include <map>

#include "workplace/field_changes.h"
#include "workplace/shared.h"

namespace fettle {

struct Preview {
  std::string environment;
  std::optional<Holder> at_work;  ///< who acts on it meanwhile
  std::shared_ptr<const Intent> intent;
  Plan plan;
  Seen seen;      ///< what was looked at for it
  Shared shared;  ///< what is no longer wanted here, and is by others
  std::vector<std::string> warnings;
  std::vector<Error> errors;        ///< of a model that does not compile; the rest is empty then
  std::optional<uint64_t> version;  ///< of a model, when it is one that is stored
  /// What a look found of what looks and acts in one call: by field, what is and what is wanted.
  std::map<Key, Value> changes;
  bool edit_in_place = false, replay = false;  ///< the flags of `run` that it was made with
  std::string package;                         ///< as `package_identity` says; empty of a model
  std::string asked;                           ///< a digest of the arguments and flags of a package
};

/// What a step of it changes, as a look found it where there was one.
std::vector<FieldChange> changes_of(const Workplace& place, const Preview& preview,
                                    const Step& step);

/// The plan of an intent, and what was looked at for it.
struct Looked {
  Plan plan;
  Seen seen;
  Shared shared;
};
Result<Looked> look_and_plan(const Workplace& place, const Intent& intent, const Known& known,
                             PlanOptions options);

/// What is done, to what, from what to what, and how this machine is; reasons are left out. 64
/// hexadecimal digits.
std::string digest_of(const Plan& plan, const Seen& seen);

/// A plan as it is kept in a file.
struct KeptPlan {
  std::string environment;
  std::string digest;
  std::optional<uint64_t> version;
  bool edit_in_place = false, replay = false;  ///< as in `Preview`
  std::string package{}, asked{};              ///< as in `Preview`; empty when it does not say
};
Value plan_file_of(const Preview& preview);
/// `steps`: dictionaries of `verb` and `key`, for people.
Value plan_file_of(const KeptPlan& kept, std::vector<Value> steps);
/// Error (`Blame::user`): it is not a plan.
Result<KeptPlan> read_plan_file(const std::string& text, const std::string& file);
/// Error (`Blame::user`): something else is to be done than when the plan was made.
Status check_plan(const Plan& plan, const Seen& seen, const KeptPlan& kept);
Status check_plan(const std::string& digest, const KeptPlan& kept);

/// Has what looks and acts in one call look: what is as wanted is kept, and those that need it are
/// decided anew. Nothing is changed. The answer is what each look found.
Result<std::map<Key, Value>> refine_by_looks(const Workplace& place, const Intent& intent,
                                             const Known& known, Looked& looked);

}  // namespace fettle
