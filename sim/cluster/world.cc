#include "sim/cluster/world.h"

#include "base/text.h"
#include "sim/cluster/line.h"
#include "value/json.h"

namespace fettle::sim {
namespace {

using kubernetes::ApiAnswer;
using kubernetes::ApiRequest;

constexpr size_t most_lines = 400;
/// A server goes through what it remembers for each watch.
constexpr size_t changes_between_compactions = 150;
constexpr std::string_view lease_path =
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/fettle";

std::string_view path_of_target(std::string_view target) {
  return target.substr(0, target.find('?'));
}

}  // namespace

void World::begin() {
  for (const char* path : {"/api/v1/pods", "/apis/apps.kruise.io/v1beta1/nodeimages"}) {
    const ApiAnswer answer = server.handle(
        {.target = cat(path, "?watch=true&timeoutSeconds=1000000")}, turns.now().wall);
    if (answer.watch)
      watches_.push_back(*answer.watch);
  }
}

ApiAnswer World::handle(const ApiRequest& request, const std::string& who) {
  const bool is_write = request.method != "GET";
  const bool is_of_lease = request.target.find("/leases") != std::string::npos;
  if (is_write && !who.empty() && !is_of_lease) {
    ++writes;
    check_lease(request, who);
  }
  ApiAnswer answer = server.handle(request, turns.now().wall);
  if (!is_write)
    return answer;
  if (!is_of_lease)
    note(cat(who.empty() ? "-" : who, " ", request.method, " ", path_of_target(request.target), " ",
             answer.status, " ", request.method == "POST" ? "" : clipped(request.body, 300)));
  if (answer.status < 300)
    tell();
  return answer;
}

ApiAnswer World::ask(std::string method, std::string target, const Value& body,
                     std::string_view patch_type) {
  ApiRequest request{.method = std::move(method), .target = std::move(target)};
  request.content_type = request.method == "PATCH" ? cat("application/", patch_type, "-patch+json")
                                                   : "application/json";
  if (!body.is_null())
    request.body = write_json(body, {.show_secrets = true});
  return handle(request);
}

Value World::get(const std::string& path) {
  const ApiAnswer answer = server.handle({.target = path}, turns.now().wall);
  return answer.status == 200 ? answer.body : Value();
}

std::vector<Value> World::list(const std::string& path) {
  const ApiAnswer answer = server.handle({.target = path}, turns.now().wall);
  std::vector<Value> found;
  for (const Value& item : items_of(answer.body.at("items")))
    found.push_back(item);
  return found;
}

/// Tells listeners at once and lines later. A listener may write, which is told after it.
void World::tell() {
  for (const auto& [number, line] : lines)
    line->note_change();
  if (is_telling_)
    return;
  is_telling_ = true;
  for (bool is_any = true; is_any;) {
    is_any = false;
    for (const uint64_t watch : watches_) {
      std::string all;
      server.take_lines(watch, all, turns.now().wall);
      for (const std::string_view line : split(all, '\n')) {
        if (line.empty())
          continue;
        const Value event = *read_json(line);
        const std::string type(event.text_at("type"));
        if (type == "BOOKMARK")
          continue;
        is_any = true;
        for (const Told& told : listeners_)
          told(type, event.at("object"));
      }
    }
  }
  is_telling_ = false;
  if (++since_compaction_ >= changes_between_compactions) {
    since_compaction_ = 0;
    server.compact();
  }
}

/// Nobody writes but the holder of the lease, however late it arrives.
void World::check_lease(const ApiRequest& request, const std::string& who) {
  if (!has_leases)
    return;
  const Value lease = get(std::string(lease_path));
  if (const std::string_view holder = lease.at("spec").text_at("holderIdentity"); holder != who)
    complain(cat(who, " writes without the lease, which `", holder, "` has: ", request.method, " ",
                 path_of_target(request.target)));
}

void World::complain(std::string what) {
  note(cat("PROBLEM: ", what));
  if (problem_.empty())
    problem_ = cat("at ", to_string(time()), ": ", what);
}

void World::note(std::string line) {
  history_.push_back(
      cat(to_string(std::chrono::floor<std::chrono::milliseconds>(time())), " ", std::move(line)));
  if (history_.size() > most_lines && problem_.empty())
    history_.pop_front();
}

std::string World::history() const {
  std::string all;
  for (const std::string& line : history_)
    all += line + "\n";
  return all;
}

}  // namespace fettle::sim
