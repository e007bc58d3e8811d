#include "model/export/claims.h"

#include "base/text.h"
#include "model/export/attributes.h"
#include "model/text_form.h"
#include "value/json.h"

namespace fettle::model {

const fettle::Name& Identities::of(const Instance& instance) {
  const auto known = names_.find(instance.number);
  if (known != names_.end())
    return known->second;
  std::string made = instance.entity->indexes.empty()
                         ? anonymous(instance)
                         : by_index(instance, *instance.entity->indexes.front());
  return names_.emplace(instance.number, made).first->second;
}

std::string Identities::by_index(const Instance& instance, const Index& index) {
  std::string made = index.entity->full_name;
  char before = '(';
  for (const Symbol name : index.names) {
    made += before;
    made += model_.program.symbols.name(name);
    made += '=';
    made += text(instance.cells[instance.entity->slot(name)].value);
    before = ',';
  }
  made += ')';
  return made;
}

std::string Identities::text(const Datum& value) {
  if (value.tag == Tag::instance) {
    constexpr int deepest = 50;
    if (depth_ >= deepest)
      return cat("#", value.instance->number);
    ++depth_;
    std::string made = of(*value.instance).str();
    --depth_;
    return made;
  }
  if (value.tag == Tag::unknown)
    return "<unknown>";
  return quoted(model_.program, value);
}

const fettle::Name& Identities::origin(Place at) {
  const auto file = static_cast<uint32_t>(at.file), line = static_cast<uint32_t>(at.line),
             column = static_cast<uint32_t>(at.column);
  const auto [place, is_new] = origins_.try_emplace(std::tuple(file, line, column));
  if (is_new)
    place->second = fettle::Name(model_.where(at));
  return place->second;
}

/// Who made it where: the same in every compile of the same files in which the maker is the same.
std::string Identities::anonymous(const Instance& instance) {
  const Instance* maker = model_.maker(instance);
  std::string made;
  constexpr int deepest = 50;
  if (maker != nullptr && depth_ < deepest) {
    ++depth_;
    made = of(*maker).str();
    --depth_;
  } else {
    made = cat("top(", ownership_.name(ownership_.contributors(instance).front()), ")");
  }
  made += cat("/", instance.entity->full_name, "@", model_.where(instance.at));
  const uint32_t count = anonymous_[made]++;
  return count == 0 ? made : cat(made, "#", count);
}

namespace {

class ClaimMaker {
 public:
  ClaimMaker(const Model& model, const Ownership& ownership, Identities& identities)
      : model_(model), ownership_(ownership), identities_(identities) {
    for (const Repetition& again : model.repetitions())
      repetitions_[again.owner->number].push_back(&again);
    set_entity_ = model.entity("std::ResourceSet");
  }

  std::vector<ClaimedBy> make() {
    for (const Instance* instance : model_.instances())
      if (!instance->entity->indexes.empty() && instance->entity != set_entity_) {
        claim_identity(*instance);
        if (ownership_.member_of(*instance) == 0)
          claim_members(*instance);
      }
    return std::move(claims_);
  }

 private:
  void claim_identity(const Instance& instance) {
    const SetNumber owner = ownership_.member_of(instance);
    std::string all = instance.entity->full_name;
    std::vector<std::string> keys;
    for (const Index* index : instance.entity->indexes) {
      keys.push_back(identities_.by_index(instance, *index));
      all += cat("\n", keys.back());
    }
    const Value said =
        owner != 0 ? Value::dict({{"resource_set", ownership_.name(owner)}}) : values_of(instance);
    Claim claim;
    claim.value = combine(fingerprint(all), said.digest());
    claim.origin = identities_.origin(instance.at);
    std::vector<Entry> told(said.entries().begin(), said.entries().end());
    told.push_back({"type", instance.entity->full_name});
    for (size_t i = 1; i < keys.size(); ++i)
      told.push_back({fettle::Name(cat("index ", i + 1)), keys[i]});
    // Instances of one type in one set say the same, one after the other.
    if (std::string text = write_json(Value::dict(std::move(told))); said_ != text)
      said_ = fettle::Name(text);
    claim.text = said_;
    for (const std::string& key : keys) {
      claim.key = fettle::Name(key);
      for (const SetNumber set : ownership_.contributors(instance))
        claims_.push_back({ownership_.name(set), claim});
    }
  }

  /// Everything that is set and no key. Options and lists are claimed member by member.
  Value values_of(const Instance& instance) {
    std::vector<Entry> entries;
    for (uint32_t slot = 0; slot < instance.entity->slots.size(); ++slot) {
      const Attribute& attribute = *instance.entity->slots[slot];
      if (attribute.shape != Shape::value && attribute.shape != Shape::one)
        continue;
      const Datum& value = instance.cells[slot].value;
      const fettle::Name name(model_.program.symbols.name(attribute.name));
      if (value.tag == Tag::instance) {
        entries.push_back({name, identities_.of(*value.instance)});
      } else if (const Result<Value> made = to_value(model_, value)) {
        entries.push_back({name, *made});
      }
    }
    return Value::dict(std::move(entries));
  }

  void claim_members(const Instance& instance) {
    for (uint32_t slot = 0; slot < instance.entity->slots.size(); ++slot) {
      const Attribute& attribute = *instance.entity->slots[slot];
      const bool is_option = attribute.shape == Shape::option;
      if (!is_option && (attribute.shape != Shape::list || attribute.count.upper == unlimited))
        continue;
      const Cell& cell = instance.cells[slot];
      if (is_option && cell.value.is_set())
        claim_member(instance, attribute, cell.value, cell.value.by, 1);
      if (!is_option)
        for (const Datum& member : model_.members(instance, slot))
          claim_member(instance, attribute, member, member.by, attribute.count.upper);
      if (const auto again = repetitions_.find(instance.number); again != repetitions_.end())
        for (const Repetition* one : again->second)
          if (one->slot == slot)
            claim_member(instance, attribute, one->value, one->by,
                         is_option ? 1 : attribute.count.upper);
    }
  }

  void claim_member(const Instance& instance, const Attribute& attribute, const Datum& member,
                    Contributor by, uint64_t limit) {
    Claim claim;
    claim.key = fettle::Name(
        cat(identities_.of(instance).view(), ".", model_.program.symbols.name(attribute.name)));
    claim.text = fettle::Name(identities_.text(member));
    claim.value = claim.text.digest();
    claim.origin = identities_.origin(instance.at);
    claim.rule = Claim::Rule::bounded;
    claim.limit = limit;
    for (const SetNumber set : ownership_.contributors(by))
      claims_.push_back({ownership_.name(set), claim});
  }

  const Model& model_;
  const Ownership& ownership_;
  Identities& identities_;
  const Entity* set_entity_ = nullptr;
  std::unordered_map<uint32_t, std::vector<const Repetition*>> repetitions_;
  std::vector<ClaimedBy> claims_;
  fettle::Name said_;
};

}  // namespace

std::vector<ClaimedBy> claims_of(const Model& model, const Ownership& ownership,
                                 Identities& identities) {
  return ClaimMaker(model, ownership, identities).make();
}

}  // namespace fettle::model
