#pragma once
/// Runs of packages, and what is printed by programs. A run may have thousands of instructions:
/// the names of their fields are made once.

#include "documents/parts.h"
#include "verbs/environments/environments.h"
#include "verbs/packages/run_package.h"

namespace fettle {

/// An entry of `instructions`. `has_run`: includes what only a run can know.
Value value_of(const StatementReport& report, bool has_run);
/// A line of `jsonl`: an instruction begins, `number` (from 1) of `total`.
Value begin_line(const Statement& statement, size_t number, size_t total);

/// Why a real run would be refused; none when it would not.
std::optional<Error> refusal_of(const PackageReport& report);

/// `run`. A dry run leaves out what only a run can know, and says by `error` why a run would be
/// refused. `view`: the services to tell of. `is_last_line`: of several lines, where each
/// instruction has had one.
Value document_of(const PackageReport& report, bool is_dry,
                  const std::optional<EnvironmentView>& view, bool is_last_line);

/// The graph of needs: `environment`, `format`, `graph`, and the `path` of the file that has it,
/// null when none has.
Value graph_document(const std::string& environment, std::string_view format,
                     const std::string& graph, const std::string& path);

/// The output of a program that ran for its own sake: `success`, `printed`.
Value printed_document(bool is_success, std::vector<Value> printed);

}  // namespace fettle
