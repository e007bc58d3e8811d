#include "verbs/environments/inside.h"

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

Result<ServiceView> service_that_wrote(const Workplace& place, const Environment& environment,
                                       const std::string& name) {
  Result<ServiceView> found = inspect_service(place, environment, name);
  if (found && found->status != "absent")
    return found;
  auto* driver = dynamic_cast<EngineDriver*>(place.driver(own_engine));
  if (driver == nullptr)
    return found;
  const Key key{environment.name, "service", name};
  const auto left = driver->containers(key, place.interrupt->acts_token());
  if (left && !left->empty()) {
    ServiceView gone = found ? std::move(*found) : ServiceView{};
    gone.name = name;
    gone.status = "gone";
    gone.container = left->front().id;
    return gone;
  }
  if (!found)
    return found;
  return world_error(cat("the container of `", name,
                         "` was removed outside fettle, and its logs with it; the next run of its "
                         "package creates it again"));
}

Status read_logs_of(const Workplace& place, const ServiceView& service, const LogOptions& options,
                    const StreamSink& sink, std::stop_token stop) {
  Engine* engine = TRY(engine_inside(place, stop));
  return read_logs(*engine, TRY(container_of(service)), options, service.attributes.bool_at("tty"),
                   sink, std::move(stop));
}

}  // namespace fettle
