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
      : model_(model), ownership_(ownership), identities_(identities) {
    for (const Allocation& allocation : model.allocations())
      for (const SetNumber set : ownership.contributors(allocation.by))
        allocated_.emplace(set, text_of(model.program, allocation.value));
    for (const Repetition& again : model.repetitions())
      repetitions_.emplace(again.owner, &again);
  }

  std::vector<std::pair<fettle::Name, Value>> inspect() {
    for (const Instance* instance : model_.instances())
      if (const SetNumber set = ownership_.member_of(*instance); set != 0) {
        inspect_chain(*instance, set);
        inspect_indexes(*instance, set);
      }
    for (const Reading& reading : model_.readings())
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
  void inspect_chain(const Instance& instance, SetNumber set) {
    for (const Instance* maker = model_.maker(instance);
         maker != nullptr && ownership_.direct(*maker) == 0; maker = model_.maker(*maker))
      if (ownership_.contributors(*maker).size() > 1) {
        add(set, "owned below shared",
            cat(identities_.of(instance).view(), " is owned, but created below ",
                identities_.of(*maker).view(), ", which several sets share"),
            instance.at);
        return;
      }
  }

  /// At least one field of every index of what is owned follows from the identity of the service,
  /// or from what a plugin allocated for it.
  void inspect_indexes(const Instance& instance, SetNumber set) {
    for (const Index* index : instance.entity->indexes) {
      bool follows = false;
      for (const Symbol name : index->names)
        follows |= follows_from_service(instance.cells[instance.entity->slot(name)].value, set);
      if (!follows)
        add(set, "index not derived",
            cat("no field of the index ", identities_.by_index(instance, *index),
                " follows from the identity of the service of this set or from an allocation, so "
                "other sets may create the same"),
            instance.at);
    }
  }

  /// A set that reads what another set contributes is not the same when it is compiled alone.
  void inspect_reading(const Reading& reading) {
    for (const SetNumber reader : ownership_.contributors(reading.by))
      if (reading.slot == no_slot)
        inspect_member(reading, reader, *reading.instance,
                       ownership_.contributors(*reading.instance));
      else
        for (const Datum& member : model_.members(*reading.instance, reading.slot))
          if (inspect_member(reading, reader, *reading.instance, ownership_.contributors(member.by),
                             &member))
            break;
  }

  /// Whether it is open. What no set contributes is in every model.
  bool inspect_member(const Reading& reading, SetNumber reader, const Instance& instance,
                      std::span<const SetNumber> givers, const Datum* member = nullptr) {
    const auto is_closed = [&](std::span<const SetNumber> sets) {
      return std::find(sets.begin(), sets.end(), reader) != sets.end() ||
             std::find(sets.begin(), sets.end(), SetNumber{0}) != sets.end();
    };
    if (is_closed(givers))
      return false;
    if (member != nullptr)
      for (auto [at, end] = repetitions_.equal_range(&instance); at != end; ++at)
        if (at->second->slot == reading.slot && is_equal(at->second->value, *member) &&
            is_closed(ownership_.contributors(at->second->by)))
          return false;
    // What the rest reads is told of the set that it comes from.
    const SetNumber told = reader == 0 ? givers.front() : reader;
    if (open_.emplace(&instance, reading.slot, told).second)
      add(told, "open set", reading_text(reading, reader, givers.front(), member), reading.at);
    return true;
  }

  std::string reading_text(const Reading& reading, SetNumber reader, SetNumber giver,
                           const Datum* member) {
    std::string what = identities_.of(*reading.instance).str();
    if (member != nullptr)
      what += cat(".",
                  model_.program.symbols.name(reading.instance->entity->slots[reading.slot]->name));
    const std::string from = member == nullptr
                                 ? cat("which only set `", ownership_.name(giver), "` makes")
                                 : cat("to which set `", ownership_.name(giver), "` contributes ",
                                       identities_.text(*member));
    return cat(what, " is read ", reader == 0 ? "by something in no set" : "here", ", ", from,
               ", so a compile without that set has a different result");
  }

  bool follows_from_service(const Datum& value, SetNumber set) {
    if (value.tag == Tag::instance) {
      const auto contributors = ownership_.contributors(*value.instance);
      return contributors.size() == 1 && contributors.front() == set;
    }
    if (value.tag == Tag::unset || value.tag == Tag::null || value.tag == Tag::unknown)
      return false;
    const std::string text = text_of(model_.program, value);
    for (const std::string& part : identity_of_service(set))
      if (has_word(text, part))
        return true;
    return false;
  }

  /// The name of the set, what was allocated for it and the keys of who constructed it.
  const std::vector<std::string>& identity_of_service(SetNumber set) {
    const auto [known, inserted] = services_.try_emplace(set);
    if (!inserted)
      return known->second;
    std::vector<std::string>& parts = known->second;
    parts.push_back(ownership_.name(set).str());
    for (auto [at, end] = allocated_.equal_range(set); at != end; ++at)
      parts.push_back(at->second);
    const Instance* service = model_.maker(ownership_.instance(set));
    if (service == nullptr)
      return parts;
    for (const Index* index : service->entity->indexes)
      for (const Symbol name : index->names) {
        const Datum& key = service->cells[service->entity->slot(name)].value;
        if (key.tag == Tag::text || key.tag == Tag::integer || key.tag == Tag::floating)
          parts.push_back(text_of(model_.program, key));
      }
    return parts;
  }

  /// Whether `word` stands in the text with nothing of a word beside it.
  static bool has_word(std::string_view text, std::string_view word) {
    const auto is_part = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    if (word.empty())
      return false;
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
      if ((at == 0 || !is_part(text[at - 1])) &&
          (at + word.size() == text.size() || !is_part(text[at + word.size()])))
        return true;
    return false;
  }

  const Model& model_;
  const Ownership& ownership_;
  Identities& identities_;
  std::multimap<SetNumber, std::string> allocated_;
  std::unordered_multimap<const Instance*, const Repetition*> repetitions_;
  std::set<std::tuple<const Instance*, uint32_t, SetNumber>> open_;  ///< told already
  std::map<SetNumber, std::vector<Value>> found_;
  std::unordered_map<SetNumber, std::vector<std::string>> services_;
};

}  // namespace

std::vector<std::pair<fettle::Name, Value>> findings_of(const Model& model,
                                                        const Ownership& ownership,
                                                        Identities& identities) {
  return Inspector(model, ownership, identities).inspect();
}

}  // namespace fettle::model
