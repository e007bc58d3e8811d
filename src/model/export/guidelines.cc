#include "model/export/guidelines.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "model/program/text_form.h"

namespace fettle::model {
namespace {

constexpr size_t most_of_a_set = 5;

class Inspector {
 public:
  Inspector(const Model& model, const Ownership& ownership, Identities& identities)
      : model_(model),
        ownership_(ownership),
        identities_(identities),
        services_(model, ownership),
        above_(ownership.set_count()) {
    for (const Repetition& again : model.repetitions())
      repetitions_.emplace(again.owner, &again);
  }

  std::vector<std::pair<fettle::Name, Value>> inspect(const EachOwned& each_resource) {
    for (const Instance* instance : model_.instances())
      if (const SetNumber set = ownership_.member_of(*instance); set != 0)
        if (!is_below_shared(*instance, set))
          inspect_indexes(*instance, set);
    each_resource([this](const OwnedResource& resource) { inspect_id(resource); });
    for (const ReadMark& reading : model_.readings())
      inspect_reading(reading);
    std::vector<std::pair<fettle::Name, Value>> all;
    for (auto& [set, found] : found_)
      all.emplace_back(ownership_.name(set), Value::list(std::move(found)));
    return all;
  }

 private:
  void add(SetNumber set, std::string_view rule, std::string text, Place at) {
    std::vector<Value>& found = found_[set];
    if (found.size() < most_of_a_set)
      found.push_back(Value::dict({{"rule", rule}, {"text", text}, {"where", model_.where(at)}}));
  }

  /// Everything below a shared instance should be shared.
  bool is_below_shared(const Instance& instance, SetNumber set) {
    for (const Instance* maker = model_.maker(instance);
         maker != nullptr && ownership_.direct(*maker) == 0; maker = model_.maker(*maker))
      if (ownership_.contributors(*maker).size() > 1) {
        add(set, "owned below shared",
            cat(identities_.of(instance).view(), " is owned, but created below ",
                identities_.of(*maker).view(), ", which several sets share"),
            instance.at);
        return told_.insert(&instance).second;
      }
    return false;
  }

  /// Every index of an owned instance should follow from the identity of the service, or from what
  /// a plugin allocated for it.
  void inspect_indexes(const Instance& instance, SetNumber set) {
    for (const Index* index : instance.entity->indexes) {
      std::vector<NamePart> name;
      for (const Symbol symbol : index->names)
        name.push_back({{&instance, instance.entity->slot(symbol)}});
      const IdentityMatch match = services_.match(set, name);
      if (match.is_whole)
        continue;
      told_.insert(&instance);
      const std::string what = cat("the index ", identities_.by_index(instance, *index));
      add(set, "index not derived",
          match.has.empty()
              ? cat("no field of ", what,
                    " follows from the identity of the service of this set or from an allocation, "
                    "so other sets may create the same")
              : cat(what, half_text(match), ", so other sets may create the same"),
          instance.at);
    }
  }

  /// So should every id, since otherwise other sets could describe the same resource.
  void inspect_id(const OwnedResource& resource) {
    const SetNumber set = ownership_.member_of(*resource.instance);
    if (told_.contains(resource.instance))
      return;
    const NamePart name[] = {resource.agent, resource.value};
    const IdentityMatch match = services_.match(set, name);
    if (match.is_whole)
      return;
    const std::string end = ", so other sets may describe the same resource";
    add(set, "id not derived",
        match.has.empty()
            ? cat("neither the agent nor the value of the id ", resource.id,
                  " follows from the identity of the service of this set or from an allocation",
                  end)
            : cat("the id ", resource.id, half_text(match), end),
        resource.instance->at);
  }

  static std::string half_text(const IdentityMatch& match) {
    const auto quoted = [](std::vector<std::string> names) {
      std::sort(names.begin(), names.end());
      return cat("`", join(names, "`, `"), "`");
    };
    return cat(" has ", quoted(match.has), " of the identity of the service of this set, but not ",
               quoted(match.lacks));
  }

  /// A set that reads what another set contributes may differ when it is compiled alone.
  void inspect_reading(const ReadMark& reading) {
    const std::span<const Datum> read = read_values(reading);
    for (const SetNumber reader : ownership_.contributors(reading.by))
      if (read.empty())
        inspect_giver(reading, reader, ownership_.contributors(*reading.instance), nullptr);
      else
        for (const Datum& value : read)
          if (inspect_giver(reading, reader, ownership_.contributors(value.by), &value))
            break;
  }

  /// The members of a relation, or the value of an attribute. Empty: only the instance itself is
  /// read, since it was looked up or its relation is empty.
  std::span<const Datum> read_values(const ReadMark& reading) const {
    if (reading.slot == no_slot)
      return {};
    return is_value(reading) ? std::span(&reading.instance->cells[reading.slot].value, 1)
                             : model_.members(*reading.instance, reading.slot);
  }
  static bool is_value(const ReadMark& reading) {
    return reading.slot != no_slot &&
           reading.instance->entity->slots[reading.slot]->target == nullptr;
  }

  /// Returns whether the reading is open.
  bool inspect_giver(const ReadMark& reading, SetNumber reader, std::span<const SetNumber> givers,
                     const Datum* value) {
    const Instance& instance = *reading.instance;
    if (is_closed(reading, reader, givers))
      return false;
    if (value != nullptr)
      for (auto [at, end] = repetitions_.equal_range(&instance); at != end; ++at)
        if (at->second->slot == reading.slot && is_equal(at->second->value, *value) &&
            is_closed(reading, reader, ownership_.contributors(at->second->by)))
          return false;
    // If the rest reads, the finding belongs to the set from which the value comes.
    const SetNumber told = reader == 0 ? givers.front() : reader;
    if (open_.emplace(&instance, reading.slot, told).second)
      add(told, "open set", reading_text(reading, reader, givers.front(), value), reading.at);
    return true;
  }

  /// Whether the values that are read are there in every compile that contains the reader. They are
  /// if they are its own, if no set contributes them, or if they belong to a service that makes the
  /// reader's. A reader may also read what a service makes, but must not count it.
  bool is_closed(const ReadMark& reading, SetNumber reader, std::span<const SetNumber> givers) {
    const bool may_be_below =
        is_value(reading) ||
        (reading.slot != no_slot && model_.members(*reading.instance, reading.slot).empty());
    return std::ranges::any_of(givers, [&](SetNumber giver) {
      return giver == reader || giver == 0 || is_above(giver, reader) ||
             (may_be_below && is_above(reader, giver));
    });
  }

  /// Whether a set is contributed by an instance that makes another one, directly or not.
  bool is_above(SetNumber upper, SetNumber lower) {
    if (lower == 0)
      return false;
    std::optional<std::vector<SetNumber>>& above = above_[lower];
    if (!above) {
      above.emplace();
      for (const Instance* maker = model_.maker(ownership_.instance(lower)); maker != nullptr;
           maker = model_.maker(*maker))
        if (const SetNumber set = ownership_.direct(*maker); set != 0 && set != lower)
          above->push_back(set);
    }
    return std::ranges::find(*above, upper) != above->end();
  }

  std::string reading_text(const ReadMark& reading, SetNumber reader, SetNumber giver,
                           const Datum* value) {
    std::string what = identities_.of(*reading.instance).str();
    if (reading.slot != no_slot)
      what += cat(".",
                  model_.program.symbols.name(reading.instance->entity->slots[reading.slot]->name));
    const fettle::Name& set = ownership_.name(giver);
    const std::string from = value == nullptr    ? cat("which only set `", set, "` makes")
                             : is_value(reading) ? cat("which only set `", set, "` gives")
                                                 : cat("to which set `", set, "` contributes ",
                                                       identities_.text(*value));
    return cat(what, " is read ", reader == 0 ? "by something in no set" : "here", ", ", from,
               ", so a compile without that set has a different result");
  }

  const Model& model_;
  const Ownership& ownership_;
  Identities& identities_;
  ServiceIdentities services_;
  std::vector<std::optional<std::vector<SetNumber>>> above_;  ///< by set
  std::unordered_multimap<const Instance*, const Repetition*> repetitions_;
  std::set<std::tuple<const Instance*, uint32_t, SetNumber>> open_;  ///< told already
  std::set<const Instance*> told_;  ///< why their names do not follow
  std::map<SetNumber, std::vector<Value>> found_;
};

}  // namespace

std::vector<std::pair<fettle::Name, Value>> findings_of(const Model& model,
                                                        const Ownership& ownership,
                                                        Identities& identities,
                                                        const EachOwned& each_resource) {
  return Inspector(model, ownership, identities).inspect(each_resource);
}

}  // namespace fettle::model
