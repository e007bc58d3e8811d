#include "drivers/engine/room.h"

#include <algorithm>

#include "base/text.h"
#include "kinds/service.h"

namespace fettle {
namespace {

constexpr int64_t bytes_per_megabyte = 1'000'000, millicores = 1'000;

struct Minimum {
  Hole<int64_t> Service::* least;
  const char* unit;
  int64_t there;
};

Error too_little(const Resource& service, const Minimum& minimum, int64_t before) {
  return user_error(
      cat("the service `", service.key.name, "` requires ",
          (read<Service>(service.attributes).*minimum.least).get(), " ", minimum.unit,
          ", but the engine's machine has ", minimum.there,
          before == 0 ? std::string() : cat(", and the services before it use ", before)),
      where_in(service.origin));
}

}  // namespace

Result<EngineRoom> room_of(Engine& engine, std::stop_token stop) {
  const EngineAnswer info = TRY(engine.ask({.path = "/info"}, stop));
  if (!info.ok())
    return engine_error(info);
  return EngineRoom{info.body.integer_at("NCPU") * millicores, info.body.integer_at("MemTotal")};
}

Status check_room(Engine& engine, std::span<const Resource* const> wanted, std::stop_token stop) {
  const auto states_one = [](const Resource* resource) {
    if (resource->key.kind != "service")
      return false;
    const Service service = read<Service>(resource->attributes);
    return service.memory_min.get() > 0 || service.cpu_min.get() > 0;
  };
  if (std::ranges::none_of(wanted, states_one))
    return {};
  const EngineRoom room = TRY(room_of(engine, stop));
  for (const Minimum& minimum :
       {Minimum{&Service::memory_min, "megabytes of memory", room.bytes / bytes_per_megabyte},
        Minimum{&Service::cpu_min, "millicores", room.millicores}}) {
    int64_t taken = 0;
    for (const Resource* resource : wanted) {
      const int64_t asked = resource->key.kind == "service"
                                ? (read<Service>(resource->attributes).*minimum.least).get()
                                : 0;
      if (asked > 0 && minimum.there > 0 && asked > minimum.there - taken)
        return too_little(*resource, minimum, taken);
      taken += asked;
    }
  }
  return {};
}

}  // namespace fettle
