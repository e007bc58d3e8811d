#include "controller/node_news.h"

#include "store/edit.h"
#include "workplace/engines.h"

namespace fettle {
namespace {

constexpr Duration node_pause = 5s;  ///< between two looks at the nodes

}  // namespace

NodeNews::NodeNews(const Workplace& place, FleetCache& cache, Edit& edit,
                   std::function<void()> answered)
    : place_(place),
      cache_(cache),
      edit_(edit),
      looks_(place.interrupt->acts_token(), std::move(answered)) {}

Result<bool> NodeNews::hear() {
  const std::vector<NodeSpec> nodes = TRY(nodes_of(*place_.store));
  std::string mark = mark_of(nodes);
  if (mark == heard_)
    return false;
  lost_.clear();
  std::set<Name> unasked;
  for (const NodeSpec& node : nodes)
    if (node.is_lost)
      lost_.push_back(node.name);
    else if (unasked_.contains(node.name) || cache_.fleet().node(node.name) == nullptr)
      unasked.insert(node.name);
  tell_nodes(cache_.fleet(), nodes);
  unasked_ = std::move(unasked);
  asked_ = Instant();  // a new node has to be asked
  heard_ = std::move(mark);
  has_to_tell_ = true;
  TRY(tell_heard());
  return true;
}

Status NodeNews::tell_heard() {
  if (!has_to_tell_ || !lost_.empty() || !unasked_.empty())
    return {};
  has_to_tell_ = false;
  return edit_.put_note(heard_note, heard_);
}

Status NodeNews::forget_lost() {
  if (lost_.empty())
    return {};
  std::vector<Change> gone;
  for (const auto& [key, record] : cache_.view().known)
    if (const Resource* const then = resource_of_then(*record); then != nullptr)
      for (const Name& node : lost_)
        if (then->driver == engine_of_node(node))
          gone.push_back({Change::forget, key, nullptr, {}});
  TRY(edit_.write(gone));
  lost_.clear();
  return tell_heard();
}

Result<bool> NodeNews::watch() {
  bool is_any_back = false;
  if (auto answer = looks_.take())
    is_any_back = TRY(learn(TRY(*std::move(answer))));
  const Instant now = instant_from_clock();
  if (looks_.began() || now - asked_ < node_pause)
    return is_any_back;
  asked_ = now;
  looks_.begin(question_about_nodes(place_, cache_.fleet()), now);
  return is_any_back;
}

Result<bool> NodeNews::learn(const std::map<Name, bool>& answers) {
  workloads::Fleet& fleet = cache_.fleet();
  bool is_any_back = false;
  for (const auto& [name, is_ready] : answers) {
    const workloads::Node* const known = fleet.node(name);
    if (known == nullptr || known->is_ready == is_ready)
      continue;
    is_any_back |= is_ready;
    workloads::Node node = *known;
    node.is_ready = is_ready;
    fleet.put_node(std::move(node));
  }
  std::erase_if(unasked_, [&](const Name& name) { return answers.contains(name); });
  TRY(tell_heard());
  TRY(look_at_room(place_, fleet));
  return is_any_back;
}

}  // namespace fettle
