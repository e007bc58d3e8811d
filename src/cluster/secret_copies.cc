#include "cluster/secret_copies.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "cluster/objects.h"
#include "cluster/types.h"

namespace fettle::cluster {
namespace {

using kubernetes::ObjectName;

/// OpenKruise's copies end with a dash and some letters, so none of them has this end.
constexpr std::string_view copy_end = ".fettle";
constexpr size_t longest_start = 200;  ///< of a name, of which a server takes 253 letters
/// All annotations of an object have 256 KiB at most.
constexpr size_t longest_references = 100'000;

/// OpenKruise's words: of which Secret it is a copy, for which jobs, and that there is one for all.
constexpr const char* source_key = "imagepulljobs.kruise.io/source-key";
constexpr const char* references_key = "imagepulljobs.kruise.io/references";
constexpr const char* mode_key = "imagepulljobs.kruise.io/mode";
constexpr const char* mode_word = "batch";

ObjectName name_in(const Value& object) {
  const ObjectMeta meta = meta_of(object);
  return {meta.space.str(), meta.name.str()};
}

/// Such as `shop/warm,shop/web-1-main`. Of many jobs, the first ones by name.
std::string names_of_jobs(std::span<const Value> jobs, const ObjectName& source) {
  std::set<std::string> names;
  for (const Value& job : jobs)
    if (const std::vector<ObjectName> named = secrets_of(job);
        std::ranges::find(named, source) != named.end())
      names.insert(to_string(name_in(job)));
  std::string text;
  for (const std::string& name : names) {
    if (text.size() + name.size() >= longest_references)
      break;
    text += cat(text.empty() ? "" : ",", name);
  }
  return text;
}

}  // namespace

std::vector<ObjectName> secrets_of(const Value& job) {
  std::vector<ObjectName> found;
  const Name space = meta_of(job).space;
  for (const Value& name : items_of(job.at("spec").at("pullSecrets")))
    if (name.is_text() && !name.text().empty())
      found.push_back({space.str(), name.text().str()});
  return found;
}

ObjectName copy_of(const ObjectName& source) {
  std::string start = source.name.substr(0, longest_start);
  while (!start.empty() && (start.back() == '.' || start.back() == '-'))
    start.pop_back();
  const std::string whole = to_string(Value(to_string(source)).digest());
  return {std::string(copy_space), cat(start, "-", whole.substr(0, 10), copy_end)};
}

bool is_own_copy(std::string_view name) { return name.ends_with(copy_end); }

Value copied_secret(const Value& source, std::span<const Value> jobs) {
  const ObjectName name = name_in(source), copy = copy_of(name);
  std::vector<Entry> entries{
      {"apiVersion", types::secrets.api_version()},
      {"kind", types::secrets.kind},
      {"metadata",
       Value::dict({{"name", copy.name},
                    {"namespace", copy.space},
                    {"labels", Value::dict({{"app.kubernetes.io/name", "fettle"}})},
                    {"annotations", Value::dict({{source_key, to_string(name)},
                                                 {references_key, names_of_jobs(jobs, name)},
                                                 {mode_key, mode_word}})}})}};
  for (const char* const key : {"type", "data"})
    if (const Value* const value = source.find(key); value != nullptr && !value->is_null())
      entries.push_back({key, *value});
  return Value::dict(std::move(entries));
}

Value reference_to_copy(const ObjectName& copy) {
  return Value::dict({{"namespace", copy.space}, {"name", copy.name}, {"mode", mode_word}});
}

std::set<std::string> needed_copies(std::span<const Value> jobs) {
  std::set<std::string> names;
  for (const Value& job : jobs)
    if (!meta_of(job).is_leaving)
      for (const ObjectName& source : secrets_of(job))
        names.insert(copy_of(source).name);
  return names;
}

std::set<std::string> copies_in(const Value& node_image) {
  std::set<std::string> names;
  const Value& images = node_image.at("spec").at("images");
  if (!images.is_dict())
    return names;
  for (const Entry& image : images.entries())
    for (const Value& each : items_of(image.value.at("pullSecrets")))
      if (each.text_at("namespace") == copy_space && is_own_copy(each.text_at("name")))
        names.emplace(each.text_at("name"));
  return names;
}

bool SecretCopies::alone(const std::string& copy, const std::stop_token& stop,
                         const std::function<void()>& work) {
  {
    std::unique_lock lock(mutex_);
    if (!ended_.wait(lock, stop, [&] { return !under_way_.contains(copy); }))
      return false;
    under_way_.insert(copy);
  }
  work();
  {
    const std::lock_guard lock(mutex_);
    under_way_.erase(copy);
  }
  ended_.notify_all();
  return true;
}

void SecretCopies::note(const ObjectName& source, Instant now, std::string why) {
  const std::lock_guard lock(mutex_);
  State& state = states_[source];
  state.was_made |= why.empty();
  state.tried = now;
  state.why = std::move(why);
}

std::optional<std::string> SecretCopies::recent(const ObjectName& source, Instant now) const {
  const std::lock_guard lock(mutex_);
  const auto found = states_.find(source);
  return found != states_.end() && now - found->second.tried < fresh
             ? std::optional(found->second.why)
             : std::nullopt;
}

void SecretCopies::forget(std::string_view copy) {
  const std::lock_guard lock(mutex_);
  std::erase_if(states_, [&](const auto& each) { return copy_of(each.first).name == copy; });
}

void SecretCopies::forget_failed_but(const std::set<std::string>& needed) {
  const std::lock_guard lock(mutex_);
  std::erase_if(states_, [&](const auto& each) {
    return !each.second.was_made && !needed.contains(copy_of(each.first).name);
  });
}

bool SecretCopies::is_empty() const {
  const std::lock_guard lock(mutex_);
  return states_.empty();
}

std::set<std::string> SecretCopies::names() const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> found;
  for (const auto& [source, state] : states_)
    if (state.was_made)
      found.insert(copy_of(source).name);
  return found;
}

std::string SecretCopies::complaint(const Value& job) const {
  std::vector<std::string> words;
  const std::lock_guard lock(mutex_);
  for (const ObjectName& source : secrets_of(job))
    if (const auto found = states_.find(source);
        found != states_.end() && !found->second.why.empty())
      words.push_back(cat("pulled without Secret `", to_string(source), "`: ", found->second.why));
  return join(words, "; ");
}

}  // namespace fettle::cluster
