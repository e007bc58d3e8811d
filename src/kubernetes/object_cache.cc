#include "kubernetes/object_cache.h"

#include <algorithm>

namespace fettle::kubernetes {
namespace {

/// An answer that is on its way for longer than it takes this many objects to end is unlikely.
constexpr size_t most_ended = 10'000;

std::string_view uid_in(const Value& object) { return object.at("metadata").text_at("uid"); }

std::string_view version_in(const Value& object) {
  return object.at("metadata").text_at("resourceVersion");
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace

bool is_older(std::string_view version, std::string_view other) {
  return is_number(version) && is_number(other) &&
         (version.size() != other.size() ? version.size() < other.size() : version < other);
}

/// The objects of one type.
class ObjectCache::Shelf : public ObjectListener {
 public:
  Shelf(ObjectCache& cache, std::string kind) : cache_(cache), kind_(std::move(kind)) {}

  void put(const ObjectName& name, const Value& object) override {
    {
      const std::lock_guard lock(cache_.mutex_);
      Item& item = objects[kept_name_of(object)];
      if (is_older(version_in(object), item.answered))
        return;
      item.answered = {};
      item.object = part(object);
      cache_.open_.insert({kind_, name});
    }
    cache_.tell();
  }

  void gone(const ObjectName& name, const std::string& uid) override {
    {
      const std::lock_guard lock(cache_.mutex_);
      cache_.note_end(uid);
      const auto found = objects.find(name);
      // An answer may have told of the next one of this name.
      if (found == objects.end() || uid_in(found->second.object) != uid)
        return;
      objects.erase(found);
      cache_.open_.insert({kind_, name});
    }
    cache_.tell();
  }

  /// What only an answer has told of, and a later list does not have, was made and removed while no
  /// watch was there: nobody will tell of its end.
  void listed(std::string_view version) override {
    bool is_any_gone = false;
    {
      const std::lock_guard lock(cache_.mutex_);
      for (auto each = objects.begin(); each != objects.end();) {
        const auto one = each++;
        const Item& item = one->second;
        if (!is_number(version) || !is_number(item.answered) || is_older(version, item.answered))
          continue;
        cache_.note_end(std::string(uid_in(item.object)));
        cache_.open_.insert({kind_, object_name(one->first)});
        objects.erase(one);
        is_any_gone = true;
      }
    }
    if (is_any_gone)
      cache_.tell();
  }

  void synced() override {
    {
      const std::lock_guard lock(cache_.mutex_);
      is_synced = true;
    }
    cache_.synced_.notify_all();
  }

  void heard(Instant now) override {
    const std::lock_guard lock(cache_.mutex_);
    last_heard = now;
  }

  Value part(const Value& object) const { return part_ ? part_(object) : object; }
  void keep_part(std::function<Value(const Value&)> part) { part_ = std::move(part); }

  std::map<KeptName, Item, KeptNameLess> objects;
  bool is_synced = false;
  std::optional<Instant> last_heard;

 private:
  ObjectCache& cache_;
  const std::string kind_;
  std::function<Value(const Value&)> part_;
};

ObjectCache::ObjectCache(const std::vector<ResourceType>& types) {
  for (const ResourceType& type : types)
    shelves_.emplace(type.kind, std::make_unique<Shelf>(*this, type.kind));
}

ObjectCache::~ObjectCache() = default;

void ObjectCache::listen(std::function<void()> changed) {
  const std::lock_guard lock(telling_);
  changed_ = std::move(changed);
}

void ObjectCache::tell() {
  const std::lock_guard lock(telling_);
  if (changed_)
    changed_();
}

void ObjectCache::leave_out(std::string_view kind) {
  const std::lock_guard lock(mutex_);
  if (const auto shelf = shelves_.find(kind); shelf != shelves_.end())
    shelves_.erase(shelf);
}

bool ObjectCache::follows(std::string_view kind) const {
  const std::lock_guard lock(mutex_);
  return shelves_.contains(kind);
}

void ObjectCache::keep_part(std::string_view kind, std::function<Value(const Value&)> part) {
  const std::lock_guard lock(mutex_);
  if (const auto shelf = shelves_.find(kind); shelf != shelves_.end())
    shelf->second->keep_part(std::move(part));
}

ObjectListener& ObjectCache::listener(std::string_view kind) {
  return *shelves_.find(kind)->second;
}

void ObjectCache::take_answer(std::string_view kind, const Value& object) {
  const KeptName name = kept_name_of(object);
  {
    const std::lock_guard lock(mutex_);
    if (ended_.contains(std::string(uid_in(object))))
      return;
    Shelf& shelf = *shelves_.find(kind)->second;
    Item& item = shelf.objects[name];
    // A watch may have been faster, or another thread with a later answer.
    if (!item.object.is_null() && !is_older(version_in(item.object), version_in(object)))
      return;
    item.object = shelf.part(object);
    item.answered = version_in(object);
    open_.insert({std::string(kind), object_name(name)});
  }
  tell();
}

Value ObjectCache::find(std::string_view kind, const ObjectName& name) const {
  const std::lock_guard lock(mutex_);
  const auto shelf = shelves_.find(kind);
  if (shelf == shelves_.end())
    return {};
  const auto& objects = shelf->second->objects;
  const auto found = objects.find(name);
  return found == objects.end() ? Value() : found->second.object;
}

std::vector<Value> ObjectCache::all(std::string_view kind) const {
  const std::lock_guard lock(mutex_);
  std::vector<Value> found;
  if (const auto shelf = shelves_.find(kind); shelf != shelves_.end())
    for (const auto& [name, item] : shelf->second->objects)
      found.push_back(item.object);
  return found;
}

std::set<ObjectKey> ObjectCache::take_changed() {
  const std::lock_guard lock(mutex_);
  return std::exchange(open_, {});
}

Status ObjectCache::await_sync(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const bool is_there = synced_.wait(lock, stop, [&] {
    return std::ranges::all_of(shelves_, [](const auto& each) { return each.second->is_synced; });
  });
  return is_there ? Status() : Status(cancelled_error());
}

std::vector<std::string> ObjectCache::unsynced() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> kinds;
  for (const auto& [kind, shelf] : shelves_)
    if (!shelf->is_synced)
      kinds.push_back(kind);
  return kinds;
}

std::map<std::string, std::optional<Instant>> ObjectCache::heard() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::optional<Instant>> moments;
  for (const auto& [kind, shelf] : shelves_)
    moments[kind] = shelf->last_heard;
  return moments;
}

void ObjectCache::note_end(std::string uid) {
  if (!ended_.insert(uid).second)
    return;
  ended_in_order_.push_back(std::move(uid));
  if (ended_in_order_.size() <= most_ended)
    return;
  ended_.erase(ended_in_order_.front());
  ended_in_order_.pop_front();
}

}  // namespace fettle::kubernetes
