#include "states/managed_path.h"

#include <filesystem>

#include "base/text.h"
#include "core/state_tag.h"
#include "kinds/file.h"
#include "kinds/kinds.h"
#include "kinds/owned.h"
#include "kinds/state.h"
#include "value/mask.h"

namespace fettle::states {
namespace {

Value path_of(const Key& key, const Attributes& attributes) {
  static const Name of_file = file_kind().name(), of_folder = folder_kind().name(),
                    of_link = link_kind().name(), of_state = state_kind().name();
  if (key.kind == of_file || key.kind == of_folder || key.kind == of_link)
    return read_one<&File::path>(attributes).value();
  if (key.kind != of_state || read_one<&StateInvocation::state>(attributes).view() != "data" ||
      read_one<&StateInvocation::function>(attributes).view() != "write")
    return {};
  const Value file = read_one<&StateInvocation::arguments>(attributes).at("file_name");
  return file.is_null() ? read_one<&StateInvocation::name>(attributes).value() : file;
}

}  // namespace

std::optional<std::string> managed_path(const Key& key, const Attributes& attributes) {
  if (attributes.is_null() || read_one<&File::path>(attributes).has_hole())
    return std::nullopt;
  const Value path = reveal(path_of(key, attributes));
  if (!path.is_text() || path.text().empty() || path.text().view().find('\0') != std::string::npos)
    return std::nullopt;
  std::error_code ignored;
  const std::string whole = std::filesystem::absolute(path.text().str(), ignored).string();
  return place_of_path(whole);
}

std::string manages_too(const Key& owner, std::string_view path) {
  const StateTag tag = StateTag::parse(owner.name).value_or(StateTag());
  return cat("ID ", tag.id, " manages `", path, "`, too: one path has one owner");
}

}  // namespace fettle::states
