#include "verbs/cluster/put_aside.h"

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/text.h"
#include "value/json.h"
#include "value/with.h"
#include "verbs/cluster/cluster_objects.h"

namespace fettle {
namespace {

using kubernetes::Client;

/// Of a copy, and what it is of: {"kind", "name", "part", "parts", "digest"}.
constexpr std::string_view aside_key = "fettle/put-aside";
constexpr std::string_view aside_selector = "fettle/put-aside=true";
/// An object may have 1 MiB, with all that is not the text.
constexpr size_t longest_part = 700'000;

std::string copy_name(std::string_view name, size_t part) {
  return cat("fettle-put-aside-", name, "-", part);
}

/// What a server adds for itself, and what it would refuse in a new object.
Value without_server_fields(const Value& object) {
  std::vector<Entry> kept, metadata;
  for (const Entry& entry : object.entries())
    if (entry.key != "status" && entry.key != "metadata")
      kept.push_back(entry);
  if (object.at("metadata").is_dict())
    for (const Entry& entry : object.at("metadata").entries())
      if (entry.key != "managedFields" && entry.key != "resourceVersion" && entry.key != "uid" &&
          entry.key != "creationTimestamp" && entry.key != "generation" && entry.key != "selfLink")
        metadata.push_back(entry);
  kept.push_back({"metadata", Value::dict(std::move(metadata))});
  return Value::dict(std::move(kept));
}

/// No character is cut in two.
std::vector<std::string> chunks_of(std::string_view text) {
  std::vector<std::string> parts;
  while (text.size() > longest_part) {
    size_t end = longest_part;
    while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
      --end;
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  parts.emplace_back(text);
  return parts;
}

struct CopyParts {
  std::map<int64_t, std::string> texts;
  int64_t count = 0;
  std::string digest;
  bool is_one = true;  ///< all parts say the same of it
};

/// Null: it is not whole.
Value whole_copy(const CopyParts& parts) {
  std::string text;
  int64_t next = 0;
  for (const auto& [number, part] : parts.texts) {
    if (number != next++)
      return {};
    text += part;
  }
  if (!parts.is_one || next != parts.count || sha256_hex(text) != parts.digest)
    return {};
  const auto read = read_json(text);
  return read && read->is_dict() ? *read : Value();
}

}  // namespace

Result<bool> PutAside::is_there(Client& client, const std::string& space,
                                const std::stop_token& stop) {
  const auto listed =
      client.list(cluster_types::config_maps, space,
                  {.label_selector = std::string(aside_selector), .limit = 1}, stop);
  if (!listed && listed.error().reason != kubernetes::ApiReason::forbidden)
    return static_cast<const Error&>(listed.error());
  return listed.has_value() && !listed->items.empty();
}

Result<PutAside> PutAside::read(Client& client, std::string space, std::stop_token stop) {
  PutAside found(client, std::move(space), std::move(stop));
  TRY(found.read_all());
  return found;
}

Status PutAside::read_all() {
  std::map<std::pair<std::string, std::string>, CopyParts> copies;
  kubernetes::ListOptions options{.label_selector = std::string(aside_selector), .limit = 5};
  do {
    const kubernetes::ListPage page =
        TRY(client_->list(cluster_types::config_maps, space_, options, stop_));
    for (const Value& each : page.items) {
      names_.push_back(name_of(each).name);
      const auto about = read_json(annotation_of(each, aside_key));
      if (!about || !about->is_dict())
        continue;
      CopyParts& copy =
          copies[{std::string(about->text_at("kind")), std::string(about->text_at("name"))}];
      const std::string digest(about->text_at("digest"));
      copy.is_one = copy.is_one && (copy.digest.empty() || copy.digest == digest);
      copy.digest = digest;
      copy.count = about->integer_at("parts");
      copy.texts[about->integer_at("part", -1)] = each.at("data").text_at("object");
    }
    options.rest = page.rest;
  } while (!options.rest.empty());
  for (const auto& [name, parts] : copies)
    if (Value object = whole_copy(parts); !object.is_null())
      objects_.push_back(std::move(object));
  return {};
}

Value PutAside::find(std::string_view kind, std::string_view name) const {
  const auto found = std::ranges::find_if(objects_, [&](const Value& each) {
    return each.text_at("kind") == kind && name_of(each).name == name;
  });
  return found == objects_.end() ? Value() : *found;
}

Status PutAside::store(const Value& object) {
  const Value plain = without_server_fields(object);
  const std::string kind(plain.text_at("kind")), name = name_of(plain).name;
  if (find(kind, name) == plain)
    return {};
  const std::string text = write_json(plain, {.show_secrets = true}), digest = sha256_hex(text);
  const std::vector<std::string> parts = chunks_of(text);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string about = write_json(Value::dict({{"kind", kind},
                                                      {"name", name},
                                                      {"part", i},
                                                      {"parts", parts.size()},
                                                      {"digest", digest}}));
    const std::string copy = copy_name(name, i);
    const Value metadata = Value::dict({{"name", copy},
                                        {"namespace", space_},
                                        {"labels", Value::dict({{Name(aside_key), "true"}})},
                                        {"annotations", Value::dict({{Name(aside_key), about}})}});
    const Value map = Value::dict({{"apiVersion", "v1"},
                                   {"kind", "ConfigMap"},
                                   {"metadata", metadata},
                                   {"data", Value::dict({{"object", parts[i]}})}});
    TRY(client_->patch(cluster_types::config_maps, {space_, copy}, kubernetes::PatchType::apply,
                       map, {.field_manager = "fettle", .is_forced = true}, stop_));
    if (std::ranges::find(names_, copy) == names_.end())
      names_.push_back(copy);
  }
  TRY(remove_copies_from(name, parts.size()));
  std::erase_if(objects_, [&](const Value& each) {
    return each.text_at("kind") == kind && name_of(each).name == name;
  });
  objects_.push_back(plain);
  return {};
}

/// A copy that was longer before.
Status PutAside::remove_copies_from(std::string_view name, size_t part) {
  for (auto copy = std::ranges::find(names_, copy_name(name, part)); copy != names_.end();
       copy = std::ranges::find(names_, copy_name(name, ++part))) {
    TRY(remove(*copy));
    names_.erase(copy);
  }
  return {};
}

Status PutAside::remove(const std::string& copy) {
  const auto removed = client_->remove(cluster_types::config_maps, {space_, copy}, {}, stop_);
  if (!removed && removed.error().reason != kubernetes::ApiReason::not_found)
    return static_cast<const Error&>(removed.error());
  return {};
}

Status PutAside::remove_all() {
  for (; !names_.empty(); names_.pop_back())
    TRY(remove(names_.back()));
  objects_.clear();
  return {};
}

}  // namespace fettle
