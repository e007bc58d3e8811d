#include "workloads/pod_defaults.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "kinds/quantity.h"

namespace fettle::workloads {
namespace {

struct PodDefault {
  const char* object;
  const char* name;
  Value value;
};

/// Kubernetes' defaults of `core/v1` (pkg/apis/core/v1/defaults.go), as far as engines have them.
/// The default of `imagePullPolicy` depends on the image and is left out, so that a new image stays
/// the only change.
const std::vector<PodDefault>& pod_defaults() {
  constexpr int64_t readable = 0644;
  static const std::vector<PodDefault> rows{
      {"Metadata", "creationTimestamp", Value()},
      {"Spec", "restartPolicy", "Always"},
      {"Spec", "dnsPolicy", "ClusterFirst"},
      {"Spec", "schedulerName", "default-scheduler"},
      {"Spec", "terminationGracePeriodSeconds", 30},
      {"Spec", "enableServiceLinks", true},
      {"Spec", "securityContext", Value::dict({})},
      {"Spec", "hostNetwork", false},
      {"Spec", "hostPID", false},
      {"Spec", "hostIPC", false},
      {"Container", "terminationMessagePath", "/dev/termination-log"},
      {"Container", "terminationMessagePolicy", "File"},
      {"Container", "resources", Value::dict({})},
      {"Container", "securityContext", Value::dict({})},
      {"Container", "stdin", false},
      {"Container", "stdinOnce", false},
      {"Container", "tty", false},
      {"Port", "protocol", "TCP"},
      {"Port", "hostPort", 0},
      {"Env", "value", ""},
      {"FieldRef", "apiVersion", "v1"},
      {"Mount", "readOnly", false},
      {"Probe", "initialDelaySeconds", 0},
      {"Probe", "timeoutSeconds", 1},
      {"Probe", "periodSeconds", 10},
      {"Probe", "successThreshold", 1},
      {"Probe", "failureThreshold", 3},
      {"HttpGet", "path", "/"},
      {"HttpGet", "scheme", "HTTP"},
      {"HostPath", "type", ""},
      {"EmptyDir", "medium", ""},
      {"ConfigMapVolume", "defaultMode", readable},
      {"SecretVolume", "defaultMode", readable},
      {"DownwardVolume", "defaultMode", readable},
      {"ProjectedVolume", "defaultMode", readable},
      {"ClaimVolume", "readOnly", false}};
  return rows;
}

bool is_default(std::string_view object, const Name& name, const Value& value) {
  if (value.is_null() || value == Value::list({}))
    return true;
  return std::ranges::any_of(pod_defaults(), [&](const PodDefault& row) {
    return row.object == object && name == row.name && row.value == value;
  });
}

/// A map without entries says nothing, unlike an object without fields, such as `emptyDir: {}`.
bool is_empty_map(const Value& value, std::string_view type) {
  return (type == "map" || type == "quantities") && value == Value::dict({});
}

/// Recurses as deep as the table, which has no circle.
Value lean(const Value& value, std::string_view type);

Value lean_list(const Value& list, std::string_view type) {
  if (!list.is_list())
    return list;
  std::vector<Value> items;
  for (const Value& item : list.items())
    items.push_back(lean(item, type));
  return Value::list(std::move(items));
}

Value lean_object(const Value& dict, std::string_view object) {
  if (!dict.is_dict())
    return dict;
  std::vector<Entry> entries;
  for (const Entry& entry : dict.entries()) {
    const std::string_view type = pod_field_type(object, entry.key.view());
    Value inner = lean(entry.value, type);
    if (!is_default(object, entry.key, inner) && !is_empty_map(inner, type))
      entries.push_back({entry.key, std::move(inner)});
  }
  return Value::dict(std::move(entries));
}

Value lean_quantity(const Value& value) {
  return value.is_text() || value.is_integer() || value.is_real()
             ? Value(canonical_quantity(to_text(value)))
             : value;
}

Value lean(const Value& value, std::string_view type) {
  if (type.ends_with("[]"))
    return lean_list(value, type.substr(0, type.size() - 2));
  if (is_object(type))
    return lean_object(value, type);
  if (type == "quantity")
    return lean_quantity(value);
  if (type != "quantities" || !value.is_dict())
    return value;
  std::vector<Entry> entries;
  for (const Entry& entry : value.entries())
    entries.push_back({entry.key, lean_quantity(entry.value)});
  return Value::dict(std::move(entries));
}

}  // namespace

std::string canonical_quantity(std::string_view text) {
  const auto milli = quantity_milli(text);
  const bool has_point = text.find('.') != text.npos;
  // Amounts finer than thousandths, and those with an exponent, are left alone.
  const bool is_fine = text.find_first_of("nueE") != text.npos ||
                       (has_point && text.size() - text.find('.') > 4 && !text.ends_with('i'));
  if (!milli || *milli == std::numeric_limits<int64_t>::max() || is_fine)
    return std::string(text);
  if (*milli % 1000 != 0)
    return text.ends_with('i') ? std::string(text) : cat(*milli, "m");
  int64_t number = *milli / 1000;
  const bool is_binary = text.ends_with('i');
  const int64_t step = is_binary ? 1024 : 1000;
  constexpr std::array<const char*, 7> binary{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"},
      decimal{"", "k", "M", "G", "T", "P", "E"};
  size_t unit = 0;
  while (number != 0 && number % step == 0 && unit + 1 < binary.size()) {
    number /= step;
    ++unit;
  }
  return cat(number, (is_binary ? binary : decimal)[unit]);
}

Value without_defaults(const Value& value, std::string_view object) { return lean(value, object); }

}  // namespace fettle::workloads
