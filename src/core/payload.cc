#include "core/payload.h"

#include "core/open_payload.h"
#include "value/mask.h"

namespace fettle {

bool is_purged(const Attributes& attributes) { return dict_of(attributes).bool_at("purged"); }

std::vector<Output> holes(const Attributes& attributes) { return holes(dict_of(attributes)); }

Attributes reveal(const Attributes& attributes) { return reveal(dict_of(attributes)); }

}  // namespace fettle
