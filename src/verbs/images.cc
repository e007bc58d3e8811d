#include "verbs/images.h"

#include "base/text.h"
#include "kinds/kinds.h"

namespace fettle {

Result<Summary> pull_images(const Workplace& place, const std::vector<std::string>& references) {
  // They belong to the machine, so the environment is the one without a name.
  const std::unique_ptr<Edit> edit = TRY(begin_edit(place, Name(), true));
  auto intent = std::make_shared<Intent>();
  for (const std::string& reference : references) {
    Resource image;
    image.key = {Name(), "image", reference};
    image.attributes = TRY(image_kind().normalise(Value::dict({{"reference", reference}})));
    image.driver = "engine";
    image.origin = place.command;
    intent->resources[Name()].push_back(std::move(image));
  }
  return TRY(edit_by(place, *edit, intent)).summary;
}

}  // namespace fettle
