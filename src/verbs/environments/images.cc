#include "verbs/environments/images.h"

#include "base/text.h"
#include "kinds/kinds.h"
#include "workplace/engines.h"

namespace fettle {
namespace {

/// Prints which images are being pulled.
class PullTeller : public Audience {
 public:
  explicit PullTeller(const Workplace& place) : place_(place) {}
  void event(const Event& event) override {
    if (event.type == EventType::started)
      place_.tell(cat("pulling ", event.key.name));
  }

 private:
  const Workplace& place_;
};

}  // namespace

Result<Summary> pull_images(const Workplace& place, const Intent& wanted) {
  // Images belong to the machine, so the environment is the one without a name.
  const std::unique_ptr<Edit> edit = TRY(begin_edit(place, Name(), true));
  auto intent = std::make_shared<Intent>();
  PullTeller teller(place);
  for (const auto& [environment, resources] : wanted.resources)
    for (const Resource& resource : resources) {
      if (resource.key.kind != "image")
        continue;
      Resource image;
      image.key = {Name(), "image", resource.key.name};
      image.attributes = resource.attributes;
      image.driver = own_engine;
      image.origin = place.command;
      intent->resources[Name()].push_back(std::move(image));
    }
  RunRequest run_request;
  run_request.intent = std::move(intent);
  run_request.known = TRY(place.store->known(Name()));
  run_request.audience = &teller;
  return TRY(carry_out(place, *edit, std::move(run_request))).summary;
}

}  // namespace fettle
