#include "versions/circle.h"

#include "base/text.h"

namespace fettle {

Result<std::vector<Name>> CircleSearch::from(const Name& id) {
  if (seen_.contains(id))
    return std::vector<Name>();
  path_.clear();
  path_.push_back({id, TRY(needs_(id))});
  seen_[id] = true;
  while (!path_.empty()) {
    OpenNode& top = path_.back();
    if (top.next == top.needs.size()) {
      seen_[top.id] = false;
      path_.pop_back();
      continue;
    }
    const Name need = top.needs[top.next++];
    const auto known = seen_.find(need);
    if (known == seen_.end()) {
      seen_[need] = true;
      path_.push_back({need, TRY(needs_(need))});
    } else if (known->second) {
      return circle(need);
    }
  }
  return std::vector<Name>();
}

std::vector<Name> CircleSearch::circle(const Name& again) const {
  std::vector<Name> found;
  for (const OpenNode& open : path_)
    if (!found.empty() || open.id == again)
      found.push_back(open.id);
  found.push_back(again);
  return found;
}

std::string circle_text(const std::vector<Name>& circle) {
  constexpr size_t shown = 8;
  std::string text;
  for (size_t i = 0; i < circle.size(); ++i) {
    if (circle.size() > 2 * shown && i == shown) {
      text += cat(" -> … ", circle.size() - 2 * shown, " more …");
      i = circle.size() - shown;
    }
    text += cat(i == 0 ? "" : " -> ", circle[i]);
  }
  return text;
}

}  // namespace fettle
