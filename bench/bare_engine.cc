/// bare_engine SOCKET IMAGE [SERVICES [WORKERS [ROUNDS [bare]]]]
///
/// What the driver adds to the engine's own time: the same services are made once by nothing but
/// their calls (create, start), and once by the driver, in turns. Each has a port that is awaited
/// when SERVICES' image opens one; of `localhost/fettle/web:1` it is 80.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "drivers/engine/containers.h"
#include "drivers/engine/driver.h"
#include "drivers/engine/marks.h"
#include "drivers/engine/networks.h"
#include "drivers/engine/probe.h"
#include "drivers/engine/service_body.h"
#include "kinds/service.h"
#include "value/json.h"

namespace fettle {
namespace {

using Clock = std::chrono::steady_clock;

class NoBlobs : public Blobs {
 public:
  Result<std::unique_ptr<Draft>> begin() override { return world_error("none"); }
  Result<bool> has(std::string_view) override { return false; }
  Result<Blob> open(std::string_view digest) override { return lost_content_error(digest); }
};

struct Setting {
  EngineAddress address;
  std::string image;
  int services = 20;
  int workers = 4;
};

/// Calls `act` for 0 … count-1 from several threads.
Status everywhere(int count, int workers, const std::function<Status(int)>& act) {
  std::atomic<int> next = 0;
  std::mutex mutex;
  Status failed;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < workers; ++i)
      threads.emplace_back([&] {
        for (int at = next++; at < count; at = next++) {
          const Status done = act(at);
          const std::lock_guard lock(mutex);
          if (!done && failed)
            failed = done;
        }
      });
  }
  return failed;
}

double milliseconds(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

Service service_of(const Setting& setting) {
  Port port;
  port.number = 80;
  port.wait = "60s";
  Service service;
  service.image = setting.image;
  service.ports = Value::dict({{"http", write(port)}});
  return service;
}

Status clear(Engine& engine, const std::string& environment, int workers) {
  const std::vector<std::string> ours{environment_filter(environment)};
  const auto left = TRY(list_containers(engine, ours, {}));
  TRY(everywhere(static_cast<int>(left.size()), workers, [&](int i) {
    return remove_container(engine, left[static_cast<size_t>(i)].id, {});
  }));
  for (const NetworkState& network : TRY(list_networks(engine, ours, {})))
    TRY(remove_network(engine, network.name, {}));
  return {};
}

/// Only the calls, and connecting until it succeeds.
Result<double> run_bare(const Setting& setting, HttpClient& http, Engine& engine) {
  const auto subnet = free_subnet(own_pools, 22, subnets_in_use(), 4711);
  const auto begin = Clock::now();
  const CreatedNetwork network =
      TRY(create_network(engine,
                         {.name = "fettle-bare",
                          .bridge = bridge_name(engine.address().text, "bare"),
                          .subnet = *subnet,
                          .gateway = address_text(subnet->address + 1),
                          .labels = marks_of({"bare", "network", "net"})},
                         {}));
  std::vector<std::string> addresses;
  std::vector<Value> bodies;
  for (int i = 0; i < setting.services; ++i) {
    addresses.push_back(address_text(subnet->address + 10 + static_cast<uint32_t>(i)));
    Placement placement;
    placement.network = "fettle-bare";
    placement.network_id = network.id;
    placement.address = addresses.back();
    placement.alias = cat("service-", i);
    placement.public_ports["http"] = 33'000 + i;
    placement.labels = marks_of({"bare", "service", placement.alias});
    bodies.push_back(TRY(service_body(service_of(setting), placement)));
  }
  TRY(everywhere(setting.services, setting.workers, [&](int i) -> Status {
    const auto at = static_cast<size_t>(i);
    const auto send = [&](const std::string& path, const std::string& body) {
      return http.send({.method = "POST",
                        .url = cat("http://engine/v1.41", path),
                        .unix_socket = setting.address.unix_socket,
                        .headers = {{"Content-Type", "application/json"}},
                        .body = body},
                       {});
    };
    const HttpResponse created =
        TRY(send(cat("/containers/create?name=bare-", i), write_json(bodies[at])));
    const Value answer = TRY(read_json(created.body));
    const HttpResponse started = TRY(send(cat("/containers/", answer.text_at("Id"), "/start"), ""));
    if (started.status >= 400)
      return world_error(started.body);
    return {};
  }));
  for (const std::string& address : addresses)
    while (!accepts_connections(address, 80, 200ms))
      std::this_thread::sleep_for(2ms);
  const double time = milliseconds(begin);
  TRY(clear(engine, "bare", setting.workers));
  return time;
}

/// The same by the driver. What is pending is asked again when it says, by whoever is free.
Result<double> run_driver(const Setting& setting, HttpClient& http, Engine& engine) {
  NoBlobs blobs;
  EngineDriver driver(http, blobs, [&](bool, std::stop_token) -> Result<EngineLink> {
    return EngineLink{.address = setting.address};
  });
  const auto begin = Clock::now();
  Act first;
  first.key = {"driven", "network", "net"};
  first.incarnation = 1;
  const Outcome made = TRY(driver.apply(first, {}, {}));
  auto network = std::make_shared<Record>();
  network->outputs = std::get<Done>(made).outputs;
  network->applied.emplace();
  network->applied.edit().key = first.key;

  struct Waiter {
    Clock::time_point due;
    Act act;
  };
  std::mutex mutex;
  std::vector<Waiter> waiting;
  for (int i = 0; i < setting.services; ++i) {
    Act act;
    act.key = {"driven", "service", cat("service-", i)};
    act.attributes = write(service_of(setting));
    act.incarnation = 1;
    act.needs = {network};
    waiting.push_back({begin, act});
  }
  std::atomic<int> left = setting.services;
  TRY(everywhere(setting.workers, setting.workers, [&](int) -> Status {
    while (left > 0) {
      std::optional<Act> act;
      {
        const std::lock_guard lock(mutex);
        const auto due = std::ranges::min_element(waiting, {}, &Waiter::due);
        if (due != waiting.end() && due->due <= Clock::now()) {
          act = due->act;
          waiting.erase(due);
        }
      }
      if (!act) {
        std::this_thread::sleep_for(1ms);
        continue;
      }
      const auto outcome = driver.apply(*act, {}, {});
      if (!outcome) {
        left = 0;
        return outcome.error();
      }
      if (const auto* const pending = std::get_if<Pending>(&*outcome)) {
        act->so_far = pending->so_far;
        const std::lock_guard lock(mutex);
        waiting.push_back({Clock::now() + *pending->retry_after, *act});
      } else {
        --left;
      }
    }
    return {};
  }));
  const double time = milliseconds(begin);
  TRY(clear(engine, "driven", setting.workers));
  return time;
}

Status run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2)
    return user_error("usage: bare_engine SOCKET IMAGE [SERVICES [WORKERS [ROUNDS [bare]]]]");
  const auto number = [&](size_t at, int otherwise) {
    return arguments.size() > at ? std::atoi(arguments[at].c_str()) : otherwise;
  };
  Setting setting{.address = {.text = cat("unix://", arguments[0]),
                              .unix_socket = arguments[0],
                              .base = "http://engine",
                              .ssh = {}},
                  .image = arguments[1],
                  .services = number(2, 20),
                  .workers = number(3, 4)};
  HttpClient http;
  Engine engine(http, setting.address);
  TRY(clear(engine, "bare", setting.workers));
  TRY(clear(engine, "driven", setting.workers));
  std::vector<double> bare, driven;
  for (int i = 0; i < number(4, 3); ++i) {
    bare.push_back(TRY(run_bare(setting, http, engine)));
    if (arguments.size() > 5)
      continue;  // only the bare calls are asked for
    driven.push_back(TRY(run_driver(setting, http, engine)));
    std::printf("bare %7.0f ms   driver %7.0f ms\n", bare.back(), driven.back());
    std::fflush(stdout);
  }
  const double best_bare = *std::ranges::min_element(bare);
  if (driven.empty()) {
    std::printf("%.0f\n", best_bare);
    return {};
  }
  const double best_driven = *std::ranges::min_element(driven);
  std::printf("%d services, %d workers: bare %.0f ms, driver %.0f ms, ratio %.2f\n",
              setting.services, setting.workers, best_bare, best_driven, best_driven / best_bare);
  return {};
}

}  // namespace
}  // namespace fettle

int main(int count, char** values) {
  const fettle::Status done = fettle::run(std::vector<std::string>(values + 1, values + count));
  if (!done)
    std::fprintf(stderr, "bare_engine: %s\n", fettle::to_string(done.error()).c_str());
  return done ? 0 : 1;
}
