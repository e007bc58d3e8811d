#include "controller/workloads.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "controller/aside.h"
#include "controller/bell.h"
#include "controller/fleet_view.h"
#include "controller/fleet_wishes.h"
#include "controller/told_edit.h"
#include "controller/wakeful.h"
#include "controller/workload_objects.h"
#include "controller/workload_progress.h"
#include "kinds/pod.h"
#include "workloads/read/change.h"
#include "workplace/engines.h"

namespace fettle {
namespace {

using workloads::Fleet;
using workloads::Object;

constexpr Duration look_pause = 200ms;     ///< between two looks while something is awaited
constexpr Duration idle_pause = 10s;       ///< while nothing is, and no probe asks for more
constexpr Duration follow_pause = 500ms;   ///< between two looks at what somebody else does
constexpr Duration node_pause = 5s;        ///< between two looks at the nodes
constexpr Duration shortest_pause = 20ms;  ///< of anything
constexpr Duration longest_rest = 2s;      ///< while an engine does not answer
constexpr Duration first_retry = 1s, longest_retry = 5min;

/// Wishes of owners, and what the store and the engines know of them. What is carried out is what
/// has not come about of those who want something else, and of those whose last wish did not end
/// well; all of it when it begins, and when a node is back.
class Bringing {
 public:
  Bringing(const Workplace& place, const Name& environment, Edit* edit, const BringOptions& options)
      : place_(place),
        environment_(environment),
        edit_(edit),
        options_(options),
        bell_(place),
        looks_(place.interrupt->acts_token(), [this] { bell_.ring(Bell::Cause::look); }),
        node_looks_(place.interrupt->acts_token(), [this] { bell_.ring(Bell::Cause::look); }) {}

  /// Whether who acted does so no more, and nobody has taken its place.
  bool is_abandoned() const { return is_abandoned_; }

  Result<Brought> bring() {
    TRY(learn());
    if (edit_ != nullptr)
      bell_.listen_to_store();
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
    if (!options_.keeps)
      add_statuses(*view_, place_.clock(), options_.only, progress_);
    brought_.unsettled = progress_.unsettled;
    brought_.is_refused = progress_.is_refused;
    if (!told_.empty())
      place_.doing({});
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
      changed_ = acted_ = instant_from_clock();
      has_to_look_ = true;
      TRY(look());
      TRY(forget_names_of_gone());
      TRY(forget_marks_of_gone());
      return brought_.summary.stopped || brought_.summary.is_late;
    }
    if (!std::exchange(is_counted_, true))
      count();
    if (!options_.keeps && is_over())
      return true;
    if (!options_.keeps && instant_from_clock() - changed_ > options_.limit) {
      brought_.summary.is_late = true;
      return true;
    }
    tell_waiting();
    if (!rest(pause()))
      return true;
    is_due_ |= TRY(catch_up());
    return is_abandoned_;
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
    stamp_ = TRY(place_.store->stamp());
    version_ = TRY(place_.store->versions().open(environment_, {}))->number();
    wishes_.reset();
    records_.reset();
    view_ = TRY(learn_fleet(place_, environment_));
    TRY(look_at_room(place_, fleet()));
    TRY(hear_of_nodes());
    records_.emplace(view_->known);
    wishes_.emplace(fleet());
    is_all_due_ = true;
    for (const Name& owner : view_->owners)
      wishes_->add(owner);
    learned_ = looked_at_nodes_ = looked_ = instant_from_clock();
    looked_time_ = place_.clock();
    TRY(look_at_pods(place_, *view_));
    has_looked();
    return {};
  }

  /// At the pods, since nobody tells when one is ready: takes the answer of the last look, and
  /// begins another one if it is time.
  Status look() {
    (void)bell_.take(Bell::Cause::look);
    const auto began = looks_.began();
    if (auto answer = looks_.take()) {
      TRY(tell_seen(place_, *view_, TRY(*std::move(answer))));
      looked_ = *began;
      looked_time_ = asked_time_;
      has_looked();
    }
    has_to_look_ |= bell_.take(Bell::Cause::pods) || instant_from_clock() >= next_look() ||
                    (place_.clock() >= progress_.all_available && !has_seen_available());
    if (!has_to_look_ || looks_.began())
      return {};
    has_to_look_ = false;
    asked_time_ = place_.clock();
    looks_.begin(question_about_pods(place_, *view_), instant_from_clock());
    return {};
  }

  void has_looked() {
    is_counted_ = false;
    find_drift();
    for (const Name& driver : drivers_of(view_->known))
      if (is_engine(driver) && !view_->silent.contains(driver))
        bell_.listen(driver, environment_);
  }

  /// Everything that may have changed since: wishes, nodes, pods. Whether something that is wanted
  /// is not as it was left.
  Result<bool> catch_up() {
    const Instant now = instant_from_clock();
    if (edit_ == nullptr) {
      TRY(follow());
      return false;
    }
    TRY(learn_wishes());
    TRY(watch_nodes());
    TRY(forget_lost());
    const Instant before = looked_;
    TRY(look());
    if (options_.keeps && looked_ != before)
      covered_.merge(drifted_owners());
    if (!options_.keeps || now < retry_at_ || covered_.empty())
      return false;
    retry_pause_ = std::clamp<Duration>(2 * retry_pause_, first_retry, longest_retry);
    retry_at_ = now + retry_pause_;
    return true;
  }

  /// What whoever acts has come to. Learned anew each time: what we would do ourselves is not what
  /// is done.
  Status follow() {
    (void)bell_.take(Bell::Cause::pods);
    if (instant_from_clock() - learned_ < follow_pause)
      return {};
    is_abandoned_ = !TRY(is_kept(place_, environment_));
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

  /// What users stored since.
  Status learn_wishes() {
    const Instant now = instant_from_clock();
    if (!bell_.take(Bell::Cause::store) && now - learned_ < bell_.store_pause())
      return {};
    learned_ = now;
    bool has_written = false;
    for (const Name& owner : wishes_->take_expired())
      if (fleet().object(owner) != nullptr) {
        TRY(delete_objects(place_, environment_, {owner}));
        has_written = true;
      }
    const int64_t stamp = TRY(place_.store->stamp());
    if (std::exchange(stamp_, stamp) == stamp && !has_written)
      return {};
    TRY(hear_of_nodes());
    fleet().gates = TRY(stored_gates(place_, environment_));
    const uint64_t version = TRY(place_.store->versions().open(environment_, {}))->number();
    if (version == version_)
      return {};
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
    TRY(look_at_room(place_, fleet()));
    return look_at_images(place_, fleet());
  }

  /// What users say about nodes counts as soon as they have said it; who waits for that is told.
  Status hear_of_nodes() {
    std::vector<NodeSpec> nodes = TRY(nodes_of(*place_.store));
    std::string mark = mark_of(nodes);
    if (mark == heard_)
      return {};
    lost_nodes_.clear();
    std::set<Name> unasked;
    for (const NodeSpec& node : nodes)
      if (node.is_lost)
        lost_nodes_.push_back(node.name);
      else if (unasked_nodes_.contains(node.name) || fleet().node(node.name) == nullptr)
        unasked.insert(node.name);
    tell_nodes(fleet(), nodes);
    unasked_nodes_ = std::move(unasked);
    looked_at_nodes_ = Instant();  // a new one has to be asked
    is_counted_ = false;
    heard_ = std::move(mark);
    has_to_tell_ = true;
    return tell_heard();
  }
  /// Nobody is told before it is true: what is lost is forgotten, and new nodes were asked, so that
  /// the next pod may go there. Who follows has nothing to say.
  Status tell_heard() {
    if (!has_to_tell_ || edit_ == nullptr || !lost_nodes_.empty() || !unasked_nodes_.empty())
      return {};
    has_to_tell_ = false;
    return edit_->put_note(heard_note, heard_);
  }

  /// What was on nodes that never come back. While nothing is under way there.
  Status forget_lost() {
    if (lost_nodes_.empty() || edit_ == nullptr)
      return {};
    std::vector<Change> gone;
    for (const auto& [key, record] : view_->known)
      if (const Resource* const then = resource_of_then(*record); then != nullptr)
        for (const Name& node : lost_nodes_)
          if (then->driver == engine_of_node(node))
            gone.push_back({Change::forget, key, nullptr, {}});
    TRY(edit_->write(gone));
    for (const Change& change : gone)
      learn_record(change.key, nullptr);
    lost_nodes_.clear();
    return tell_heard();
  }

  /// Takes the answer of the last look at nodes, and begins another one if it is time.
  Status watch_nodes() {
    if (auto answer = node_looks_.take())
      TRY(learn_nodes(TRY(*std::move(answer))));
    const Instant now = instant_from_clock();
    if (node_looks_.began() || now - looked_at_nodes_ < node_pause)
      return {};
    looked_at_nodes_ = now;
    node_looks_.begin(question_about_nodes(place_, fleet()), now);
    return {};
  }

  /// Nodes that are away or back.
  Status learn_nodes(const std::map<Name, bool>& answers) {
    bool is_any_back = false;
    for (const auto& [name, is_ready] : answers) {
      const workloads::Node* const known = fleet().node(name);
      if (known == nullptr || known->is_ready == is_ready)
        continue;
      is_any_back |= is_ready;
      workloads::Node node = *known;
      node.is_ready = is_ready;
      fleet().put_node(std::move(node));
    }
    std::erase_if(unasked_nodes_, [&](const Name& name) { return answers.contains(name); });
    TRY(tell_heard());
    TRY(look_at_room(place_, fleet()));
    if (!is_any_back)
      return {};
    // One that is back may have other images and other pods, and what waited for it need not wait
    // any longer.
    retry_at_ = instant_from_clock();
    has_to_look_ = is_all_due_ = true;
    return look_at_images(place_, fleet());
  }

  void learn_record(const Key& key, const RecordPointer& record) {
    if (!records_->put(key, record))
      return;
    moved_ = instant_from_clock();
    awaited_.erase(key);
    // What was seen of it was another one.
    view_->seen.erase(key);
    drifted_.erase(key);
    has_to_look_ |= key.kind == "pod";
    tell_record(fleet(), key, record);
  }

  /// Has carried out what is due, and goes on with what is wanted by then while acts are under way.
  Status carry() {
    covered_.merge(wishes_->take_changed());
    if (covered_.empty())
      return {};
    Threads threads(*place_.interrupt, place_.mask.get());
    Wakeful ground(place_.ground == nullptr ? threads : *place_.ground, environment_, bell_);
    Workplace place = without_away(place_, fleet());
    place.ground = &ground;
    ToldEdit edit(
        *edit_, [this](const Key& key, const RecordPointer& record) { learn_record(key, record); });
    Due due = wishes_->due(covered_, *records_, {.is_all = is_all_due_, .drifted = &drifted_});
    Undertaking undertaking;
    undertaking.intent = std::move(due.intent);
    undertaking.known = std::move(due.known);
    undertaking.options.parallelism = wishes_->acts_at_once();
    undertaking.options.sequence = records_->sequence();
    undertaking.audience = options_.audience;
    undertaking.wants = [&](const Run& run) { return wanted_by_now(run, ground); };
    moved_ = instant_from_clock();
    awaited_.clear();
    undertaking.also_known = [this](const Run&, const Intent&) { return std::move(also_due_); };
    const Carried carried = TRY(carry_out(place, edit, std::move(undertaking)));
    if (!carried.summary) {
      // What was written at last may stand in the store or not.
      TRY(learn());
      return carried.summary.error();
    }
    const Summary& summary = *carried.summary;
    brought_.summary.done += summary.done;
    brought_.summary.kept = summary.kept;
    brought_.summary.blocked = summary.blocked;
    brought_.summary.failures = summary.failures;
    brought_.summary.skips = summary.skips;
    forget_failures_of_others();
    brought_.summary.stopped = summary.stopped && !brought_.summary.is_late;
    // What failed is recorded as that.
    is_all_due_ = is_all_due_ && summary.stopped;
    if (summary.good()) {
      retry_pause_ = Duration(0);
      covered_.clear();
    }
    return {};
  }

  /// Of workloads that nobody asked about.
  void forget_failures_of_others() {
    if (options_.only.empty())
      return;
    const auto is_of_others = [&](const auto& one) {
      const RecordPointer& record = records_->find(one.key);
      return record != nullptr && !record->wanted_by.empty() &&
             std::ranges::none_of(record->wanted_by, [&](const auto& wish) {
               return options_.only.contains(wish.first);
             });
    };
    Summary& summary = brought_.summary;
    std::erase_if(summary.failures, is_of_others);
    std::erase_if(summary.skips, is_of_others);
    if (summary.failures.empty() && summary.skips.empty())
      summary.blocked = 0;
  }

  /// Takes those names out of `podsToDelete` that no pod has any more (OpenKruise:
  /// `truncatePodsToDelete`).
  Status forget_names_of_gone() {
    const auto is_gone = [this](const Name& owner, const Name& name) {
      return std::ranges::none_of(fleet().owned(owner).pods,
                                  [&](const workloads::Pod* pod) { return pod->name == name; });
    };
    std::vector<Name> owners;
    for (const auto& [owner, workload] : fleet().workloads())
      if (std::ranges::any_of(workload->pods_to_delete,
                              [&](const Name& name) { return is_gone(owner, name); }))
        owners.push_back(owner);
    if (owners.empty())
      return {};
    const auto change = [&](const Object& before) -> Result<Object> {
      return workloads::without_pods_to_delete(
          before, [&](const Name& name) { return is_gone(before.owner(), name); });
    };
    const auto stored = change_objects(place_, environment_, owners, change);
    // Somebody may have deleted one in the meantime.
    return stored || stored.error().blame == Blame::user ? Status() : Status(stored.error());
  }

  /// What was said about pods and claims that are no more.
  Status forget_marks_of_gone() {
    std::set<Name> there;
    for (const auto& [key, record] : view_->known) {
      const NodeAddress address = node_address(key.name);
      if (key.kind == "pod")
        there.insert(cat("Pod/", address.space, "/", address.name));
      else if (key.kind == "claim")
        there.insert(workloads::claim_mark(address.space, address.name));
    }
    std::vector<Name> gone;
    for (const Name& owner : view_->owners)
      if (workloads::is_mark(owner) && !there.contains(owner) && fleet().object(owner) != nullptr)
        gone.push_back(owner);
    if (gone.empty())
      return {};
    const auto deleted = delete_objects(place_, environment_, gone);
    return deleted || deleted.error().blame == Blame::user ? Status() : Status(deleted.error());
  }

  Result<std::shared_ptr<const Intent>> wanted_by_now(const Run& run, Wakeful& ground) {
    TRY(learn_wishes());
    TRY(watch_nodes());
    TRY(look());
    if (!options_.keeps && is_stuck(run)) {
      brought_.summary.is_late = true;
      ground.stop();
      return nullptr;
    }
    if (!wishes_->ask(place_.clock()))
      return nullptr;
    end_unwanted_pulls(run, ground);
    covered_.merge(wishes_->take_changed());
    Due due = wishes_->due(covered_, *records_,
                           {.is_all = is_all_due_, .in_run = &run.known(), .drifted = &drifted_});
    also_due_ = std::move(due.known);
    return std::move(due.intent);
  }

  /// Pulls that nobody wants any more end at once, those of pods included.
  void end_unwanted_pulls(const Run& run, Ground& ground) {
    for (const Key& key : run.under_way()) {
      const RecordPointer& record = records_->find(key);
      if (record == nullptr || !record->attempt || record->attempt->verb == Verb::remove)
        continue;
      const Resource& attempt = *record->attempt->resource;
      if (key.kind == "image" ? fleet().pull(key.name) == nullptr
                              : key.kind == "pod" && pulls_in_vain(attempt))
        ground.end(key);
    }
  }

  /// Whether what a pod is changed to needs an image that is not on its node, and the pod is not
  /// to have that any more.
  bool pulls_in_vain(const Resource& attempt) {
    const workloads::Node* const node = fleet().node(node_address(attempt.key.name).node);
    const workloads::Pod* const pod = fleet().pod(attempt.key.name);
    std::set<Name> wanted;
    if (pod != nullptr && !pod->is_leaving)
      wanted = images_in(pod_spec(pod->resource->attributes));
    return std::ranges::any_of(images_in(pod_spec(attempt.attributes)), [&](const Name& image) {
      const bool is_there = node != nullptr && workloads::Fleet::has_image(*node, image);
      return !is_there && !wanted.contains(image);
    });
  }

  /// Whether what is still under way only waits to be called again, as for an init container, and
  /// nothing else has happened for as long as may be.
  bool is_stuck(const Run& run) {
    for (const Waiting& waiting : run.waiting())
      awaited_.insert(waiting.key);
    const Instant now = instant_from_clock();
    if (awaited_.empty())
      moved_ = now;
    return now - moved_ > options_.limit;
  }

  /// Pods that are not as they were left: a container is gone, or does not answer any more.
  void find_drift() {
    drifted_.clear();
    const Kind* const kind = place_.kinds->find("pod");
    for (const auto& [key, seen] : view_->seen)
      if (const RecordPointer& record = records_->find(key);
          record != nullptr && record->applied && record->by_hand == ByHand::nothing &&
          kind->compare(*record, seen, Presence::running).verb != Verb::keep)
        drifted_.insert(key);
  }
  std::set<Name> drifted_owners() const {
    std::set<Name> owners;
    for (const Key& key : drifted_)
      if (const RecordPointer& record = records_->find(key))
        for (const auto& [owner, wish] : record->wanted_by)
          owners.insert(owner);
    return owners;
  }

  void count() {
    progress_ = progress_of(*view_, place_.clock(), options_.only);
    brought_.pods = progress_.pods;
    brought_.ready = progress_.ready;
    brought_.unsettled = progress_.unsettled;
    brought_.held = progress_.held;
    brought_.is_refused = progress_.is_refused;
  }

  /// For people who wait.
  void tell_waiting() {
    // Nobody but users ends these: they are told at once, and where there is no terminal, too.
    if (!options_.keeps)
      for (const std::string& line : progress_.told)
        if (told_holds_.insert(line).second)
          place_.tell(cat("waiting for ", line));
    if (!place_.doing)
      return;
    std::string text;
    if (!brought_.unsettled.empty() && !options_.keeps) {
      const size_t others = brought_.unsettled.size() - 1;
      text = cat(brought_.ready, " of ", brought_.pods, " pods are ready, waiting for ",
                 brought_.unsettled[0], others > 0 ? cat(" and ", others, " more") : "");
    }
    if (text != std::exchange(told_, text))
      place_.doing(text);
  }

  bool is_over() const {
    if (edit_ == nullptr && !wishes_->is_brought_about(view_->known))
      return false;
    if (looked_ < acted_)
      return false;  // nobody has seen what came of it
    return (!progress_.is_any_awaited && has_seen_available()) ||
           !brought_.summary.failures.empty();
  }

  /// Others may wait for that; what was ready may have failed in the meantime.
  bool has_seen_available() const { return looked_time_ >= progress_.all_available; }

  /// When pods are to be looked at again at the latest: soon while one is awaited, else when a
  /// probe is to be asked.
  Instant next_look() const {
    return looked_ + (progress_.is_any_awaited ? look_pause
                      : options_.keeps         ? probe_pause()
                                               : idle_pause);
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
    Instant until = learned_ + bell_.store_pause();
    if (!looks_.began())
      until = std::min(until, has_to_look_ ? now : next_look());
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
  std::optional<FleetRecords> records_;
  std::set<Key> drifted_;  ///< pods that are not as they were left
  Known also_due_;         ///< of what became due during a run
  uint64_t version_ = 0;
  int64_t stamp_ = 0;             ///< of the store
  std::string heard_;             ///< the mark of the nodes that were heard of last
  bool has_to_tell_ = false;      ///< nobody was told yet that they were heard of
  std::vector<Name> lost_nodes_;  ///< whose records are to be forgotten
  std::set<Name> unasked_nodes_;  ///< new ones, of which nobody knows yet whether they answer
  Instant looked_, learned_, looked_at_nodes_, retry_at_;
  Time looked_time_, asked_time_;  ///< `looked_` on the other clock; of the look under way
  Instant acted_;                  ///< when the last run ended
  Instant moved_;                  ///< when something was written of what is under way
  std::set<Key> awaited_;          ///< what is called again, and nothing was written of since
  bool has_to_look_ = false;       ///< as soon as no look is under way
  bool is_all_due_ = true;         ///< whatever records say
  Duration retry_pause_{0};
  FleetProgress progress_;
  bool is_counted_ = false;  ///< pods, since the last look at them
  std::set<Name> covered_;   ///< owners whose wishes are to be carried out, or just are
  bool is_abandoned_ = false;
  bool is_due_ = true;  ///< at least once, since what is there may not be as it was left
  Instant changed_;
  std::string complaint_;             ///< that was told last
  std::string told_;                  ///< what people who look on are told that we wait for
  std::set<std::string> told_holds_;  ///< what they were told of pods that are held
  Brought brought_;
  Bell bell_;
  Aside<PodsSeen> looks_;
  Aside<std::map<Name, bool>> node_looks_;
};

}  // namespace

Result<bool> is_kept(const Workplace& place, const Name& environment) {
  const auto holder = TRY(place.store->holder(environment));
  return holder && holder->what.starts_with(controller_words);
}

Result<Brought> bring_workloads(const Workplace& place, const Name& environment,
                                const BringOptions& options) {
  if (!options.keeps && !TRY(place.store->environment(environment)))
    return Brought();  // nothing was ever stored
  if (!options.keeps && TRY(is_kept(place, environment))) {
    place.tell("a controller keeps the workloads; following its progress");
    Bringing following(place, environment, nullptr, options);
    Brought brought = TRY(following.bring());
    if (!following.is_abandoned())
      return brought;
    place.tell("the controller has ended; carrying on without it");
  }
  const std::unique_ptr<Edit> edit = TRY(begin_edit(place, environment, options.wait_for_others));
  TRY(ensure_environment(place, *edit, Value::dict({})));
  return Bringing(place, environment, edit.get(), options).bring();
}

}  // namespace fettle
