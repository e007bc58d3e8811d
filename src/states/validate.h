#pragma once
/// The output of `validate`: the document of Idem's command, with high and low data, metas, the
/// parameters that templates ask for, and those of them that no meta describes.
///
///   {"high": {ID: {state: […], "__sls__": ref}}, "low": [{…}], "meta": {"SLS", "ID_DECS"},
///    "parameters": {"GLOBAL", "ID_DECS"}, "warnings": {"GLOBAL", "ID_DECS"}}

#include "states/compile.h"

namespace fettle::states {

struct Validation {
  Value document;
  std::vector<Error> errors;
  std::vector<Error> warnings;
};

/// Nobody gives parameters: templates get placeholders instead.
Validation validate(std::span<const std::string> words, Files& files, CompileOptions options);

}  // namespace fettle::states
