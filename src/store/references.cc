#include "store/references.h"
#include "core/open_payload.h"

#include <algorithm>
#include <unordered_set>

namespace fettle {
namespace {

/// Walks with a list of its own, since values may be deep, and looks at shared parts once.
class Walk {
 public:
  void add(const Value& value) {
    open_.push_back(&value);
    while (!open_.empty()) {
      const Value& next = *open_.back();
      open_.pop_back();
      look_at(next);
    }
  }

  std::vector<std::string> finish() {
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return std::move(found_);
  }

 private:
  void look_at(const Value& value) {
    if (value.is_text()) {
      if (const Name text = value.text(); is_digest(text))
        found_.push_back(text.str());
    } else if (value.is_secret()) {
      open_.push_back(&value.inside());
    } else if (value.is_list() && is_new(value)) {
      for (const Value& item : value.items())
        open_.push_back(&item);
    } else if (value.is_dict() && is_new(value)) {
      for (const Entry& entry : value.entries()) {
        if (is_digest(entry.key))
          found_.push_back(entry.key.str());
        open_.push_back(&entry.value);
      }
    }
  }

  /// Only a nested value can share much.
  bool is_new(const Value& value) {
    return value.depth() < 2 || seen_.insert(value.digest().low).second;
  }

  std::vector<const Value*> open_;
  std::unordered_set<uint64_t> seen_;
  std::vector<std::string> found_;
};

}  // namespace

bool is_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::vector<std::string> digests_in(const Value& value) {
  Walk walk;
  walk.add(value);
  return walk.finish();
}

std::vector<std::string> digests_in(const Record& record) {
  Walk walk;
  if (record.applied)
    walk.add(dict_of(record.applied->attributes));
  if (record.attempt)
    walk.add(dict_of(record.attempt->resource->attributes));
  walk.add(dict_of(record.outputs));
  return walk.finish();
}

}  // namespace fettle
