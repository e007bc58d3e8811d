#include "model/export/push_file.h"

#include <algorithm>

#include "base/text.h"
#include "model/export/commit_words.h"
#include "model/export/resource_id.h"
#include "value/json.h"

namespace fettle {
namespace {

class PushReader {
 public:
  explicit PushReader(const Value& document) : document_(document) {}

  Result<Push> read() {
    if (!document_.is_dict())
      return user_error("a push is a JSON object");
    TRY(check_names());
    TRY(read_numbers());
    TRY(read_resources());
    TRY(read_sets());
    TRY(read_removed());
    TRY(read_unknowns());
    push_.code = document_.at("module_version_info");
    if (!push_.code.is_dict() && !push_.code.is_null())
      return user_error("`module_version_info` must map modules to their versions");
    push_.may_change_code = document_.bool_at("allow_handler_code_update");
    push_.detail = Value::dict({{"info", document_.at("version_info")}});
    push_.words = &model::export_words();
    return std::move(push_);
  }

 private:
  Status check_names() const {
    static const std::vector<std::string> names{"allow_handler_code_update",
                                                "base",
                                                "compiler_version",
                                                "module_version_info",
                                                "partial",
                                                "partial_base_version",
                                                "pip_config",
                                                "project_constraints",
                                                "removed_resource_sets",
                                                "resource_sets",
                                                "resource_state",
                                                "resources",
                                                "tid",
                                                "unknowns",
                                                "version",
                                                "version_info"};
    for (const Entry& entry : document_.entries())
      if (std::find(names.begin(), names.end(), entry.key.view()) == names.end())
        return user_error(
            cat("unknown field `", entry.key, "` of a push", suggestion(entry.key, names)));
    return {};
  }

  Status read_numbers() {
    std::optional<uint64_t> version = TRY(number("version"));
    push_.is_partial =
        document_.find("partial") ? document_.bool_at("partial") : version.value_or(0) == 0;
    if (document_.find("partial") && !document_.at("partial").is_bool())
      return user_error("`partial` must be true or false");
    if (push_.is_partial && version == 0u)
      version.reset();
    push_.number = version;
    push_.base = TRY(number("base"));
    if (!push_.base)
      push_.base = TRY(number("partial_base_version"));
    return {};
  }

  Result<std::optional<uint64_t>> number(std::string_view name) const {
    const Value& value = document_.at(name);
    if (value.is_null())
      return std::optional<uint64_t>();
    const std::optional<int64_t> found = value.is_integer() ? value.integer() : std::nullopt;
    if (!found || *found < 0 || *found > int64_t{1} << 53)
      return user_error(
          cat("`", name, "` must be a number from 0 to 2^53, not ", write_json(value)));
    return std::optional(static_cast<uint64_t>(*found));
  }

  Status read_resources() {
    const Value& resources = document_.at("resources");
    if (!resources.is_list())
      return user_error("Invalid request: `resources` must be a list of objects");
    push_.items.reserve(resources.items().size());
    for (const Value& resource : resources.items())
      push_.items.push_back(TRY(read_resource(resource)));
    const Value& states = document_.at("resource_state");
    if (!states.is_dict() && !states.is_null())
      return user_error("Invalid request: `resource_state` must map ids to states");
    std::unordered_map<Name, Item*> items;
    if (states.is_dict())
      for (Item& item : push_.items)
        items.emplace(item.id, &item);
    for (const Entry& entry : states.is_dict() ? states.entries() : std::span<const Entry>())
      TRY(read_state(entry, items));
    return {};
  }

  Result<Item> read_resource(const Value& resource) {
    if (!resource.is_dict())
      return user_error("Invalid request: `resources` must be a list of objects");
    if (!resource.at("id").is_text())
      return user_error("Invalid request: every resource needs an `id` that is a string");
    Item item;
    item.id = TRY(read_id(resource.at("id").text(), true));
    std::vector<Entry> attributes;
    for (const Entry& entry : resource.entries())
      if (entry.key != "id" && entry.key != "requires" && entry.key != "provides" &&
          entry.key != "version")
        attributes.push_back(entry);
    item.attributes = Value::dict(std::move(attributes));
    item.is_undefined = item.attributes.has_unknown();
    const Value& needs = resource.at("requires");
    if (!needs.is_list() && !needs.is_null())
      return user_error(cat("Invalid request: `requires` of ", item.id, " must be a list"));
    for (const Value& need : needs.is_list() ? needs.items() : std::span<const Value>()) {
      if (!need.is_text())
        return user_error(cat("Invalid request: `requires` of ", item.id, " must be ids"));
      item.needs.push_back(TRY(read_id(need.text(), false)));
    }
    return item;
  }

  Result<Name> read_id(std::string_view text, bool is_own) const {
    const model::ResourceId id = TRY(model::parse_resource_id(text));
    const uint64_t version = id.version.value_or(0);
    if (push_.is_partial && is_own && version != 0)
      return user_error(
          cat("Resources for partial export should not contain version information: ", text));
    if (!push_.is_partial && is_own && version != 0 && version != push_.number.value_or(version))
      return user_error(cat("The resource version of resource ", text,
                            " does not match the version argument ", *push_.number));
    return Name(to_string(id));
  }

  Status read_state(const Entry& entry, const std::unordered_map<Name, Item*>& items) {
    const Name id = TRY(read_id(entry.key, false));
    if (!entry.value.is_text() ||
        (entry.value.text() != "available" && entry.value.text() != "undefined"))
      return user_error(cat("the state of ", id, " must be `available` or `undefined`"));
    if (const auto item = items.find(id); item != items.end())
      item->second->is_undefined = entry.value.text() == "undefined";
    return {};
  }

  Status read_sets() {
    const Value& sets = document_.at("resource_sets");
    if (sets.is_null())
      return {};
    if (!sets.is_dict())
      return user_error("Invalid request: `resource_sets` must map ids to names of sets");
    for (const Entry& entry : sets.entries()) {
      const Name id = TRY(read_id(entry.key, false));
      if (!entry.value.is_null() && (!entry.value.is_text() || entry.value.text().empty()))
        return user_error(cat("Invalid request: the set of ", id, " must be a name or null"));
      push_.sets.emplace(id, entry.value.is_null() ? Name() : entry.value.text());
    }
    return {};
  }

  Status read_removed() {
    const Value& removed = document_.at("removed_resource_sets");
    if (removed.is_null())
      return {};
    if (!removed.is_list())
      return user_error("Invalid request: `removed_resource_sets` must be a list of names");
    for (const Value& set : removed.items()) {
      if (!set.is_text())
        return user_error("Invalid request: `removed_resource_sets` must be a list of names");
      push_.removed.push_back(set.text());
    }
    return {};
  }

  Status read_unknowns() {
    const Value& unknowns = document_.at("unknowns");
    if (unknowns.is_null())
      return {};
    if (!unknowns.is_list())
      return user_error("Invalid request: `unknowns` must be a list of objects");
    for (const Value& unknown : unknowns.items()) {
      if (!unknown.is_dict())
        return user_error("Invalid request: `unknowns` must be a list of objects");
      Name resource(unknown.text_at("resource"));
      if (!resource.empty())
        resource = TRY(read_id(resource, false));
      push_.unknowns.push_back({resource, Name(unknown.text_at("parameter")),
                                Name(unknown.text_at("source")), unknown.bool_at("resolved")});
    }
    return {};
  }

  const Value& document_;
  Push push_;
};

}  // namespace

Result<Push> read_push(const Value& document) { return PushReader(document).read(); }

}  // namespace fettle
