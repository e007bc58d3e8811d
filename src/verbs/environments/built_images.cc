#include "verbs/environments/built_images.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "kinds/build.h"
#include "kinds/kinds.h"
#include "verbs/environments/inside.h"

namespace fettle {
namespace {

/// The ids of the images that environments have. None: a build may be under way.
Result<std::optional<std::set<std::string>>> wanted_images(const Workplace& place) {
  std::set<std::string> wanted;
  for (const Environment& environment : TRY(place.store->environments()))
    for (const auto& [key, record] : TRY(place.store->known(environment.name))) {
      if (key.kind != build_kind().name())
        continue;
      if (record->attempt && !record->attempt->failed)
        return std::optional<std::set<std::string>>();
      if (const Value id = read<ImageBuildOutputs>(record->outputs).id; id.is_text())
        wanted.insert(id.text().str());
    }
  return wanted;
}

/// The name that people know: ours goes last.
std::string shown_name(const ListedImage& image) {
  const auto own = [](const std::string& reference) {
    return reference.find("/fettle-build/") != std::string::npos;
  };
  for (const std::string& reference : image.references)
    if (!own(reference))
      return name_of_build(reference);
  // `localhost/fettle-build/HOME/HOST/NAME:ID`, with `--` for the `:` of a port.
  std::string name = image.references.front();
  for (int i = 0; i < 3; ++i)
    name = name.substr(name.find('/') + 1);
  const size_t host = name.find('/');
  return name_of_build(replace_all(name.substr(0, host), "--", ":") +
                       name.substr(host, name.rfind(':') - host));
}

}  // namespace

Result<OldImages> remove_old_images(const Workplace& place) {
  OldImages old;
  const Result<ContainerEngine*> engine = engine_inside(place);
  if (!engine)
    return old;
  const std::stop_token stop = place.interrupt->acts_token();
  // In this order: what is listed is older than the records.
  const Result<std::vector<ListedImage>> built = (*engine)->built_images(stop);
  if (stop.stop_requested())
    return cancelled_error();
  if (!built || built->empty())
    return old;
  const std::optional<std::set<std::string>> wanted = TRY(wanted_images(place));
  if (!wanted)
    return old;
  for (const ListedImage& image : *built) {
    if (wanted->contains(image.id))
      continue;
    const bool is_gone = TRY((*engine)->remove_built_image(image, stop));
    (is_gone ? old.removed : old.used).push_back(shown_name(image));
  }
  std::ranges::sort(old.removed);
  std::ranges::sort(old.used);
  return old;
}

}  // namespace fettle
