#pragma once
/// Where plans were kept: `plan --out FILE` writes wherever it is told to, so that whoever looks for
/// kept plans would have to search all disks. The home has a list of those files, the newest last.
/// It is a hint: a file that has gone, or is no plan any more, is none of them.

#include "workplace/preview.h"
#include "workplace/workplace.h"

namespace fettle {

/// A plan in a file.
struct PlanFile {
  std::string path;
  Time written;
  KeptPlan plan;
  std::vector<Value> steps;  ///< `verb` and `key`
};

/// Adds a file to the list. Beyond 100, the oldest is no longer listed.
Status remember_plan_file(const std::string& home, const std::string& file);
/// The newest first.
Result<std::vector<PlanFile>> plan_files(const std::string& home);
/// One of them. Error (`Blame::user`): it is none; other files are not read.
Result<PlanFile> find_plan_file(const std::string& home, const std::string& path);

}  // namespace fettle
