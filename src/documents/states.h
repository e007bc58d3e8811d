#pragma once
/// States, and the functions of their modules, in the forms of Idem.

#include "verbs/states/states.h"

namespace fettle {

/// Idem's entry, and what its loops answer, of this state alone.
Value shown_entry(const StateResult& result);
/// The results by tag, each with what its loop answers.
Value document_of(const StatesReport& report);
/// What an exec function answered, in the form of Idem.
Value document_of_exec(const std::string& path, const Value& answer);
Value value_of_function(const states::Module& module, const states::Function& function);
/// All exec functions by path, without `exec.`.
std::map<std::string, Value> exec_functions(RunFunctions& functions);

}  // namespace fettle
