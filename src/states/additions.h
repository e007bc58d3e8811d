#pragma once
/// States that join a run because others of it added them: `render.block`, `sls.run`,
/// `test.update_low`.

#include <memory>
#include <vector>

#include "states/compile.h"
#include "states/gather.h"
#include "states/high.h"
#include "states/params.h"

namespace fettle::states {

/// Files with parameters and IDs of their own (`sls.run`).
struct AddedFiles {
  Params params;
  GatheredFiles gathered;
  High high;
};

/// The additions after reading. Errors are reported.
struct Additions {
  std::vector<Document> documents;                 ///< as if they stood in the files
  std::vector<std::unique_ptr<AddedFiles>> files;  ///< arranged, with the prefix in their IDs
};

/// `gathering`: that of the run.
Additions read_additions(const CompileOptions& options, const GatherContext& gathering,
                         const HighOptions& high);

/// Whether a call of this function adds states to the run.
bool adds_states(const Name& state, const Name& function);

}  // namespace fettle::states
