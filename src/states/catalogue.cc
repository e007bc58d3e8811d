#include "states/catalogue.h"

#include <algorithm>
#include <map>
#include <set>

namespace fettle::states {
namespace {

class ListedCatalogue : public Catalogue {
 public:
  ListedCatalogue(std::vector<Module> modules, Waits waits) : waits_(std::move(waits)) {
    for (Module& module : modules) {
      const std::string ref = module.ref.str();
      modules_.insert_or_assign(ref, std::move(module));
    }
  }
  const Module* find(std::string_view ref) const override {
    const auto found = modules_.find(ref);
    return found == modules_.end() ? nullptr : &found->second;
  }
  std::vector<std::string> refs() const override {
    std::vector<std::string> refs;
    for (const auto& [ref, module] : modules_)
      refs.push_back(ref);
    return refs;
  }
  const Waits& waits() const override { return waits_; }

 private:
  std::map<std::string, Module, std::less<>> modules_;
  Waits waits_;
};

class JoinedCatalogue : public Catalogue {
 public:
  explicit JoinedCatalogue(std::vector<const Catalogue*> catalogues)
      : catalogues_(std::move(catalogues)) {
    for (const Catalogue* catalogue : catalogues_)
      waits_.insert(catalogue->waits().begin(), catalogue->waits().end());
  }
  const Module* find(std::string_view ref) const override {
    for (const Catalogue* catalogue : catalogues_)
      if (const Module* module = catalogue->find(ref))
        return module;
    return nullptr;
  }
  std::vector<std::string> refs() const override {
    std::set<std::string> refs;
    for (const Catalogue* catalogue : catalogues_)
      refs.merge([&] {
        const std::vector<std::string> some = catalogue->refs();
        return std::set<std::string>(some.begin(), some.end());
      }());
    return {refs.begin(), refs.end()};
  }
  const Waits& waits() const override { return waits_; }

 private:
  std::vector<const Catalogue*> catalogues_;
  Waits waits_;
};

}  // namespace

const Waits& Catalogue::waits() const {
  static const Waits none;
  return none;
}

const Parameter* Function::find(std::string_view parameter) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& one) {
    return one.name == parameter ||
           std::ranges::any_of(one.aliases, [&](const Name& alias) { return alias == parameter; });
  });
  return found == parameters.end() ? nullptr : &*found;
}

bool Function::remembers(std::string_view parameter) const {
  const Parameter* const found = find(parameter);
  return found != nullptr &&
         (!remembered || std::ranges::find(*remembered, found->name) != remembered->end());
}

const Function* Module::find(std::string_view function) const {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const Function& one) { return one.name == function; });
  return found == functions.end() ? nullptr : &*found;
}

std::unique_ptr<Catalogue> joined(std::vector<const Catalogue*> catalogues) {
  return std::make_unique<JoinedCatalogue>(std::move(catalogues));
}

std::unique_ptr<Catalogue> catalogue_of(std::vector<Module> modules, Waits waits) {
  return std::make_unique<ListedCatalogue>(std::move(modules), std::move(waits));
}

}  // namespace fettle::states
