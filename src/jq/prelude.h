#pragma once
/// The functions of jq that are written in jq.

#include "jq/parser.h"

namespace fettle::jq {

const Functions& prelude_functions();

}  // namespace fettle::jq
