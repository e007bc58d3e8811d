#include "verbs/inside.h"

#include "base/text.h"
#include "drivers/engine/driver.h"
#include "verbs/engines.h"

namespace fettle {

Result<Engine*> engine_inside(const Workplace& place, std::stop_token stop) {
  auto* driver = dynamic_cast<EngineDriver*>(place.driver(own_engine));
  if (driver == nullptr)
    return world_error("there is no engine");
  return driver->engine(std::move(stop));
}

Result<std::string> container_of(const ServiceView& service) {
  if (service.status == "absent")
    return world_error(
        cat("the container of `", service.name,
            "` was removed outside fettle; the next run of its package creates it again"));
  return service.container;
}

Result<int64_t> run_inside(const Workplace& place, const ServiceView& service,
                           const ExecOptions& options, const StreamSink& sink,
                           std::stop_token stop) {
  Engine* engine = TRY(engine_inside(place, stop));
  return run_exec(*engine, TRY(container_of(service)), options, sink, std::move(stop));
}

Status read_logs_of(const Workplace& place, const ServiceView& service, const LogOptions& options,
                    const StreamSink& sink, std::stop_token stop) {
  Engine* engine = TRY(engine_inside(place, stop));
  return read_logs(*engine, TRY(container_of(service)), options, service.attributes.bool_at("tty"),
                   sink, std::move(stop));
}

}  // namespace fettle
