/// The fields that pods may have, as Kubernetes' API server knows them; unknown fields and wrong
/// types are errors. A field that no engine can provide is refused, unless it is for a cluster.
/// Fields that are accepted and have no effect are listed in `docs/workloads.md`.

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "kinds/quantity.h"
#include "workloads/pod_defaults.h"
#include "workloads/read/checker.h"

namespace fettle::workloads {
namespace {

/// `type` says what a field is:
///   text, count (0 to 2147483647), number, bool, quantity, any
///   port (1 to 65535), port_or_0, port_or_name
///   field_path (of a pod, for a variable), file_path (the same for a file)
///   texts (a list of them), map (of texts), quantities (a map of them)
///   none: a field that Kubernetes has and engines have not
///   =A|B: one of these words
///   Object: an object of that name in this table; Object[]: a list of them
struct PodField {
  const char* object;
  const char* name;
  const char* type;
};

/// The limit for seconds, users and other counts: larger numbers have no meaning, and could not be
/// added.
constexpr int64_t most_count = std::numeric_limits<int32_t>::max();

constexpr PodField pod_fields[] = {
    {"Template", "metadata", "Metadata"},
    {"Template", "spec", "Spec"},

    {"Metadata", "name", "text"},
    {"Metadata", "generateName", "text"},
    {"Metadata", "namespace", "text"},
    {"Metadata", "labels", "map"},
    {"Metadata", "annotations", "map"},
    {"Metadata", "finalizers", "texts"},
    {"Metadata", "creationTimestamp", "any"},
    {"Metadata", "ownerReferences", "any"},

    {"Spec", "volumes", "Volume[]"},
    {"Spec", "initContainers", "Container[]"},
    {"Spec", "containers", "Container[]"},
    {"Spec", "ephemeralContainers", "none"},
    {"Spec", "restartPolicy", "=Always|OnFailure|Never"},
    {"Spec", "terminationGracePeriodSeconds", "count"},
    {"Spec", "activeDeadlineSeconds", "count"},
    {"Spec", "dnsPolicy", "=ClusterFirst|ClusterFirstWithHostNet|Default|None"},
    {"Spec", "nodeSelector", "map"},
    {"Spec", "serviceAccountName", "text"},
    {"Spec", "serviceAccount", "text"},
    {"Spec", "automountServiceAccountToken", "bool"},
    {"Spec", "nodeName", "text"},
    {"Spec", "hostNetwork", "bool"},
    {"Spec", "hostPID", "bool"},
    {"Spec", "hostIPC", "bool"},
    {"Spec", "hostUsers", "bool"},
    {"Spec", "shareProcessNamespace", "bool"},
    {"Spec", "securityContext", "PodSecurity"},
    {"Spec", "imagePullSecrets", "Named[]"},
    {"Spec", "hostname", "text"},
    {"Spec", "subdomain", "text"},
    {"Spec", "affinity", "Affinity"},
    {"Spec", "schedulerName", "text"},
    {"Spec", "tolerations", "Toleration[]"},
    {"Spec", "hostAliases", "HostAlias[]"},
    {"Spec", "priorityClassName", "text"},
    {"Spec", "priority", "number"},
    {"Spec", "dnsConfig", "Dns"},
    {"Spec", "readinessGates", "Gate[]"},
    {"Spec", "runtimeClassName", "text"},
    {"Spec", "enableServiceLinks", "bool"},
    {"Spec", "preemptionPolicy", "=Never|PreemptLowerPriority"},
    {"Spec", "overhead", "quantities"},
    {"Spec", "topologySpreadConstraints", "Spread[]"},
    {"Spec", "setHostnameAsFQDN", "bool"},
    {"Spec", "os", "Named"},
    {"Spec", "schedulingGates", "Named[]"},
    {"Spec", "resourceClaims", "none"},
    {"Spec", "resources", "Resources"},

    {"Container", "name", "text"},
    {"Container", "image", "text"},
    {"Container", "command", "texts"},
    {"Container", "args", "texts"},
    {"Container", "workingDir", "text"},
    {"Container", "ports", "Port[]"},
    {"Container", "envFrom", "EnvFrom[]"},
    {"Container", "env", "Env[]"},
    {"Container", "resources", "Resources"},
    {"Container", "resizePolicy", "Resize[]"},
    {"Container", "restartPolicy", "=Always|OnFailure|Never"},
    {"Container", "volumeMounts", "Mount[]"},
    {"Container", "volumeDevices", "none"},
    {"Container", "livenessProbe", "Probe"},
    {"Container", "readinessProbe", "Probe"},
    {"Container", "startupProbe", "Probe"},
    {"Container", "lifecycle", "Lifecycle"},
    {"Container", "terminationMessagePath", "text"},
    {"Container", "terminationMessagePolicy", "=File|FallbackToLogsOnError"},
    {"Container", "imagePullPolicy", "=Always|IfNotPresent|Never"},
    {"Container", "securityContext", "Security"},
    {"Container", "stdin", "bool"},
    {"Container", "stdinOnce", "bool"},
    {"Container", "tty", "bool"},
    // The fields of a SidecarSet; `rules.cc` refuses some of them.
    {"Sidecar", "podInjectPolicy", "=BeforeAppContainer|AfterAppContainer"},
    {"Sidecar", "upgradeStrategy", "UpgradeStrategy"},
    {"Sidecar", "shareVolumePolicy", "SharePolicy"},
    {"Sidecar", "shareVolumeDevicePolicy", "SharePolicy"},
    {"Sidecar", "resourcesPolicy", "none"},
    {"Sidecar", "transferEnv", "TransferEnv[]"},
    {"SharePolicy", "type", "=enabled|disabled"},
    {"TransferEnv", "sourceContainerName", "text"},
    {"TransferEnv", "sourceContainerNameFrom", "TransferSource"},
    {"TransferEnv", "envName", "text"},
    {"TransferEnv", "envNames", "texts"},
    {"TransferSource", "fieldRef", "FieldRef"},
    {"UpgradeStrategy", "upgradeType", "=ColdUpgrade|HotUpgrade"},
    {"UpgradeStrategy", "hotUpgradeEmptyImage", "text"},

    {"Port", "name", "text"},
    {"Port", "containerPort", "port"},
    {"Port", "hostPort", "port_or_0"},
    {"Port", "hostIP", "text"},
    {"Port", "protocol", "=TCP|UDP|SCTP"},
    {"EnvFrom", "prefix", "text"},
    {"EnvFrom", "configMapRef", "OptionalName"},
    {"EnvFrom", "secretRef", "OptionalName"},
    {"OptionalName", "name", "text"},
    {"OptionalName", "optional", "bool"},
    {"Env", "name", "text"},
    {"Env", "value", "text"},
    {"Env", "valueFrom", "EnvSource"},
    {"EnvSource", "fieldRef", "FieldRef"},
    {"EnvSource", "resourceFieldRef", "ResourceRef"},
    {"EnvSource", "configMapKeyRef", "KeyRef"},
    {"EnvSource", "secretKeyRef", "KeyRef"},
    {"FieldRef", "apiVersion", "text"},
    {"FieldRef", "fieldPath", "field_path"},
    {"FileRef", "apiVersion", "text"},
    {"FileRef", "fieldPath", "file_path"},
    {"ResourceRef", "containerName", "text"},
    {"ResourceRef", "resource", "text"},
    {"ResourceRef", "divisor", "quantity"},
    {"KeyRef", "name", "text"},
    {"KeyRef", "key", "text"},
    {"KeyRef", "optional", "bool"},
    {"Resources", "limits", "quantities"},
    {"Resources", "requests", "quantities"},
    {"Resources", "claims", "none"},
    {"Resize", "resourceName", "text"},
    {"Resize", "restartPolicy", "=NotRequired|RestartContainer"},
    {"Mount", "name", "text"},
    {"Mount", "mountPath", "text"},
    {"Mount", "subPath", "text"},
    {"Mount", "subPathExpr", "none"},
    {"Mount", "readOnly", "bool"},
    {"Mount", "recursiveReadOnly", "=Disabled|IfPossible|Enabled"},
    {"Mount", "mountPropagation", "=None|HostToContainer|Bidirectional"},
    {"Probe", "exec", "Exec"},
    {"Probe", "httpGet", "HttpGet"},
    {"Probe", "tcpSocket", "TcpSocket"},
    {"Probe", "grpc", "none"},
    {"Probe", "initialDelaySeconds", "count"},
    {"Probe", "timeoutSeconds", "count"},
    {"Probe", "periodSeconds", "count"},
    {"Probe", "successThreshold", "count"},
    {"Probe", "failureThreshold", "count"},
    {"Probe", "terminationGracePeriodSeconds", "count"},
    {"Exec", "command", "texts"},
    {"HttpGet", "path", "text"},
    {"HttpGet", "port", "port_or_name"},
    {"HttpGet", "host", "text"},
    {"HttpGet", "scheme", "=HTTP|HTTPS"},
    {"HttpGet", "httpHeaders", "Pair[]"},
    {"Pair", "name", "text"},
    {"Pair", "value", "text"},
    {"TcpSocket", "port", "port_or_name"},
    {"TcpSocket", "host", "text"},
    {"Lifecycle", "postStart", "Handler"},
    {"Lifecycle", "preStop", "Handler"},
    {"Lifecycle", "stopSignal", "text"},
    {"Handler", "exec", "Exec"},
    {"Handler", "httpGet", "HttpGet"},
    {"Handler", "tcpSocket", "TcpSocket"},
    {"Handler", "sleep", "Sleep"},
    {"Sleep", "seconds", "count"},
    {"Security", "capabilities", "Capabilities"},
    {"Security", "privileged", "bool"},
    {"Security", "seLinuxOptions", "any"},
    {"Security", "windowsOptions", "any"},
    {"Security", "runAsUser", "count"},
    {"Security", "runAsGroup", "count"},
    {"Security", "runAsNonRoot", "bool"},
    {"Security", "readOnlyRootFilesystem", "bool"},
    {"Security", "allowPrivilegeEscalation", "bool"},
    {"Security", "procMount", "=Default|Unmasked"},
    {"Security", "seccompProfile", "any"},
    {"Security", "appArmorProfile", "any"},
    {"Capabilities", "add", "texts"},
    {"Capabilities", "drop", "texts"},
    {"PodSecurity", "seLinuxOptions", "any"},
    {"PodSecurity", "seLinuxChangePolicy", "text"},
    {"PodSecurity", "windowsOptions", "any"},
    {"PodSecurity", "runAsUser", "count"},
    {"PodSecurity", "runAsGroup", "count"},
    {"PodSecurity", "runAsNonRoot", "bool"},
    {"PodSecurity", "supplementalGroups", "any"},
    {"PodSecurity", "supplementalGroupsPolicy", "text"},
    {"PodSecurity", "fsGroup", "count"},
    {"PodSecurity", "fsGroupChangePolicy", "text"},
    {"PodSecurity", "sysctls", "Pair[]"},
    {"PodSecurity", "seccompProfile", "any"},
    {"PodSecurity", "appArmorProfile", "any"},

    {"Named", "name", "text"},
    {"HostAlias", "ip", "text"},
    {"HostAlias", "hostnames", "texts"},
    {"Dns", "nameservers", "texts"},
    {"Dns", "searches", "texts"},
    {"Dns", "options", "Pair[]"},
    {"Gate", "conditionType", "text"},
    {"Toleration", "key", "text"},
    {"Toleration", "operator", "=Exists|Equal"},
    {"Toleration", "value", "text"},
    {"Toleration", "effect", "=NoSchedule|PreferNoSchedule|NoExecute"},
    {"Toleration", "tolerationSeconds", "number"},
    {"Spread", "maxSkew", "count"},
    {"Spread", "topologyKey", "text"},
    {"Spread", "whenUnsatisfiable", "=DoNotSchedule|ScheduleAnyway"},
    {"Spread", "labelSelector", "any"},
    {"Spread", "minDomains", "count"},
    {"Spread", "nodeAffinityPolicy", "=Honor|Ignore"},
    {"Spread", "nodeTaintsPolicy", "=Honor|Ignore"},
    {"Spread", "matchLabelKeys", "texts"},
    {"Affinity", "nodeAffinity", "NodeAffinity"},
    {"Affinity", "podAffinity", "any"},
    {"Affinity", "podAntiAffinity", "any"},
    {"NodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "NodeTerms"},
    {"NodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution", "any"},
    {"NodeTerms", "nodeSelectorTerms", "NodeTerm[]"},
    {"NodeTerm", "matchExpressions", "Requirement[]"},
    {"NodeTerm", "matchFields", "Requirement[]"},
    {"Requirement", "key", "text"},
    {"Requirement", "operator", "=In|NotIn|Exists|DoesNotExist|Gt|Lt"},
    {"Requirement", "values", "texts"},

    {"Volume", "name", "text"},
    {"Volume", "emptyDir", "EmptyDir"},
    {"Volume", "hostPath", "HostPath"},
    {"Volume", "configMap", "ConfigMapVolume"},
    {"Volume", "secret", "SecretVolume"},
    {"Volume", "downwardAPI", "DownwardVolume"},
    {"Volume", "projected", "ProjectedVolume"},
    {"Volume", "persistentVolumeClaim", "ClaimVolume"},
    {"Volume", "awsElasticBlockStore", "none"},
    {"Volume", "azureDisk", "none"},
    {"Volume", "azureFile", "none"},
    {"Volume", "cephfs", "none"},
    {"Volume", "cinder", "none"},
    {"Volume", "csi", "none"},
    {"Volume", "ephemeral", "none"},
    {"Volume", "fc", "none"},
    {"Volume", "flexVolume", "none"},
    {"Volume", "flocker", "none"},
    {"Volume", "gcePersistentDisk", "none"},
    {"Volume", "gitRepo", "none"},
    {"Volume", "glusterfs", "none"},
    {"Volume", "image", "none"},
    {"Volume", "iscsi", "none"},
    {"Volume", "nfs", "none"},
    {"Volume", "portworxVolume", "none"},
    {"Volume", "rbd", "none"},
    {"Volume", "vsphereVolume", "none"},
    {"EmptyDir", "medium", "=|Memory|HugePages"},
    {"EmptyDir", "sizeLimit", "quantity"},
    {"HostPath", "path", "text"},
    {"HostPath", "type",
     "=|DirectoryOrCreate|Directory|FileOrCreate|File|Socket|CharDevice|BlockDevice"},
    {"ConfigMapVolume", "name", "text"},
    {"ConfigMapVolume", "items", "Item[]"},
    {"ConfigMapVolume", "defaultMode", "count"},
    {"ConfigMapVolume", "optional", "bool"},
    {"SecretVolume", "secretName", "text"},
    {"SecretVolume", "items", "Item[]"},
    {"SecretVolume", "defaultMode", "count"},
    {"SecretVolume", "optional", "bool"},
    {"Item", "key", "text"},
    {"Item", "path", "text"},
    {"Item", "mode", "count"},
    {"DownwardVolume", "items", "DownwardItem[]"},
    {"DownwardVolume", "defaultMode", "count"},
    {"DownwardItem", "path", "text"},
    {"DownwardItem", "fieldRef", "FileRef"},
    {"DownwardItem", "resourceFieldRef", "ResourceRef"},
    {"DownwardItem", "mode", "count"},
    {"ProjectedVolume", "sources", "Projection[]"},
    {"ProjectedVolume", "defaultMode", "count"},
    {"Projection", "configMap", "ProjectedNamed"},
    {"Projection", "secret", "ProjectedNamed"},
    {"Projection", "downwardAPI", "DownwardVolume"},
    {"Projection", "serviceAccountToken", "none"},
    {"Projection", "clusterTrustBundle", "none"},
    {"ProjectedNamed", "name", "text"},
    {"ProjectedNamed", "items", "Item[]"},
    {"ProjectedNamed", "optional", "bool"},
    {"ClaimVolume", "claimName", "text"},
    {"ClaimVolume", "readOnly", "bool"},
};

constexpr int64_t most_port = 65'535;

/// Whether an object is also another one: a sidecar is a container.
bool is_also(std::string_view object, std::string_view other) {
  return object == "Sidecar" && other == "Container";
}

const PodField* find_field(std::string_view object, std::string_view name) {
  const auto found = std::ranges::find_if(pod_fields, [&](const PodField& field) {
    return field.name == name && (field.object == object || is_also(object, field.object));
  });
  return found == std::end(pod_fields) ? nullptr : &*found;
}

/// Walks as deep as the table, which has no circle.
class PodWalk {
 public:
  PodWalk(std::string_view kind, bool is_of_cluster, Checker& checker)
      : kind_(kind), is_of_cluster_(is_of_cluster), checker_(checker) {}

  void check(const TreeNode& node, const std::string& path, std::string_view type) {
    if (node.is_null())
      return;
    if (type.ends_with("[]"))
      check_list(node, path, type.substr(0, type.size() - 2));
    else if (is_object(type))
      check_object(node, path, type);
    else
      check_plain(node, path, type);
  }

 private:
  void check_object(const TreeNode& node, const std::string& path, std::string_view object) {
    if (!node.is_dict()) {
      refuse(node, path, "a dict");
      return;
    }
    for (const TreeMember& entry : node.entries()) {
      const std::string name = entry.key->text().str();
      const PodField* const field = find_field(object, name);
      if (field != nullptr && !is_for_server(*field))
        check(*entry.value, cat(path, ".", name), field->type);
      else if (!is_of_cluster_)
        refuse_unknown(*entry.key, path, name, object);
    }
  }

  /// Whether a server of a cluster knows what to do with a field, and nobody else. (Sidecars have one
  /// that only OpenKruise knows.)
  bool is_for_server(const PodField& field) const {
    return is_of_cluster_ && std::string_view(field.type) == "none" &&
           std::string_view(field.object) != "Sidecar";
  }

  void check_list(const TreeNode& node, const std::string& path, std::string_view item) {
    if (!node.is_list()) {
      refuse(node, path, "a list");
      return;
    }
    size_t number = 0;
    for (const TreeNode* each : node.items())
      check(*each, cat(path, "[", number++, "]"), item);
  }

  void check_map(const TreeNode& node, const std::string& path, std::string_view item) {
    if (!node.is_dict()) {
      refuse(node, path, "a dict");
      return;
    }
    for (const TreeMember& entry : node.entries())
      check_plain(*entry.value, cat(path, ".", printable(entry.key->text())), item);
  }

  void check_plain(const TreeNode& node, const std::string& path, std::string_view type) {
    if (type == "texts")
      check_list(node, path, "text");
    else if (type == "map")
      check_map(node, path, "text");
    else if (type == "quantities")
      check_map(node, path, "quantity");
    else if (type == "none")
      checker_.refuse(node,
                      cat("`", path, "` is not supported", is_of_cluster_ ? "" : " on engines"));
    else if (type[0] == '=')
      check_word(node, path, type.substr(1));
    else
      check_scalar(node, path, type);
  }

  void check_word(const TreeNode& node, const std::string& path, std::string_view words) {
    const auto known = split(words, '|');
    if (node.is_text() && is_of_cluster_)
      return;
    if (node.is_text() && std::ranges::find(known, node.text().view()) != known.end())
      return;
    std::string shown = replace_all(words, "|", ", ");
    if (shown.starts_with(", "))
      shown = cat("empty", shown);
    checker_.refuse(node, cat("`", path, "` must be one of ", shown, ", not ", found_text(node),
                              node.is_text() ? suggestion(node.text(), known) : ""));
  }

  void check_scalar(const TreeNode& node, const std::string& path, std::string_view type) {
    const Value value = node.is_scalar() ? node.scalar() : Value();
    const auto is_from = [&](int64_t least, int64_t most) {
      const auto number = value.is_integer() ? value.integer() : std::nullopt;
      return number && *number >= least && *number <= most;
    };
    if (type == "text" && !node.is_text())
      refuse(node, path, "a string", node.is_scalar() ? ": put quotes around it" : "");
    else if (type == "bool" && !value.is_bool())
      refuse(node, path, "true or false");
    else if (type == "number" && !value.is_integer())
      refuse(node, path, "an integer");
    else if (type == "count" && !is_from(0, most_count))
      refuse(node, path, cat("an integer from 0 to ", most_count));
    else if (type == "port" && !is_from(1, most_port))
      refuse(node, path, "from 1 to 65535");
    else if (type == "port_or_0" && !is_from(0, most_port))
      refuse(node, path, "from 0 to 65535");
    else if (type == "port_or_name" && !node.is_text() && !is_from(1, most_port))
      refuse(node, path, "from 1 to 65535 or the name of a port");
    else if (type == "field_path" || type == "file_path")
      check_field_path(node, path, type == "file_path");
    else if (type == "quantity" && (!node.is_scalar() || !quantity_milli(value)))
      refuse(node, path, "an amount such as 500m, 2 or 64Mi");
  }

  /// Checks a field that a pod shows to its containers.
  void check_field_path(const TreeNode& node, const std::string& path, bool is_file) {
    static const std::vector<std::string> known{
        "metadata.name", "metadata.namespace",      "metadata.uid",
        "spec.nodeName", "spec.serviceAccountName", "status.podIP",
        "status.podIPs", "status.hostIP",           "status.hostIPs"};
    if (!node.is_text()) {
      refuse(node, path, "a string", node.is_scalar() ? ": put quotes around it" : "");
      return;
    }
    if (is_of_cluster_)
      return;
    const std::string_view field = node.text().view();
    const bool is_whole = field == "metadata.labels" || field == "metadata.annotations";
    const bool is_one =
        (field.starts_with("metadata.labels['") || field.starts_with("metadata.annotations['")) &&
        field.ends_with("']") && field.size() > field.find('\'') + 3;
    if (is_one || (is_file && is_whole) || std::ranges::find(known, field) != known.end())
      return;
    checker_.refuse(node, cat("`", path, "`: a pod has no field `", clipped(printable(field), 60),
                              "` that containers can use", suggestion(field, known)));
  }

  void refuse(const TreeNode& node, const std::string& path, std::string_view expected,
              std::string_view hint = {}) {
    checker_.refuse(node, cat("`", path, "` must be ", expected, ", not ", found_text(node), hint));
  }

  void refuse_unknown(const TreeNode& key, const std::string& path, const std::string& name,
                      std::string_view object) {
    std::vector<std::string> known;
    for (const PodField& field : pod_fields)
      if (field.object == object || is_also(object, field.object))
        known.emplace_back(field.name);
    checker_.refuse(key, cat("unknown field `", path, ".", printable(name), "` of a ", kind_,
                             suggestion(name, known)));
  }

  std::string_view kind_;
  bool is_of_cluster_;
  Checker& checker_;
};

}  // namespace

std::string_view pod_field_type(std::string_view object, std::string_view name) {
  const PodField* const field = find_field(object, name);
  return field == nullptr ? std::string_view("any") : std::string_view(field->type);
}

void check_pod_fields(const TreeNode& root, std::string_view kind, bool is_of_cluster,
                      Checker& checker) {
  PodWalk walk(kind, is_of_cluster, checker);
  const auto check = [&](const char* path, std::string_view type) {
    if (const TreeNode* node = Checker::find(root, path))
      walk.check(*node, path, type);
  };
  if (kind == "SidecarSet") {
    check("spec.containers", "Sidecar[]");
    check("spec.initContainers", "Sidecar[]");
    check("spec.volumes", "Volume[]");
    check("spec.imagePullSecrets", "Named[]");
  } else if (kind != "ImagePullJob" && kind != "ImageListPullJob") {
    check("spec.template", "Template");
  }
}

}  // namespace fettle::workloads
