#include "verbs/images.h"

#include <thread>

#include "base/text.h"
#include "kinds/kinds.h"

namespace fettle {

Status pull_image(const Workplace& place, const std::string& reference) {
  Driver* driver = place.driver("engine");
  if (driver == nullptr)
    return world_error("there is no engine");
  Act act;
  act.verb = Verb::create;
  act.key = {Name(), "image", reference};
  act.attributes = TRY(image_kind().normalise(Value::dict({{"reference", reference}})));
  place.tell(cat("pulling ", reference));
  for (;; ++act.attempt) {
    const Outcome outcome =
        TRY(driver->apply(
                      act, [](const Progress&) {}, place.interrupt->acts_token())
                .context(cat("image `", reference, "`")));
    const auto* pending = std::get_if<Pending>(&outcome);
    if (pending == nullptr)
      return {};
    if (place.interrupt->asked() > 0)
      return world_error(cat("interrupted while waiting: ", pending->what));
    act.so_far = pending->so_far;
    std::this_thread::sleep_for(pending->retry_after.value_or(50ms));
  }
}

}  // namespace fettle
