#pragma once
/// Values that live as long as the program.

#include <span>
#include <string_view>

#include "model/program/program.h"

namespace fettle::model {

Datum make_text(Program& program, std::string_view text);
Datum make_list(Program& program, std::span<const Datum> items);
/// Of equal keys the first is found. The budget refuses what is nested too deep.
Datum make_dict(Program& program, std::span<const DictEntry> entries);

}  // namespace fettle::model
