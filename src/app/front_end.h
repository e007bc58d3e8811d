#pragma once
/// Commands that several front ends share, such as `plan` and `describe`. The other words show
/// which one is meant.

#include <string>
#include <vector>

namespace fettle {

/// Replaces the command by that of the front end that is meant: `plan x.sls` is `state --test
/// x.sls`, `plan -f web.yaml` is `diff -f web.yaml`, and `describe cloneset web` is `describe
/// workload cloneset web`.
std::vector<std::string> with_front_end(std::vector<std::string> words);

}  // namespace fettle
