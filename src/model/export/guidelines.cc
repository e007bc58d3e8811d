#include "model/export/guidelines.h"

#include <map>

#include "base/text.h"
#include "model/text_form.h"

namespace fettle::model {
namespace {

constexpr size_t most_of_a_set = 5;

class Inspector {
 public:
  Inspector(const Model& model, const Ownership& ownership, Identities& identities)
      : model_(model), ownership_(ownership), identities_(identities) {}

  std::vector<std::pair<fettle::Name, Value>> inspect() {
    for (const Instance* instance : model_.instances())
      if (const SetNumber set = ownership_.member_of(*instance); set != 0) {
        inspect_chain(*instance, set);
        inspect_indexes(*instance, set);
      }
    std::vector<std::pair<fettle::Name, Value>> all;
    for (auto& [set, found] : found_)
      all.emplace_back(ownership_.name(set), Value::list(std::move(found)));
    return all;
  }

 private:
  void add(SetNumber set, std::string_view rule, std::string text, const Instance& at) {
    std::vector<Value>& found = found_[set];
    if (found.size() < most_of_a_set)
      found.push_back(
          Value::dict({{"rule", rule}, {"text", text}, {"where", model_.where(at.at)}}));
  }

  /// Everything below a shared instance should be shared.
  void inspect_chain(const Instance& instance, SetNumber set) {
    for (const Instance* maker = model_.maker(instance);
         maker != nullptr && ownership_.direct(*maker) == 0; maker = model_.maker(*maker))
      if (ownership_.contributors(*maker).size() > 1) {
        add(set, "owned below shared",
            cat(identities_.of(instance).view(), " is owned, and made below ",
                identities_.of(*maker).view(), ", which several sets share"),
            instance);
        return;
      }
  }

  /// At least one field of every index of what is owned follows from the identity of the service.
  void inspect_indexes(const Instance& instance, SetNumber set) {
    for (const Index* index : instance.entity->indexes) {
      bool follows = false;
      for (const Symbol name : index->names)
        follows |= follows_from_service(instance.cells[instance.entity->slot(name)].value, set);
      if (!follows)
        add(set, "index not derived",
            cat("no field of the index ", identities_.by_index(instance, *index),
                " follows from the identity of the service of this set, so other sets may make "
                "the same"),
            instance);
    }
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

  /// The name of the set and the keys of who constructed it.
  const std::vector<std::string>& identity_of_service(SetNumber set) {
    const auto [known, inserted] = services_.try_emplace(set);
    if (!inserted)
      return known->second;
    std::vector<std::string>& parts = known->second;
    parts.push_back(ownership_.name(set).str());
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
