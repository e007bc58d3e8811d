#pragma once
/// Makes values that live as long as the program.

#include <span>
#include <string_view>

#include "model/program/program.h"

namespace fettle::model {

Datum make_text(Program& program, std::string_view text);
Datum make_list(Program& program, std::span<const Datum> items);
/// The first of equal keys is found. The budget refuses values that are nested too deep.
Datum make_dict(Program& program, std::span<const DictEntry> entries);

}  // namespace fettle::model
