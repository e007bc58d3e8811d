#pragma once
/// A tiny world for rollouts: nodes with images, pods that become ready after a while, pulls that
/// take time, and a clock that moves by hand. It does what an engine would do about an intent, and
/// reports the results to the fleet: at once, or after a while if `is_slow`.

#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/text.h"
#include "value/json.h"
#include "workloads/decide/want.h"
#include "workloads/fleet.h"

namespace fettle::workloads {

Value json(std::string_view text);
/// A manifest of `apps.kruise.io/v1beta1` in the namespace `default`; `spec` as JSON.
Object manifest(std::string_view kind, std::string_view name, std::string_view spec,
                std::string_view annotations = "{}", int64_t generation = 1);
/// The spec of a CloneSet whose pods have the label `app: web` and one container per image.
std::string clone_set_spec(int replicas, std::string_view images, std::string_view rolling = "{}",
                           std::string_view more = "");
/// A template `{"metadata", "spec"}` with containers `c0`, `c1`, … of these images.
std::string template_text(std::string_view images, std::string_view metadata = "");

class World {
 public:
  struct Container {
    std::string image, image_id, id;
    int restarts = 0;
  };
  struct Real {
    Attributes attributes;
    std::map<std::string, Container> containers;
    Time created, ready_since;
    Time up_at;             ///< the time at which its containers answer
    bool is_up = false;     ///< all containers are ready
    bool is_ready = false;  ///< the pod is ready: its gates are open, too
    bool is_ending = false;
    bool is_looked_at = false;  ///< since the last act began or ended
    bool was_ready = false;     ///< at the last look
  };
  /// An act under way on a pod.
  struct ActInFlight {
    Resource resource;
    bool removes = false;
    Time ends;
  };
  struct PullInFlight {
    Attributes attributes;
    Time ends;
    int attempts = 1;
  };

  World();
  Fleet fleet{"fleet"};
  Time now;
  Duration ready_after{0};
  Duration pull_takes = 10s;
  std::set<std::string> images_nowhere;  ///< pulls of these fail, containers of these never run
  std::set<std::string> refused_pulls;   ///< pulls of these fail; where they exist, they run
  std::set<std::string> never_ready;     ///< pods with such an image are not ready
  bool same_ids = false;                 ///< every image has the same id
  bool retries = false;  ///< failed acts are tried again every second, as by a controller
  /// The digest that a pull by tag finds on these nodes; elsewhere `sha256:d`.
  std::map<std::string, std::string> other_digests;
  /// After this many acts, the controller dies in the middle of one, which may have happened or
  /// not, and another one continues with the records; 0: it does not.
  int crash_after = 0;
  bool act_has_happened = false;  ///< whether the act in which it dies has happened
  /// Acts on pods take time, and readiness is not seen before `look`.
  bool is_slow = false;
  Duration act_takes{0},
      end_takes{0};  ///< for slow ones: the maximum of an act, the time of an end
  /// Called whenever something became ready or stopped being so.
  std::function<void()> after_each;
  /// Counts events that are not decisions, like a pod that breaks.
  int disturbances = 0;
  /// Called before an act stops a ready pod, unless it was seen not ready, or a disturbance has
  /// happened since the act was decided on.
  std::function<void(const Name& key, bool for_sidecars)> before_stop;

  void add_nodes(int count, std::string_view labels = "{}");
  void put(Object object) {
    objects_[object.owner()] = object;
    fleet.put(std::move(object));
  }
  void remove(const Name& owner) {
    objects_.erase(owner);
    fleet.drop(owner);
  }
  /// The node's engine does not answer: nothing is done or seen there until it is back.
  void lose_node(const Name& name, bool is_away = true);
  /// A node forgets the images that none of its pods has.
  std::vector<std::string> forget_images(const Name& name);
  /// The controller dies, and another one learns everything again.
  void crash();
  /// A user's change to a pod: labels, annotations and finalizers.
  void mark(std::string_view pod, std::string_view metadata);
  /// The effect of `delete pod`.
  void delete_pod(std::string_view pod);
  /// Asks every workload that has changed, and acts, until nothing changes any more.
  void settle();
  /// Lets time pass, second by second.
  void pass(int seconds);
  /// Lets time pass until nothing more is expected, at most this many seconds; returns how many it
  /// took.
  int finish(int most_seconds = 1000);

  /// Names of pods.
  std::vector<std::string> pods(const std::function<bool(const FleetPod&)>& matches = {}) const;
  const FleetPod& pod(std::string_view name) const;
  std::string revision_of(std::string_view name) const { return pod(name).revision.str(); }
  int count_image(std::string_view image) const;
  int ready() const;
  int available() const;
  std::vector<std::string> of_kind(std::string_view kind) const;
  const Attributes* wanted(std::string_view kind, std::string_view name) const;
  bool has_notice(std::string_view reason) const;
  void see_all();
  /// All pods are seen as they are.
  void look() { see_all(); }
  /// The pod's containers end by themselves, and nothing starts them again.
  void break_pod(const Name& key);

  std::map<Name, Real> real;             ///< pods that run, by key
  std::map<Name, ActInFlight> acting;    ///< by key
  std::map<Name, PullInFlight> pulling;  ///< by key
  std::vector<std::string> pulled;       ///< keys in the order in which pulls started
  std::vector<std::string> updated;      ///< names of pods in the order in which containers changed
  std::vector<std::string> made, removed;
  std::vector<std::string> said;  ///< names of notices
  int most_pulls = 0;             ///< concurrent pulls
  int crashes = 0;
  std::map<Name, Wanted> last;

 private:
  bool act(const Name& owner, const Wanted& wanted);
  void retry();
  void put_mark(std::string_view pod, std::vector<Entry> entries);
  bool dies_in(const Resource& resource, const Name& owner);
  bool is_away(const Key& key) const;
  bool has_failed(const Key& key) const;
  void change_pod(const Resource& resource);
  void act_pod(const Resource& resource);
  void begin_act(const Resource& resource, const Name& owner, bool removes);
  void end_acts();
  void act_slowly(const Name& owner, const Wanted& wanted);
  void stop(const Resource& resource, bool removes);
  bool changes_containers(const Real& pod, const Resource& resource) const;
  void record_pod(const Resource& resource);
  void act_pull(const Resource& resource, const Name& owner);
  void record(const Resource& resource, Value outputs, const Name& owner);
  void see(const Name& key);
  bool is_up(const Real& pod, const Container& container) const;
  /// What a pull brings.
  std::string digest_of(const Attributes& pull) const;
  void bring_image(const Name& node, const Name& image);
  void end_pulls();
  void grow_ready();

  std::map<Name, Object> objects_;
  std::map<Name, std::string> digests_;  ///< of images that are on nodes, by `NODE|IMAGE`
  std::map<Key, Resource> recorded_;
  std::map<Key, RecordPointer> records_;
  std::map<Key, Name> owners_;
  std::map<Name, int> decided_;  ///< pods with a wanted act, and how many disturbances ago
  std::set<Name>
      given_up_;  ///< pods whose removal was wanted before they existed or while they were unseen
  int made_containers_ = 0;
  bool is_retrying_ = false;
};

}  // namespace fettle::workloads
