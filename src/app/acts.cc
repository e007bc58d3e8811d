#include "app/acts.h"

#include <fcntl.h>
#include <unistd.h>

#include <set>

#include "base/http.h"
#include "base/text.h"
#include "cli/acts_door.h"
#include "cli/agent_states.h"
#include "drivers/agent/act_host.h"
#include "drivers/handler/handler_driver.h"
#include "drivers/host/host_driver.h"

namespace fettle {
namespace {

/// The stream, which nothing else that is printed or read here may touch.
Descriptor take_stream() {
  Descriptor stream(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  dup2(nothing.get(), STDIN_FILENO);
  dup2(nothing.get(), STDOUT_FILENO);
  return stream;
}

}  // namespace

Result<int> act_for_server(Face& face, std::span<const std::string> acts) {
  ActLine line(take_stream());
  const Result<Workplace*> opened = face.workplace();
  if (!opened)
    line.refuse(cat("the agent cannot act: ", to_string(opened.error())));
  Workplace place = *TRY(opened);
  place.notice = [&](const std::string& text) {
    static_cast<void>(!line.send(ActWord::told, 0, text));
  };
  HttpClient http;
  FarBlobs blobs(*place.blobs, line);
  HostDriver host(http, blobs, place.random, place.limits);
  HandlerDriver handler(http, blobs, place.home);
  StatesAway states(place);
  const std::set<std::string, std::less<>> allowed(acts.begin(), acts.end());
  ActHost served;
  served.driver = [&](const Name& kind) -> Result<Driver*> {
    const std::string_view act = act_of_kind(kind.view());
    if (act.empty())
      return user_error(cat("`", kind, "` is nothing that an agent acts on"));
    if (!allowed.contains(act))
      return user_error(cat("the agent of this machine allows no ", act, " (`fettle agent --acts ",
                            join(std::vector(acts.begin(), acts.end()), ","), "`)"));
    Driver* const driver = act == "states"     ? states.driver()
                           : act == "handlers" ? static_cast<Driver*>(&handler)
                                               : &host;
    if (driver == nullptr)
      return world_error("the server does not say how states are called");
    return driver;
  };
  served.begin_states = [&](const Value& settings) { return states.begin(settings); };
  served.ask_states = [&](const Value& asked, std::stop_token stop) {
    return states.answer(asked, std::move(stop));
  };
  served.take_additions = [&] { return states.take_additions(); };
  TRY(serve_acts(line, blobs, served));
  return 0;
}

}  // namespace fettle
