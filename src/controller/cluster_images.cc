#include "controller/cluster_images.h"

#include "base/text.h"

namespace fettle {
namespace {

const Value& row_of_tag(const Value& tags, std::string_view tag) {
  static const Value none;
  for (const Value& row : items_of(tags))
    if (row.text_at("tag") == tag)
      return row;
  return none;
}

std::string owner_of_order(const Value& order) {
  for (const Value& owner : items_of(order.at("ownerReferences")))
    return cat(owner.text_at("kind"), "/", owner.text_at("namespace"), "/", owner.text_at("name"));
  return {};
}

ImageView view_of_order(const Value& order, const Value& result) {
  const bool is_answered = result.integer_at("version") >= order.integer_at("version");
  const std::string_view phase = is_answered ? result.text_at("phase") : std::string_view();
  ImageView view{.node = {}, .image = {}, .status = "Pulling", .owner = {}, .why = {}};
  if (phase == "Succeeded") {
    view.status = "Present";
    return view;
  }
  view.owner = owner_of_order(order);
  if (phase == "Failed") {
    view.status = "Failed";
    view.why = result.text_at("message");
  }
  return view;
}

}  // namespace

std::vector<ImageView> images_asked_of_node(const Value& node_image) {
  std::vector<ImageView> found;
  const Value& orders = node_image.at("spec").at("images");
  const Value& results = node_image.at("status").at("imageStatuses");
  if (!orders.is_dict())
    return found;
  for (const Entry& image : orders.entries())
    for (const Value& order : items_of(image.value.at("tags"))) {
      const std::string_view tag = order.text_at("tag");
      ImageView view = view_of_order(order, row_of_tag(results.at(image.key).at("tags"), tag));
      view.node = node_image.at("metadata").text_at("name");
      view.image = cat(image.key, tag.starts_with("sha256:") ? "@" : ":", tag);
      found.push_back(std::move(view));
    }
  return found;
}

}  // namespace fettle
