#include "packages/compose/order.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "packages/compose/project.h"

namespace fettle::compose {
namespace {

/// What comes before a service: what it depends on, and the services whose images its own is made
/// with.
std::vector<std::pair<std::string, Where>> needs_of(const Service& service) {
  std::vector<std::pair<std::string, Where>> needs;
  for (const Dependency& needed : service.depends_on)
    needs.emplace_back(needed.service, needed.where);
  if (service.build)
    for (const NamedContext& context : service.build->contexts)
      if (!context.service.empty())
        needs.emplace_back(context.service, context.where);
  return needs;
}

/// The way around from one of those that are left; each needs one that is left.
Error circle(const std::vector<Service>& services, const std::map<std::string, size_t>& left) {
  std::vector<std::string> way;
  Where last;
  std::string name = left.begin()->first;
  while (std::ranges::find(way, name) == way.end()) {
    way.push_back(name);
    for (const auto& [needed, where] : needs_of(services[left.at(name)]))
      if (left.contains(needed)) {
        last = where;
        name = needed;
        break;
      }
  }
  way.erase(way.begin(), std::ranges::find(way, name));
  std::string text;
  for (const std::string& one : way)
    text += cat("`", printable(one), "` needs ");
  return user_error(cat("services need each other: ", text, "`", printable(name), "`"), last);
}

Status check_names(const std::vector<Service>& services) {
  std::map<std::string, const Service*> known;
  for (const Service& service : services) {
    const std::string name = environment_name(service);
    const auto [other, is_new] = known.emplace(name, &service);
    if (!is_new)
      return user_error(cat("the services `", printable(other->second->name), "` and `",
                            printable(service.name), "` would both be called `", name,
                            "`; `container_name` gives one of them another name"),
                        service.where);
  }
  return {};
}

}  // namespace

Result<std::vector<Service>> in_order(std::vector<Service> services) {
  TRY(check_names(services));
  std::map<std::string, size_t> left;
  std::map<std::string, std::vector<size_t>> users;
  std::vector<size_t> open(services.size());
  for (size_t i = 0; i < services.size(); ++i) {
    left[services[i].name] = i;
    std::set<std::string> needed;
    for (const auto& [one, where] : needs_of(services[i]))
      if (needed.insert(one).second)
        users[one].push_back(i);
    open[i] = needed.size();
  }
  const auto by_name = [&](size_t one, size_t other) {
    return environment_name(services[one]) < environment_name(services[other]);
  };
  std::vector<size_t> queue;
  for (size_t i = 0; i < services.size(); ++i)
    if (open[i] == 0)
      queue.push_back(i);
  std::ranges::sort(queue, by_name);
  for (size_t next = 0; next < queue.size(); ++next) {
    const std::string& name = services[queue[next]].name;
    left.erase(name);
    std::vector<size_t> ready;
    for (const size_t user : users[name])
      if (--open[user] == 0)
        ready.push_back(user);
    std::ranges::sort(ready, by_name);
    queue.insert(queue.end(), ready.begin(), ready.end());
  }
  if (!left.empty())
    return circle(services, left);
  std::vector<Service> ordered;
  for (const size_t i : queue)
    ordered.push_back(std::move(services[i]));
  return ordered;
}

}  // namespace fettle::compose
