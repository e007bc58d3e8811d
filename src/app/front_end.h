#pragma once
/// Words that several front ends share, such as `plan` and `describe`: which one is meant shows in
/// the other words.

#include <string>
#include <vector>

namespace fettle {

/// The words of a command line with the command of the front end that they are about: `plan x.sls`
/// is `state --test x.sls`, `plan -f web.yaml` is `diff -f web.yaml`, and `describe cloneset web`
/// is `describe workload cloneset web`.
std::vector<std::string> with_front_end(std::vector<std::string> words);

}  // namespace fettle
