#pragma once
/// The files of a package, looked at without running them: also those that a run with these
/// arguments would not come to.

#include "packages/sources.h"

namespace fettle {

struct PackageReview {
  size_t files = 0;
  bool runs = false;          ///< the main file defines the main function
  std::vector<Error> errors;  ///< of syntax and names, with line and place
  std::vector<Error> doubts;  ///< legal, and probably not meant
};

/// Every `.star` file of the package's folder, in the order of their names, at most 10,000, none
/// behind a link or in a folder whose name begins with a dot; of a script the main file alone.
Result<PackageReview> review_package(Sources& sources, const std::string& main_file,
                                     const std::string& main_function);

}  // namespace fettle
