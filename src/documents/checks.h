#pragma once
/// What is wrong or doubtful.

#include "verbs/check/check.h"

namespace fettle {

void append_values(const Checked& checked, const std::vector<Error>& findings,
                   std::string_view severity, std::vector<Value>& values);

}  // namespace fettle
