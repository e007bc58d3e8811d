#pragma once
/// Runs of packages.

#include "verbs/environments/environments.h"
#include "verbs/packages/run_package.h"

namespace fettle {

Value instruction_value(const StatementReport& report, bool ran);
/// Why a real run would be refused; none when it would not.
std::optional<Error> refusal_of(const PackageReport& report);
/// `is_last_line`: of several lines, where each instruction has had one.
Value document_of(const PackageReport& report, bool dry, const std::optional<EnvironmentView>& view,
                  bool is_last_line);

}  // namespace fettle
