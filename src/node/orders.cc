#include "node/orders.h"

#include <algorithm>

#include "base/rfc3339.h"
#include "base/text.h"

namespace fettle::node {
namespace {

constexpr int64_t most_seconds = int64_t{366} * 24 * 3'600;  ///< what is longer may overflow
constexpr int64_t most_attempts = 1'000;

/// None: absent, or no number above zero.
std::optional<Duration> seconds_at(const Value& dict, std::string_view key) {
  const int64_t seconds = dict.integer_at(key, 0);
  if (seconds <= 0)
    return {};
  return std::min(seconds, most_seconds) * Duration(1s);
}

std::map<std::string, std::string> texts_in(const Value& dict) {
  std::map<std::string, std::string> texts;
  if (!dict.is_dict())
    return texts;
  for (const Entry& entry : dict.entries())
    if (entry.value.is_text())
      texts.emplace(entry.key.view(), entry.value.text().view());
  return texts;
}

/// What all tags of an image have in common.
ImageOrder order_of_image(std::string_view name, const Value& spec) {
  ImageOrder order{.image = std::string(name)};
  for (const Value& secret : items_of(spec.at("pullSecrets")))
    if (!secret.text_at("name").empty() && !secret.text_at("namespace").empty())
      order.secrets.push_back(
          {std::string(secret.text_at("namespace")), std::string(secret.text_at("name"))});
  order.labels = texts_in(spec.at("sandboxConfig").at("labels"));
  order.annotations = texts_in(spec.at("sandboxConfig").at("annotations"));
  return order;
}

ImageOrder order_of_tag(ImageOrder order, const Value& spec) {
  order.tag = spec.text_at("tag");
  order.version = spec.integer_at("version");
  if (const Result<Time> created = read_moment(spec.text_at("createdAt")))
    order.created = *created;
  order.is_always_pulled = spec.text_at("imagePullPolicy") == "Always";
  const Value& policy = spec.at("pullPolicy");
  order.timeout = seconds_at(policy, "timeoutSeconds").value_or(order.timeout);
  order.active_deadline = seconds_at(policy, "activeDeadlineSeconds");
  if (const int64_t limit = policy.integer_at("backoffLimit", order.backoff_limit); limit >= 0)
    order.backoff_limit = std::min(limit, most_attempts);
  for (const Value& owner : items_of(spec.at("ownerReferences")))
    if (owner.is_dict())
      order.owners.push_back(owner);
  return order;
}

}  // namespace

std::string ImageOrder::reference() const {
  const bool is_digest = tag.find(':') != tag.npos;
  return cat(image, is_digest ? "@" : ":", tag);
}

std::map<ImageAndTag, ImageOrder> read_orders(const Value& node_image) {
  std::map<ImageAndTag, ImageOrder> orders;
  const Value& images = node_image.at("spec").at("images");
  if (!images.is_dict())
    return orders;
  for (const Entry& entry : images.entries()) {
    const ImageOrder common = order_of_image(entry.key.view(), entry.value);
    for (const Value& tag : items_of(entry.value.at("tags")))
      if (!tag.text_at("tag").empty()) {
        ImageOrder order = order_of_tag(common, tag);
        orders.insert_or_assign(ImageAndTag(order.image, order.tag), std::move(order));
      }
  }
  return orders;
}

}  // namespace fettle::node
