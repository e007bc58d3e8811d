#include "model/export/service_identity.h"

#include <algorithm>

#include "base/text.h"
#include "model/export/attributes.h"
#include "model/program/text_form.h"

namespace fettle::model {
namespace {

bool is_of_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_number(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_nothing(const Datum& value) {
  return value.tag == Tag::unset || value.tag == Tag::null || value.tag == Tag::unknown;
}

}  // namespace

/// A name under examination: each of its letters may belong to one key only.
class ServiceIdentities::Name {
 public:
  Name(ServiceIdentities& identities, SetNumber set, std::span<const NamePart> parts)
      : identities_(identities), set_(set) {
    parts_.reserve(parts.size());
    for (const NamePart& part : parts)
      parts_.push_back(made_of(part));
  }

  /// Whether a part is something that only this set contributes.
  bool has_own() const {
    return std::ranges::any_of(parts_, [&](const Part& part) {
      if (part.instance == nullptr)
        return false;
      const auto contributors = identities_.ownership_.contributors(*part.instance);
      return contributors.size() == 1 && contributors.front() == set_;
    });
  }

  IdentityMatch match(const Identity& identity) {
    for (Part& part : parts_)
      part.taken.assign(part.text.size(), false);
    IdentityMatch match;
    for (const Key& key : identity)
      (take(key) ? match.has : match.lacks).push_back(key.name);
    match.is_whole = match.lacks.empty();
    return match;
  }

 private:
  struct Part {
    std::string text;
    const Instance* instance = nullptr;
    Source source;
    std::optional<Origin> origin{};  ///< once somebody asked for it
    std::vector<bool> taken{};
  };

  Part made_of(const NamePart& part) const {
    if (part.source.first == nullptr)
      return {part.text, nullptr, {}, Origin{{}, true, true}};
    const Datum& value = part.source.first->cells[part.source.second].value;
    if (value.tag == Tag::instance)
      return {"", value.instance, part.source};
    return {is_nothing(value) ? "" : text_of(identities_.model_.program, value), nullptr,
            part.source};
  }

  bool take(const Key& key) {
    return key.text.empty() ||
           std::ranges::any_of(parts_, [&](Part& part) { return take(key, part); });
  }

  bool take(const Key& key, Part& part) {
    if (part.instance != nullptr)
      return part.instance == key.holder;
    for (size_t at = part.text.find(key.text); at != std::string::npos;
         at = part.text.find(key.text, at + 1))
      if (is_free(part, at, key.text.size())) {
        if (!part.origin)
          part.origin = identities_.origins_.of(part.source, identities_.service(set_));
        if (!identities_.is_made_of(*part.origin, key, set_))
          return false;
        std::fill_n(part.taken.begin() + static_cast<ptrdiff_t>(at), key.text.size(), true);
        return true;
      }
    return false;
  }

  /// Whether it is a word that was not read as part of another key.
  static bool is_free(const Part& part, size_t begin, size_t size) {
    const size_t end = begin + size;
    const auto first = part.taken.begin() + static_cast<ptrdiff_t>(begin);
    return (begin == 0 || !is_of_word(part.text[begin - 1])) &&
           (end == part.text.size() || !is_of_word(part.text[end])) &&
           std::find(first, first + static_cast<ptrdiff_t>(size), true) ==
               first + static_cast<ptrdiff_t>(size);
  }

  ServiceIdentities& identities_;
  SetNumber set_;
  std::vector<Part> parts_;
};

ServiceIdentities::ServiceIdentities(const Model& model, const Ownership& ownership)
    : model_(model), ownership_(ownership), origins_(model) {
  for (const Allocation& allocation : model.allocations())
    for (const SetNumber set : ownership.contributors(allocation.by))
      allocated_.emplace(set, text_of(model.program, allocation.value));
}

IdentityMatch ServiceIdentities::match(SetNumber set, std::span<const NamePart> name) {
  Name examined(*this, set, name);
  if (examined.has_own())
    return {true, {}, {}};
  IdentityMatch best;
  for (const Identity& identity : identities(set)) {
    IdentityMatch match = examined.match(identity);
    if (match.is_whole)
      return match;
    if (match.has.size() > best.has.size())
      best = std::move(match);
  }
  return best;
}

/// The keys of an index of the instance that constructed the set, or its name, or what was
/// allocated for it. Those of one set at a time are kept, since things of one set mostly stand
/// together.
const std::vector<ServiceIdentities::Identity>& ServiceIdentities::identities(SetNumber set) {
  if (known_set_ == set)
    return known_;
  known_set_ = set;
  std::vector<Identity>& all = known_;
  all.clear();
  const Instance* const maker = service(set);
  if (maker != nullptr)
    for (const Index* index : maker->entity->indexes)
      add_keys(*maker, *index, "", all.emplace_back(), 0);
  all.push_back({{Key::From::set_name, "name", ownership_.name(set).str(),
                  end_of_path(model_, ownership_.instance(set), "name")}});
  for (auto [at, end] = allocated_.equal_range(set); at != end; ++at)
    all.push_back({{Key::From::allocation, "allocation", at->second, {}}});
  // A long key may contain a short one.
  for (Identity& identity : all)
    std::ranges::stable_sort(identity, std::greater(),
                             [](const Key& key) { return key.text.size(); });
  return all;
}

/// A key that is another instance is replaced by the keys of that.
void ServiceIdentities::add_keys(const Instance& of, const Index& index, const std::string& path,
                                 Identity& keys, int depth) const {
  constexpr int deepest = 10;
  for (const Symbol symbol : index.names) {
    const uint32_t slot = of.entity->slot(symbol);
    const Datum& value = of.cells[slot].value;
    const std::string name = path + model_.program.symbols.name(symbol);
    if (value.tag != Tag::instance) {
      keys.push_back({Key::From::key,
                      name,
                      is_nothing(value) ? "" : text_of(model_.program, value),
                      {&of, slot},
                      &of});
      continue;
    }
    const std::vector<Index*>& indexes = value.instance->entity->indexes;
    if (!indexes.empty() && depth < deepest)
      add_keys(*value.instance, *indexes.front(), name + ".", keys, depth + 1);
  }
}

bool ServiceIdentities::is_made_of(const Origin& origin, const Key& key, SetNumber set) {
  switch (key.from) {
    case Key::From::key:
      return origin.may_have(key.source);
    case Key::From::allocation:
      return origin.may_come_from_plugin();
    case Key::From::set_name:
      return may_hold_name(origin, key, set);
  }
  return false;
}

/// Whether it is made from the name of the set, or from all that this name is made from. A name
/// that is made from nothing names a set that was written by hand; but then a number is no name.
bool ServiceIdentities::may_hold_name(const Origin& origin, const Key& name, SetNumber set) {
  if (origin.may_have(name.source))
    return true;
  const auto [known, is_new] = names_.try_emplace(set);
  if (is_new) {
    known->second = origins_.of(name.source, service(set));
    known->second.sources.erase(name.source);
  }
  const Origin& of_name = known->second;
  if (of_name.is_constant())
    return !is_number(name.text);
  return !origin.is_constant() && std::ranges::includes(origin.sources, of_name.sources) &&
         (!of_name.is_from_plugin || origin.is_from_plugin);
}

}  // namespace fettle::model
