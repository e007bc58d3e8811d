#include "workplace/workplace.h"

namespace fettle {

std::string new_uuid(const Workplace& place) {
  return to_string(Digest{place.random(), place.random()});
}

}  // namespace fettle
