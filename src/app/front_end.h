#pragma once
/// Commands that several front ends share, such as `plan` and `describe`. The other words show
/// which one is meant, and the name by which the program is called may do so, too.

#include <string>
#include <string_view>
#include <vector>

namespace fettle {

/// Replaces the command by that of the front end that is meant: `plan x.sls` is `state --test
/// x.sls`, `plan -f web.yaml` is `diff -f web.yaml`, and `describe cloneset web` is `describe
/// workload cloneset web`.
std::vector<std::string> with_front_end(std::vector<std::string> words);

/// Whether the program was started by the name of Kurtosis, as by a link to it.
bool is_kurtosis_name(std::string_view program);
/// An exit code as Kurtosis has it: 0, 1, or that of a signal.
int code_of_kurtosis(int code);
/// A group alone lists its commands, and is no error: `engine` is `help engine`.
std::vector<std::string> with_help_of_bare_group(std::vector<std::string> words);

}  // namespace fettle
