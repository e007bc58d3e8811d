#include "model/export/claims.h"

#include "base/text.h"
#include "model/export/attributes.h"
#include "model/program/text_form.h"
#include "model/values/plain_value.h"
#include "value/json.h"

namespace fettle::model {

const fettle::Name& Identities::of(const Instance& instance) {
  fettle::Name& known = names_[instance.number];
  if (!known.empty())
    return known;
  const std::string made = instance.entity->indexes.empty()
                               ? anonymous(instance)
                               : by_index(instance, *instance.entity->indexes.front());
  // A circle of instances may have named it already on the way here.
  if (known.empty())
    known = fettle::Name(made);
  return known;
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

/// The name of an instance by who made it where: the same in every compile of the same files with
/// the same maker.
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
    std::vector<fettle::Name>& keys = keys_;
    keys.clear();
    std::string& all = all_;
    all = instance.entity->full_name;
    for (const Index* index : instance.entity->indexes) {
      keys.push_back(keys.empty() ? identities_.of(instance)
                                  : fettle::Name(identities_.by_index(instance, *index)));
      all.append("\n").append(keys.back());
    }
    say(instance, owner);
    Claim claim;
    claim.value = combine(fingerprint(all), said_.digest());
    claim.origin = identities_.origin(instance.at);
    claim.text = text_;
    for (const fettle::Name& key : keys) {
      claim.key = key;
      for (const SetNumber set : ownership_.contributors(instance))
        claims_.push_back({ownership_.name(set), claim});
    }
  }

  /// Adds the claims of an instance. All instances of one type in one set come one after another.
  void say(const Instance& instance, SetNumber owner) {
    const bool is_simple = owner != 0 && keys_.size() == 1;
    if (is_simple && owner == said_owner_ && instance.entity == said_entity_)
      return;
    said_owner_ = is_simple ? owner : 0;
    said_entity_ = instance.entity;
    said_ =
        owner != 0 ? Value::dict({{"resource_set", ownership_.name(owner)}}) : values_of(instance);
    std::vector<Entry> told(said_.entries().begin(), said_.entries().end());
    told.push_back({"type", instance.entity->full_name});
    for (size_t i = 1; i < keys_.size(); ++i)
      told.push_back({fettle::Name(cat("index ", i + 1)), keys_[i]});
    if (std::string text = write_json(Value::dict(std::move(told))); text_ != text)
      text_ = fettle::Name(text);
  }

  /// Everything that is set and is no key. Options and lists are claimed member by member.
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
      } else if (const Result<Value> made = value_of(value)) {
        entries.push_back({name, *made});
      }
    }
    return Value::dict(std::move(entries));
  }

  /// A reference is described by what it is made from.
  Result<Value> value_of(const Datum& datum) {
    return to_value(datum, [&](const Datum& special) -> Result<Value> {
      if (special.tag == Tag::instance)
        return Value(identities_.of(*special.instance));
      if (special.tag != Tag::reference)
        return attribute_value(special);
      std::vector<Value> parts{Value(special.reference->kind)};
      for (const Datum& argument : special.reference->arguments)
        parts.push_back(TRY(value_of(argument)));
      return Value::dict({{"reference", Value::list(std::move(parts))}});
    });
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
  // The keys of the present instance.
  std::vector<fettle::Name> keys_;
  std::string all_;
  // The claims of the instance before it, until something else is said.
  SetNumber said_owner_ = 0;
  const Entity* said_entity_ = nullptr;
  Value said_;
  fettle::Name text_;
};

}  // namespace

std::vector<ClaimedBy> claims_of(const Model& model, const Ownership& ownership,
                                 Identities& identities) {
  return ClaimMaker(model, ownership, identities).make();
}

}  // namespace fettle::model
