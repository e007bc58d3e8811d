#include "drivers/engine/pod_values.h"

#include "base/text.h"
#include "kinds/pod.h"
#include "kinds/quantity.h"

namespace fettle {
namespace {

/// The key of `metadata.labels['KEY']`. None: the path does not begin with `field`.
std::optional<std::string> subscript(std::string_view path, std::string_view field) {
  if (!path.starts_with(field) || path.size() < field.size() + 4)
    return {};
  const std::string_view rest = path.substr(field.size());
  if (!rest.starts_with("['") || !rest.ends_with("']"))
    return {};
  return std::string(rest.substr(2, rest.size() - 4));
}

int64_t rounded_up(int64_t amount, int64_t unit) { return (amount + unit - 1) / unit; }

}  // namespace

Result<std::string> PodValues::field(std::string_view path) const {
  if (path == "metadata.name")
    return read_one<&Pod::name>(attributes_).get().str();
  if (path == "metadata.namespace")
    return read_one<&Pod::space>(attributes_).get().str();
  if (path == "metadata.uid")
    return place_.uid;
  if (path == "spec.nodeName")
    return read_one<&Pod::node>(attributes_).get().str();
  if (path == "spec.serviceAccountName")
    return std::string(
        pod_template_of(attributes_).at("spec").text_at("serviceAccountName", "default"));
  if (path == "status.podIP" || path == "status.podIPs")
    return place_.address.empty() ? place_.host_address : place_.address;
  if (path == "status.hostIP" || path == "status.hostIPs")
    return place_.host_address;
  const auto text_in = [](const Value& dict, const std::string& key) {
    const Value* const text = dict.find(key);
    return text == nullptr ? std::string() : to_text(*text);
  };
  if (const auto key = subscript(path, "metadata.labels"))
    return text_in(pod_labels(attributes_), *key);
  if (const auto key = subscript(path, "metadata.annotations"))
    return text_in(pod_annotations(attributes_), *key);
  return user_error(cat("`", path, "` is not a field that containers can use"));
}

const Value* PodValues::config(std::string_view kind, std::string_view name) const {
  return configs_.find(cat(kind, "/", name));
}

Result<std::optional<std::string>> PodValues::from_config(std::string_view kind,
                                                          const Value& source,
                                                          std::string_view variable) const {
  const std::string_view name = source.text_at("name"), key = source.text_at("key");
  const Value* const texts = config(kind, name);
  const Value* const text = texts == nullptr ? nullptr : texts->find(key);
  if (text != nullptr)
    return std::optional(to_text(*text));
  if (source.bool_at("optional"))
    return std::optional<std::string>();
  if (texts == nullptr)
    return user_error(
        cat("variable `", variable, "`: there is no ", kind, " `", name, "` in the namespace"));
  return user_error(
      cat("variable `", variable, "`: the ", kind, " `", name, "` has no key `", key, "`"));
}

Result<std::string> PodValues::resource(const Value& container, const Value& source) const {
  const std::string_view wanted = source.text_at("resource");
  const size_t point = wanted.find('.');
  const std::string_view part = wanted.substr(0, point),
                         what = point == wanted.npos ? "" : wanted.substr(point + 1);
  if ((part != "limits" && part != "requests") || (what != "cpu" && what != "memory"))
    return user_error(cat("`", wanted, "` is not a resource that containers can use"));
  const Value* own = &container;
  if (const std::string_view name = source.text_at("containerName"); !name.empty())
    for (const Value& other : items_of(pod_template_of(attributes_).at("spec").at("containers")))
      if (other.text_at("name") == name)
        own = &other;
  const auto amount = quantity_milli(own->at("resources").at(part).at(what)).value_or(0);
  const auto unit = quantity_milli(source.at("divisor")).value_or(0);
  return std::to_string(rounded_up(amount, unit > 0 ? unit : 1'000));
}

Result<std::optional<std::string>> PodValues::from(const Value& container,
                                                   std::string_view variable,
                                                   const Value& source) const {
  if (const Value& path = source.at("fieldRef"); path.is_dict())
    return std::optional(TRY(field(path.text_at("fieldPath"))));
  if (const Value& amount = source.at("resourceFieldRef"); amount.is_dict())
    return std::optional(TRY(resource(container, amount)));
  if (const Value& key = source.at("configMapKeyRef"); key.is_dict())
    return from_config("ConfigMap", key, variable);
  if (const Value& key = source.at("secretKeyRef"); key.is_dict())
    return from_config("Secret", key, variable);
  return user_error(cat("variable `", variable,
                        "`: `valueFrom` needs fieldRef, resourceFieldRef, configMapKeyRef or "
                        "secretKeyRef"));
}

Result<std::vector<std::pair<std::string, std::string>>> PodValues::environment(
    const Value& container) const {
  std::vector<std::pair<std::string, std::string>> all;
  std::map<std::string, std::string> known;
  const auto add = [&](std::string name, std::string value) {
    known[name] = value;
    std::erase_if(all, [&](const auto& each) { return each.first == name; });
    all.emplace_back(std::move(name), std::move(value));
  };
  for (const Value& source : items_of(container.at("envFrom"))) {
    for (const auto& [field, kind] :
         {std::pair("configMapRef", "ConfigMap"), std::pair("secretRef", "Secret")}) {
      const Value& reference = source.at(field);
      if (!reference.is_dict())
        continue;
      const Value* const texts = config(kind, reference.text_at("name"));
      if (texts == nullptr && !reference.bool_at("optional"))
        return user_error(
            cat("there is no ", kind, " `", reference.text_at("name"), "` in the namespace"));
      if (texts != nullptr)
        for (const Entry& entry : texts->entries())
          add(cat(source.text_at("prefix"), entry.key), to_text(entry.value));
    }
  }
  for (const Value& variable : items_of(container.at("env"))) {
    const std::string name(variable.text_at("name"));
    if (const Value& source = variable.at("valueFrom"); source.is_dict()) {
      if (auto value = TRY(from(container, name, source)))
        add(name, std::move(*value));
    } else {
      const Value& value = variable.at("value");
      add(name, value.is_null() ? std::string() : expanded(to_text(value), known));
    }
  }
  return all;
}

std::string expanded(std::string_view text, const std::map<std::string, std::string>& variables) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      result += text[i];
    } else if (text[i + 1] == '$') {
      result += text[++i];
    } else if (const size_t close = text.find(')', i); text[i + 1] == '(' && close != text.npos) {
      const auto found = variables.find(std::string(text.substr(i + 2, close - i - 2)));
      result +=
          found == variables.end() ? std::string(text.substr(i, close - i + 1)) : found->second;
      i = close;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::vector<std::string> metadata_taken(const Value& container) {
  std::vector<std::string> fields;
  for (const Value& variable : items_of(container.at("env"))) {
    const std::string_view path = variable.at("valueFrom").at("fieldRef").text_at("fieldPath");
    if (path.starts_with("metadata.labels[") || path.starts_with("metadata.annotations["))
      fields.emplace_back(path);
  }
  return fields;
}

}  // namespace fettle
