#include "packages/module_layout.h"

#include "starlark/format/format.h"

namespace fettle {

Result<std::string> module_layout(const std::string& file, std::string_view text) {
  return starlark::laid_out(file, text);
}

}  // namespace fettle
