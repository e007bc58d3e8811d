#include "verbs/workloads.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "base/wait.h"
#include "verbs/engines.h"
#include "verbs/fleet_view.h"
#include "verbs/fleet_wishes.h"

namespace fettle {
namespace {

using workloads::Fleet;
using workloads::Object;

constexpr Duration look_pause = 200ms;     ///< between two looks while something is awaited
constexpr Duration idle_pause = 10s;       ///< while nothing is, and no probe asks for more
constexpr Duration wish_pause = 50ms;      ///< between two looks whether users stored anything
constexpr Duration gates_pause = 500ms;    ///< between two looks at the gates of the fleet
constexpr Duration follow_pause = 500ms;   ///< between two looks at what somebody else does
constexpr Duration node_pause = 5s;        ///< between two looks at the nodes
constexpr Duration shortest_pause = 20ms;  ///< of anything
constexpr Duration longest_rest = 2s;      ///< while an engine does not answer
constexpr Duration first_retry = 1s, longest_retry = 5min;

/// What engines tell of pods, from threads of their own.
class Bell {
 public:
  explicit Bell(const Workplace& place) : place_(place) {}
  ~Bell() {
    for (auto& [name, thread] : threads_)
      thread.request_stop();
  }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  /// Listens to a driver from now on, if it does not yet.
  void listen(const Name& driver_name, const Name& environment) {
    Driver* const driver = place_.driver(driver_name);
    if (driver == nullptr || threads_.contains(driver_name))
      return;
    threads_.emplace(driver_name,
                     std::jthread([this, driver, environment](const std::stop_token& stop) {
                       driver->watch(environment, [this](const Key&) { ring(); }, stop);
                     }));
  }
  void ring() {
    const std::lock_guard lock(mutex_);
    has_rung_ = true;
    rung_.notify_all();
  }
  bool take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(has_rung_, false);
  }
  /// Until it rings or the time is over. Error: a stop was asked for.
  Status wait(Duration limit, const std::stop_token& stop) {
    const std::stop_callback woken(stop, [this] {
      const std::lock_guard lock(mutex_);
      rung_.notify_all();
    });
    std::unique_lock lock(mutex_);
    rung_.wait_for(lock, limit, [&] { return has_rung_ || stop.stop_requested(); });
    return stop.stop_requested() ? Status(cancelled_error()) : Status();
  }

 private:
  const Workplace& place_;
  std::mutex mutex_;
  std::condition_variable rung_;
  bool has_rung_ = false;
  std::map<Name, std::jthread> threads_;
};

/// A ground on which nobody waits for long: pods become ready, and users change their minds, while
/// acts are under way.
class Wakeful : public Ground {
 public:
  Wakeful(Ground& inner, const Name& environment) : inner_(inner), environment_(environment) {}
  Moment now() override { return inner_.now(); }
  void start(Job job) override { inner_.start(std::move(job)); }
  void end(const Key& key) override { inner_.end(key); }
  void watch(Driver& driver, const Name& environment) override {
    inner_.watch(driver, environment);
  }
  News wait(std::optional<Instant> until) override {
    const Instant soon = inner_.now().instant + wish_pause;
    News news = inner_.wait(until && *until < soon ? *until : soon);
    // About nothing: who decides is asked whether something else is wanted.
    news.hints.push_back({environment_, "fleet", environment_});
    return news;
  }

 private:
  Ground& inner_;
  Name environment_;
};

/// Wishes of owners, and what the store and the engines know of them. What is carried out is the
/// intent of those who want something else, and of those whose last one did not end well.
class Bringing {
 public:
  Bringing(const Workplace& place, const Name& environment, Edit* edit, const BringOptions& options)
      : place_(place), environment_(environment), edit_(edit), options_(options), bell_(place) {}

  Result<Brought> bring() {
    TRY(learn());
    changed_ = instant_from_clock();
    while (true) {
      const Result<bool> over = take_turn();
      if (over && *over)
        break;
      if (over)
        continue;
      // Who keeps workloads goes on when an engine is there again.
      if (!options_.keeps || is_cancelled(over.error()) || over.error().blame != Blame::world)
        return over.error();
      if (to_string(over.error()) != complaint_)
        place_.tell(complaint_ = to_string(over.error()));
      is_due_ = true;
      if (!rest(longest_rest))
        break;
    }
    count();
    return std::move(brought_);
  }

 private:
  Fleet& fleet() { return view_->fleet; }

  /// Has done what is due, or waits for something to change. Whether it is over.
  Result<bool> take_turn() {
    is_due_ |= wishes_->ask(place_.clock());
    if (is_due_ && edit_ != nullptr) {
      TRY(carry());
      is_due_ = false;
      complaint_.clear();
      changed_ = instant_from_clock();
      if (brought_.summary.stopped)
        return true;
      TRY(look());
      return false;
    }
    if (!std::exchange(is_counted_, true))
      count();
    if (!options_.keeps && is_over())
      return true;
    if (!options_.keeps && instant_from_clock() - changed_ > options_.limit) {
      brought_.summary.is_late = true;
      return true;
    }
    if (!rest(pause()))
      return true;
    is_due_ |= TRY(catch_up());
    return false;
  }

  /// False: a stop was asked for.
  bool rest(Duration limit) {
    const Interrupt& interrupt = *place_.interrupt;
    const bool goes_on = interrupt.asked() == 0 && bell_.wait(limit, interrupt.acts_token()) &&
                         interrupt.asked() == 0;
    brought_.summary.stopped |= !goes_on;
    return goes_on;
  }

  Status learn() {
    version_ = TRY(place_.store->versions().open(environment_, {}))->number();
    wishes_.reset();
    view_ = TRY(learn_fleet(place_, environment_));
    wishes_.emplace(fleet());
    for (const Name& owner : view_->owners)
      wishes_->add(owner);
    learned_ = looked_at_nodes_ = instant_from_clock();
    return look();
  }

  /// At the pods, since nobody tells when one is ready.
  Status look() {
    TRY(look_at_pods(place_, *view_));
    looked_ = instant_from_clock();
    is_counted_ = false;
    for (const Name& driver : drivers_of(view_->known))
      if (is_engine(driver) && !view_->silent.contains(driver))
        bell_.listen(driver, environment_);
    return {};
  }

  /// Everything that may have changed since: wishes, nodes, pods. Whether something that is wanted
  /// is not as it was left.
  Result<bool> catch_up() {
    const Instant now = instant_from_clock();
    if (edit_ == nullptr) {
      TRY(follow());
      return false;
    }
    (void)TRY(learn_wishes());
    if (now - looked_at_nodes_ >= node_pause)
      TRY(learn_nodes());
    if (bell_.take() || now >= next_look()) {
      TRY(look());
      if (options_.keeps)
        covered_.merge(drifted_owners());
    }
    if (!options_.keeps || now < retry_at_ || covered_.empty())
      return false;
    retry_pause_ = std::clamp<Duration>(2 * retry_pause_, first_retry, longest_retry);
    retry_at_ = now + retry_pause_;
    return true;
  }

  /// What whoever acts has come to. Learned anew each time: what we would do ourselves is not what
  /// is done.
  Status follow() {
    if (instant_from_clock() - learned_ < follow_pause)
      return {};
    const uint64_t before = last_success();
    TRY(learn());
    if (last_success() != before)
      changed_ = instant_from_clock();
    return {};
  }
  uint64_t last_success() const {
    uint64_t last = 0;
    for (const auto& [key, record] : view_->known)
      last = std::max(last, record->sequence);
    return last + view_->known.size();
  }

  /// What users stored since; whether it is anything.
  Result<bool> learn_wishes() {
    const Instant now = instant_from_clock();
    if (now - learned_ < wish_pause)
      return false;
    learned_ = now;
    for (const Name& owner : wishes_->take_expired())
      if (fleet().object(owner) != nullptr)
        TRY(delete_objects(place_, environment_, {owner}));
    if (now - looked_at_gates_ >= gates_pause) {
      fleet().gates = TRY(stored_gates(place_, environment_));
      looked_at_gates_ = now;
    }
    const uint64_t version = TRY(place_.store->versions().open(environment_, {}))->number();
    if (version == version_)
      return false;
    version_ = version;
    is_counted_ = false;
    std::set<Name> stored;
    for (Object& object : TRY(stored_objects(place_, environment_))) {
      const Name owner = object.owner();
      stored.insert(owner);
      view_->owners.insert(owner);
      const Object* const known = fleet().object(owner);
      if (known == nullptr || known->document != object.document)
        fleet().put(std::move(object));
    }
    for (const Name& owner : view_->owners)
      if (!stored.contains(owner) && fleet().object(owner) != nullptr)
        fleet().drop(owner);
    retry_pause_ = Duration(0);
    TRY(look_at_images(place_, fleet()));
    return true;
  }

  /// Nodes that came, went, are away or back.
  Status learn_nodes() {
    looked_at_nodes_ = instant_from_clock();
    std::set<Name> there;
    bool is_any_back = false;
    for (workloads::Node& node : TRY(nodes_of_fleet(place_))) {
      there.insert(node.name);
      const workloads::Node* const known = fleet().node(node.name);
      if (known != nullptr && known->is_ready == node.is_ready &&
          known->is_cordoned == node.is_cordoned && known->labels == node.labels &&
          known->pulls == node.pulls)
        continue;
      is_any_back |= node.is_ready;
      if (known != nullptr)
        node.images = known->images;
      fleet().put_node(std::move(node));
    }
    std::vector<Name> gone;
    for (const auto& [name, node] : fleet().nodes())
      if (!there.contains(name))
        gone.push_back(name);
    for (const Name& name : gone)
      fleet().drop_node(name);
    if (!is_any_back)
      return {};
    // One that is back may have other images and other pods, and what waited for it need not wait
    // any longer.
    retry_at_ = looked_at_nodes_;
    TRY(look_at_images(place_, fleet()));
    return look();
  }

  Status learn_records(const Known& now) {
    for (const auto& [key, record] : view_->known)
      if (!now.contains(key))
        fleet().know(key, nullptr);
    for (const auto& [key, record] : now) {
      const auto before = view_->known.find(key);
      if (before == view_->known.end() || before->second != record)
        tell_record(fleet(), key, record);
    }
    view_->known = now;
    return {};
  }

  /// Has the intent carried out, and goes on with what is wanted by then while acts are under way.
  Status carry() {
    Threads threads(*place_.interrupt, place_.mask.get());
    Wakeful ground(place_.ground == nullptr ? threads : *place_.ground, environment_);
    Workplace place = place_;
    place.ground = &ground;
    Undertaking undertaking;
    covered_.merge(wishes_->take_changed());
    if (covered_.empty())
      return {};
    undertaking.intent = wishes_->intent(covered_);
    undertaking.options.parallelism = wishes_->acts_at_once();
    undertaking.known = view_->known;
    undertaking.audience = options_.audience;
    undertaking.wants = [&](const Run& run) { return wanted_by_now(run, ground); };
    Carried carried = TRY(carry_out(place, *edit_, std::move(undertaking)));
    const Summary summary = TRY(std::move(carried.summary));
    brought_.summary.done += summary.done;
    brought_.summary.kept = summary.kept;
    brought_.summary.blocked = summary.blocked;
    brought_.summary.failures = summary.failures;
    brought_.summary.skips = summary.skips;
    brought_.summary.stopped = summary.stopped;
    if (summary.good()) {
      retry_pause_ = Duration(0);
      covered_.clear();
    }
    return learn_records(TRY(place_.store->known(environment_)));
  }

  Result<std::shared_ptr<const Intent>> wanted_by_now(const Run& run, Ground& ground) {
    TRY(learn_records(run.known()));
    // What users want now comes before a look at pods: it may end pulls.
    if (!TRY(learn_wishes()) && (bell_.take() || instant_from_clock() - looked_ >= look_pause))
      TRY(look());
    std::vector<Key> pulling;
    fleet().for_each_pull([&](const workloads::Pull& pull) {
      if (run.is_under_way(pull.resource.key))
        pulling.push_back(pull.resource.key);
    });
    if (!wishes_->ask(place_.clock()))
      return nullptr;
    // Pulls that nobody wants any more end at once.
    for (const Key& key : pulling)
      if (fleet().pull(key.name) == nullptr)
        ground.end(key);
    covered_.merge(wishes_->take_changed());
    return wishes_->intent(covered_);
  }

  /// Whose pods are not as they were left: a container is gone, or does not answer any more.
  std::set<Name> drifted_owners() const {
    std::set<Name> owners;
    const Kind* const kind = place_.kinds->find("pod");
    for (const auto& [key, record] : view_->known) {
      const auto seen = view_->seen.find(key);
      if (key.kind == "pod" && record->applied && record->by_hand == ByHand::nothing &&
          seen != view_->seen.end() &&
          kind->compare(*record, seen->second, Presence::running).verb != Verb::keep)
        for (const auto& [owner, wish] : record->wanted_by)
          owners.insert(owner);
    }
    return owners;
  }

  /// Which pods are ready, and why the others are not. Nobody awaits those whose node is away.
  void count() {
    brought_.unsettled.clear();
    brought_.pods = brought_.ready = 0;
    is_any_awaited_ = false;
    all_available_ = Time();
    fleet().for_each_pod([&](const workloads::Pod& pod) {
      ++brought_.pods;
      if (pod.is_ready && !pod.is_leaving && !pod.is_updating) {
        ++brought_.ready;
        const workloads::Workload* const workload = fleet().workload(pod.owner);
        const int64_t seconds = workload == nullptr ? 0 : workload->min_ready_seconds;
        all_available_ = std::max(all_available_, pod.ready_since + std::chrono::seconds(seconds));
        return;
      }
      const bool is_away = view_->silent.contains(engine_of_node(pod.node));
      is_any_awaited_ |= !is_away;
      const std::string reason = is_away             ? cat("node `", pod.node, "` does not answer")
                                 : pod.error.empty() ? why(pod.resource.key)
                                                     : pod.error.str();
      brought_.unsettled.push_back(cat("pod ", pod.space, "/", pod.name, ": ", reason));
    });
  }

  bool is_over() const {
    if (edit_ == nullptr && !wishes_->is_brought_about(view_->known))
      return false;
    const bool is_available = place_.clock() >= all_available_;  // others may wait for that
    return (!is_any_awaited_ && is_available) || !brought_.summary.failures.empty();
  }

  std::string why(const Key& key) const {
    const auto found = view_->seen.find(key);
    if (found == view_->seen.end() || !found->second.state)
      return "it does not exist";
    const Value& conditions = found->second.state->at("conditions");
    if (conditions.is_list())
      for (const Value& condition : conditions.items())
        if (condition.text_at("type") == "Ready" && condition.text_at("status") != "True")
          return std::string(condition.text_at("message", "it is not ready"));
    return "its update is not complete";
  }

  /// When pods are to be looked at again at the latest: soon while one is awaited, else when a
  /// probe is to be asked.
  Instant next_look() const {
    return looked_ + (is_any_awaited_ ? look_pause : options_.keeps ? probe_pause() : idle_pause);
  }
  Duration probe_pause() const {
    int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(idle_pause).count();
    for (const auto& [owner, workload] : view_->fleet.workloads())
      if (const Value& containers = workload->pod_template.at("spec").at("containers");
          containers.is_list())
        for (const Value& container : containers.items())
          for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"})
            if (container.at(probe).is_dict())
              seconds = std::min(seconds, std::max<int64_t>(1, container.at(probe).integer_at(
                                                                   "periodSeconds", 10)));
    return std::chrono::seconds(seconds);
  }

  Duration pause() const {
    const Instant now = instant_from_clock();
    if (edit_ == nullptr)
      return std::max<Duration>(learned_ + follow_pause - now, shortest_pause);
    Instant until = std::min(next_look(), learned_ + wish_pause);
    if (options_.keeps && !covered_.empty())
      until = std::min(until, retry_at_);
    if (const auto ask = wishes_->ask_at())
      until = std::min(until, now + (*ask - place_.clock()));
    return std::max<Duration>(until - now, shortest_pause);
  }

  const Workplace& place_;
  const Name environment_;
  Edit* edit_;  ///< none: somebody else acts
  const BringOptions& options_;
  std::unique_ptr<FleetView> view_;
  std::optional<FleetWishes> wishes_;
  uint64_t version_ = 0;
  Instant looked_, learned_, looked_at_nodes_, looked_at_gates_, retry_at_;
  Duration retry_pause_{0};
  bool is_any_awaited_ = false;
  Time all_available_;       ///< when all pods that are ready have been so for `minReadySeconds`
  bool is_counted_ = false;  ///< pods, since the last look at them
  std::set<Name> covered_;   ///< owners whose wishes are to be carried out, or just are
  bool is_due_ = true;       ///< at least once, since what is there may not be as it was left
  Instant changed_;
  std::string complaint_;  ///< that was told last
  Brought brought_;
  Bell bell_;
};

/// Whether a controller acts on the fleet.
Result<bool> is_kept(const Workplace& place, const Name& environment) {
  const auto holder = TRY(place.store->holder(environment));
  return holder && holder->what.starts_with(controller_words);
}

}  // namespace

Result<Brought> bring_workloads(const Workplace& place, const Name& environment,
                                const BringOptions& options) {
  if (!options.keeps && TRY(is_kept(place, environment))) {
    place.tell("a controller keeps the workloads; following its progress");
    return Bringing(place, environment, nullptr, options).bring();
  }
  const std::unique_ptr<Edit> edit = TRY(begin_edit(place, environment, options.wait_for_others));
  TRY(ensure_environment(place, *edit, Value::dict({})));
  return Bringing(place, environment, edit.get(), options).bring();
}

}  // namespace fettle
