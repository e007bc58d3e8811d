#include "verbs/environments/inside.h"

#include "base/shell_word.h"
#include "base/text.h"
#include "core/driver.h"
#include "kinds/service.h"
#include "workplace/engines.h"

namespace fettle {

Result<ContainerEngine*> engine_inside(const Workplace& place) {
  Driver* const driver = place.driver(own_engine);
  if (driver == nullptr || driver->container_engine() == nullptr)
    return world_error("there is no engine");
  return driver->container_engine();
}

Result<std::string> container_of(const ServiceView& service) {
  if (service.status == "absent")
    return world_error(
        cat("the container of `", service.name,
            "` was removed outside fettle; the next run of its package creates it again"));
  return service.container;
}

Status check_runs(const Name& environment, const ServiceView& service) {
  TRY(container_of(service));
  if (service.status != "stopped")
    return {};
  return world_error(cat("the service `", service.name, "` is not running; `fettle service start ",
                         quoted_for_shell(environment), " ", quoted_for_shell(service.name),
                         "` starts it"));
}

std::vector<std::string> shell_command() {
  return {"sh", "-c", "command -v bash >/dev/null 2>&1 && exec bash || exec sh"};
}

Result<int64_t> run_inside(const Workplace& place, const ServiceView& service,
                           const ExecOptions& options, const StreamSink& sink,
                           std::stop_token stop) {
  ContainerEngine* const engine = TRY(engine_inside(place));
  return engine->run(TRY(container_of(service)), options, sink, std::move(stop));
}

Result<int64_t> talk_inside(const Workplace& place, const ServiceView& service,
                            const ExecOptions& options, const TalkEnds& ends,
                            const StreamSink& sink, std::stop_token stop) {
  ContainerEngine* const engine = TRY(engine_inside(place));
  return engine->talk(TRY(container_of(service)), options, ends, sink, std::move(stop));
}

Result<ServiceView> service_that_wrote(const Workplace& place, const Environment& environment,
                                       const std::string& name) {
  Result<ServiceView> found = inspect_service(place, environment, name);
  if (found && found->status != "absent")
    return found;
  const auto engine = engine_inside(place);
  if (!engine)
    return found;
  const Key key{environment.name, "service", name};
  const auto left = (*engine)->containers_of(key, place.interrupt->acts_token());
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
  ContainerEngine* const engine = TRY(engine_inside(place));
  return engine->logs(TRY(container_of(service)), options,
                      read_one<&Service::tty>(service.attributes).get(), sink, std::move(stop));
}

}  // namespace fettle
