#include "controller/cluster_trial.h"

#include <algorithm>

#include "base/text.h"
#include "cluster/objects.h"
#include "cluster/types.h"
#include "kinds/pod.h"
#include "value/with.h"

namespace fettle {
namespace {

namespace types = cluster::types;
using kubernetes::ObjectName;
using kubernetes::ResourceType;
using workloads::Object;

constexpr std::string_view last_applied = "kubectl.kubernetes.io/last-applied-configuration";

/// The manifest that was applied last. Null: nobody knows.
Value applied_last(const Value& live) {
  const std::string_view text = live.at("metadata").at("annotations").text_at(last_applied);
  const workloads::Manifests read = workloads::read_manifests(text, "", {.is_of_cluster = true});
  return read.errors.empty() && read.objects.size() == 1 ? read.objects.front().document : Value();
}

class ClusterTrial {
 public:
  explicit ClusterTrial(const ClusterLook& look) : look_(look) {}

  Result<Trial> make(std::set<std::string> spaces, std::vector<Object> objects) {
    const bool is_any_given = !objects.empty();
    objects = TRY(workloads_among(std::move(objects)));
    if (is_any_given)
      spaces.clear();
    ReadingScope scope{.spaces = std::move(spaces)};
    for (const Object& object : objects) {
      scope.spaces.insert(object.space.str());
      scope.kinds.insert(object.kind.str());
    }
    reading_ = TRY(look_.read(std::move(scope)));
    for (std::string& warning : reading_->warnings)
      trial_.warnings.push_back(std::move(warning));
    FleetView& view = *reading_->view;
    if (is_any_given)
      (void)view.fleet.take_changed();  // nobody asks the others
    else
      trial_.owners = view.owners;
    TRY(put(objects));
    for (const Object& object : objects)
      if (object.kind == types::sidecar_sets.kind)
        add_owners_with(object.name);
    trial_.view = std::move(reading_->view);
    return std::move(trial_);
  }

 private:
  /// Those that are kept. Others change no pods by themselves.
  Result<std::vector<Object>> workloads_among(std::vector<Object> objects) {
    std::vector<Object> found;
    for (Object& object : objects) {
      const bool is_kept = std::ranges::any_of(
          types::workloads, [&](const ResourceType& type) { return object.kind == type.kind; });
      if (is_kept)
        found.push_back(std::move(object));
      else
        trial_.warnings.push_back(cat(object.kind, " `", object.name,
                                      "` is not compared with the cluster; no pod changes by it"));
    }
    return found;
  }

  /// A SidecarSet changes pods by their owners.
  void add_owners_with(const Name& sidecar_set) {
    reading_->view->fleet.for_each_pod([&](const workloads::FleetPod& pod) {
      const List sidecars = read_one<&Pod::sidecars>(pod.resource->attributes);
      for (const Value& sidecar : sidecars.items())
        if (sidecar.text_at("name") == sidecar_set.view())
          trial_.owners.insert(pod.owner);
    });
  }

  Status put(const std::vector<Object>& objects) {
    FleetView& view = *reading_->view;
    std::vector<Object> before, after;
    for (const Object& object : objects) {
      const Value live = TRY(live_object(object));
      Object wanted = TRY(read_answer(object, TRY(ask(object, live))));
      if (!live.is_null()) {
        const Object* const known = view.fleet.object(object.owner());
        if (known == nullptr)
          return unread_error(object, live);
        before.push_back(*known);
        before.back().applied = applied_last(live);
      }
      after.push_back(std::move(wanted));
    }
    trial_.objects = TRY(fates_of(before, after));
    // A webhook may have written defaults into lists, and that is nobody's change.
    for (StoredObject& object : trial_.objects)
      std::erase_if(object.taken_back, [](const workloads::TakenBack& field) {
        return field.before.is_list() || field.after.is_list();
      });
    for (size_t i = 0; i < after.size(); ++i) {
      const Name& owner = trial_.objects[i].owner;
      trial_.owners.insert(owner);
      view.owners.insert(owner);
      if (trial_.objects[i].fate != StoredObject::Fate::unchanged)
        view.fleet.put(std::move(after[i]));
    }
    return {};
  }

  /// Why what stands in the cluster is no part of its fleet.
  static Error unread_error(const Object& object, const Value& live) {
    const auto read = cluster::read_workload(live, type_written(object));
    Error error = read ? user_error("it is not kept as it stands") : read.error();
    return std::move(error).context(
        cat("planning ", object.kind, " `", object.name, "` on top of what is in the cluster"));
  }

  /// As it stands in the version in which the manifest is written: a server may convert. Null:
  /// there is none.
  Result<Value> live_object(const Object& object) const {
    const Value known = reading_->workload(object.owner());
    if (known.is_null())
      return known;
    if (cluster::meta_of(known).is_leaving)
      return user_error(cat(object.kind, " `", object.name,
                            "` is being deleted; there is a plan when it is gone"));
    const ResourceType type = type_written(object);
    return type.version == types::clone_sets.version ? known
                                                     : TRY(look_.get(type, name_of_object(object)));
  }

  /// The object as the server would store it.
  Result<Value> ask(const Object& object, const Value& live) {
    const ResourceType type = type_written(object);
    const Value given = type.is_namespaced
                            ? with(object.written, "metadata",
                                   with(object.written.at("metadata"), "namespace", object.space))
                            : object.written;
    const kubernetes::WriteOptions dry{.is_dry_run = true};
    if (live.is_null()) {
      const auto answer =
          look_.client().create(type, {object.space.str(), ""}, given, dry, look_.stop());
      return answer_of(object, answer, given);
    }
    const Value merged =
        workloads::merged(object.kind, cluster::json_annotation(live, last_applied), live, given);
    const Value change = cluster::patch_between(live, merged);
    if (change.is_null())
      return live;
    const auto answer = look_.client().patch(
        type, name_of_object(object), kubernetes::PatchType::merge, change, dry, look_.stop());
    return answer_of(object, answer, merged);
  }

  Result<Value> answer_of(const Object& object, const kubernetes::ApiResult<Value>& answer,
                          const Value& otherwise) {
    if (answer)
      return *answer;
    const kubernetes::ApiError& error = answer.error();
    const std::string name =
        cat(object.kind, " `", object.space, object.space.empty() ? "" : "/", object.name, "`");
    if (is_right_missing(error)) {
      trial_.warnings.push_back(cat(
          name, " is planned without the server's defaults and checks: ", error.server_message));
      // What is known of who wrote which field is of the object as it stands.
      return with(otherwise, "metadata", with(otherwise.at("metadata"), "managedFields", Value()));
    }
    return refused_write(error, cat("trying out ", name, " in the cluster"));
  }

  Result<Object> read_answer(const Object& object, const Value& answer) const {
    Object wanted = TRY(cluster::read_workload(answer, type_written(object)));
    const auto owner = reading_->owners.find(object.owner());
    return owner == nullptr ? std::move(wanted)
                            : cluster::with_known_policies(std::move(wanted), owner->revisions);
  }

  static ResourceType type_written(const Object& object) {
    ResourceType type = types::workload_of_kind(object.kind);
    const std::string_view version = object.written.text_at("apiVersion");
    if (const size_t slash = version.find('/'); slash != version.npos)
      type.version = version.substr(slash + 1);
    return type;
  }

  static ObjectName name_of_object(const Object& object) {
    return {object.space.str(), object.name.str()};
  }

  const ClusterLook& look_;
  std::unique_ptr<ClusterReading> reading_;
  Trial trial_;
};

}  // namespace

Result<Trial> try_in_cluster(const ClusterLook& look, std::set<std::string> spaces,
                             std::vector<Object> objects) {
  return ClusterTrial(look).make(std::move(spaces), std::move(objects));
}

}  // namespace fettle
