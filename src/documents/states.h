#pragma once
/// States, and the functions of their modules, in the forms of Idem: fields have its names, and a
/// report is a map from tag to result, which counts in order of the tags when it is printed.

#include <map>

#include "documents/parts.h"
#include "verbs/states/states.h"

namespace fettle {

/// Idem's entry, and what its loops answer, of this state alone.
Value value_of(const StateResult& result);
/// The results by tag, each with what its loop answers.
Value document_of(const StatesReport& report);
Value document_of(const std::vector<const StateResult*>& results);
/// The last line of `jsonl`: `re_runs_count`, `require_re_run`.
Value last_line_of(const StatesReport& report);

/// In `jsonl`, before the lines of a machine, one of many: `host`, `environment`.
Value host_line(const std::string& host, const std::string& environment);

/// The memory: `remembered` states, and `changed` of them, if somebody looked at that.
Value memory_document(size_t remembered, std::optional<size_t> changed = std::nullopt);

/// The answer of an exec function: `result`, `ret`, `comment` (a list), `ref`.
Value exec_document(const std::string& path, const Value& answer);
/// A function of a state as `doc` tells it: `ref`, `doc`, `parameters`, `test`.
Value value_of(const states::Module& module, const states::Function& function);
/// All exec functions by path, without `exec.`: the built-in ones and those of plugins, as `ref`,
/// `doc`, `parameters`.
std::map<std::string, Value> exec_functions(RunFunctions& functions);

}  // namespace fettle
