#include "states/managed_path.h"

#include <filesystem>

#include "base/text.h"
#include "core/state_tag.h"
#include "kinds/kinds.h"
#include "kinds/owned.h"
#include "value/mask.h"

namespace fettle::states {
namespace {

Value path_of(const Key& key, const Value& attributes) {
  static const Name of_file = file_kind().name(), of_folder = folder_kind().name(),
                    of_link = link_kind().name(), of_state = state_kind().name();
  if (key.kind == of_file || key.kind == of_folder || key.kind == of_link)
    return attributes.at("path");
  if (key.kind != of_state || attributes.text_at("state") != "data" ||
      attributes.text_at("function") != "write")
    return {};
  const Value& file = attributes.at("arguments").at("file_name");
  return file.is_null() ? attributes.at("name") : file;
}

}  // namespace

std::optional<std::string> managed_path(const Key& key, const Value& attributes) {
  if (!attributes.is_dict() || attributes.at("path").has_deferred())
    return std::nullopt;
  const Value path = reveal(path_of(key, attributes));
  if (!path.is_text() || path.text().empty() || path.text().view().find('\0') != std::string::npos)
    return std::nullopt;
  std::error_code ignored;
  const std::string whole = std::filesystem::absolute(path.text().str(), ignored).string();
  return place_of_path(Value::dict({{"path", whole}}), {});
}

std::string manages_too(const Key& owner, std::string_view path) {
  const StateTag tag = StateTag::parse(owner.name).value_or(StateTag());
  return cat("ID ", tag.id, " manages `", path, "`, too: one path has one owner");
}

}  // namespace fettle::states
