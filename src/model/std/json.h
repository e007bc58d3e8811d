#pragma once
/// Reads and writes JSON like Python's module of that name: order of insertion, `", "` and `": "`
/// between items, ASCII only, errors with line, column and character.

#include <string>
#include <string_view>

#include "model/evaluate/plugin_context.h"

namespace fettle::model {

/// False: `error` says why.
bool read_python_json(PluginContext& context, std::string_view text, Datum& value,
                      std::string& error);
bool write_python_json(const Program& program, const Datum& value, std::string& text,
                       std::string& error);

}  // namespace fettle::model
