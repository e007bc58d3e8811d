#include "core/ready_condition.h"

#include "base/text.h"

namespace fettle {
namespace {

constexpr std::string_view suffix = "#ready";

}  // namespace

Name ready_condition_name(const Name& service) { return Name(cat(service, suffix)); }

std::optional<std::string> shown_ready_condition(const Key& key) {
  std::string_view service = key.name.view();
  if (key.kind != ready_condition_kind || !service.ends_with(suffix))
    return std::nullopt;
  service.remove_suffix(suffix.size());
  return cat("service/", service, " (ready condition)");
}

}  // namespace fettle
