#include "packages/draft.h"

#include <algorithm>

#include "base/invariant.h"
#include "base/text.h"
#include "core/open_payload.h"
#include "kinds/artifact.h"
#include "kinds/engine_needs.h"
#include "kinds/image.h"
#include "kinds/image_reference.h"
#include "kinds/kinds.h"
#include "kinds/service.h"

namespace fettle {
namespace {

/// The ports of a service that is only known, as the script sees them.
Value ports_of(const Record& record) {
  return read_one<&Service::ports>(record.applied->attributes).value();
}

}  // namespace

Draft::Draft(DraftOptions options, const Known& known)
    : options_(std::move(options)), known_(known) {
  intent_.environment = options_.environment;
  intent_.sets[options_.owner] = options_.leftover;
  resources_ = &intent_.resources[options_.owner];
  for (const auto& [key, record] : known_) {
    if (!record->applied)
      continue;
    if (key.kind == "service") {
      const bool gone = options_.gone.contains(key);
      if (service_name(key) == key.name.view())
        services_[key.name.str()] = {key, ports_of(*record), {}, false, gone, gone};
      for (const char* field : {"hostname", "ip_address"})
        references.to(key, field);
    } else if (key.kind == "artifact") {
      note_artifact(key, *record);
    }
  }
}

void Draft::note_artifact(const Key& key, const Record& record) {
  const auto [place, is_new] = artifacts_.try_emplace(std::string(artifact_name(key)));
  ArtifactState& artifact = place->second;
  const int author = artifact_author(key);
  artifact.author = is_new ? author : std::max(artifact.author, author);
  const bool is_foreign = std::ranges::any_of(record.wanted_by, [&](const auto& wish) {
    return wish.second != Digest{} && wish.first.view() != options_.owner;
  });
  if (is_foreign)
    artifact.foreign = std::max(artifact.foreign, author);
}

void Draft::begin(Name name, std::string text, std::string origin, std::string place,
                  Value arguments) {
  current_ = {{std::move(name), Name(text), Name(origin), {}, {}}, std::move(place), {}, {}};
  detail("arguments", std::move(arguments));
}

Value Draft::with_artifact_name(const Value& arguments) const {
  const auto artifact = current_.detail.find(Name("artifact"));
  if (artifact == current_.detail.end())
    return arguments;
  std::vector<Entry> entries(arguments.entries().begin(), arguments.entries().end());
  entries.push_back({"name", artifact->second});
  return Value::dict(std::move(entries));
}

void Draft::finish(std::string description) {
  detail("description", std::move(description));
  std::vector<Entry> entries;
  for (auto& [key, value] : current_.detail)
    entries.push_back({key, std::move(value)});
  current_.statement.detail = Value::dict(std::move(entries));
  statements_.push_back(std::move(current_.statement));
  if (!current_.resources.empty()) {
    tail_.clear();
    for (const size_t i : current_.resources)
      tail_.push_back((*resources_)[i].key);
  }
  abandon();
}

void Draft::abandon() { current_ = {}; }

Key Draft::key(std::string_view kind, std::string_view name) const {
  return {options_.environment, kind, name};
}

Resource& Draft::add(std::string_view kind, std::string name, Attributes attributes, bool ahead) {
  Resource resource;
  resource.key = key(kind, name);
  resource.attributes = std::move(attributes);
  resource.driver = "engine";
  resource.origin = current_.statement.origin;
  resource.redo = options_.redo;
  if (!ahead)
    add_order(resource);
  current_.statement.keys.push_back(resource.key);
  const auto [place, added] = index_.emplace(resource.key, resources_->size());
  if (!added)
    return (*resources_)[place->second];
  warn_of_references(resource);
  if (!ahead)
    current_.resources.push_back(resources_->size());
  if (kind == "service" || kind == "artifact")
    leave_in_past(resource);
  if (kind != "service" && resource.attributes.has_deferred())
    note_users_of(resource, "service");
  if (resource.attributes.has_deferred())
    note_users_of(resource, "artifact");
  resources_->push_back(std::move(resource));
  return resources_->back();
}

/// A result of another instruction that became no hole is sent and written as its placeholder,
/// which nobody means. Kurtosis does so, too, and packages run in spite of it.
void Draft::warn_of_references(const Resource& resource) {
  const auto found = references.placeholder_in(dict_of(resource.attributes));
  if (found)
    warning(cat(current_.statement.origin, ": `", printable(found->where), "` of `",
                current_.statement.name, "` has `", printable(found->shown),
                "`, a result of another instruction, which is not replaced there"));
}

void Draft::note_users_of(const Resource& user, std::string_view kind) {
  for (const Output& hole : holes(user.attributes))
    if (hole.kind == kind)
      note_user(key(kind, hole.name), user.key);
}

void Draft::note_user(const Key& used, const Key& user) {
  if (index_.contains(used))
    return;
  std::vector<Key>& users = users_of_before_[used];
  if (users.empty() || users.back() != user)
    users.push_back(user);
}

/// A service or an artifact of an earlier run is wanted from here on. What used it before this
/// place uses it as it was before this run, and comes first.
void Draft::leave_in_past(Resource& used) {
  const Record* before = find_record(used.key);
  if (before == nullptr)
    return;
  const auto as_it_was = [&](const Attributes& attributes) {
    return fill_holes(dict_of(attributes), [&](const Output& hole) -> const Value* {
      return hole.kind == used.key.kind && hole.name == used.key.name
                 ? follow(dict_of(before->outputs), hole.path)
                 : nullptr;
    });
  };
  used.attributes = as_it_was(used.attributes);
  const auto users = users_of_before_.find(used.key);
  if (users == users_of_before_.end())
    return;
  for (const Key& key : users->second) {
    Resource& user = *find_resource(key);
    for (Need& need : user.needs)
      if (need.bond == Bond::inside && need.keys.front() == used.key)
        need.bond = Bond::past;
    user.attributes = as_it_was(user.attributes);
  }
  used.needs.push_back({std::move(users->second), false,
                        options_.keeps_going ? When::finished : When::succeeded, Unmet::fail,
                        Bond::order});
  users_of_before_.erase(users);
}

Resource& Draft::add_once(std::string_view kind, const std::string& name, Attributes attributes) {
  const auto found = index_.find(key(kind, name));
  if (found != index_.end())
    return (*resources_)[found->second];
  Resource& resource = add(kind, name, std::move(attributes), true);
  // What is shared belongs to no single instruction.
  current_.statement.keys.pop_back();
  return resource;
}

void Draft::also(const Key& key) { current_.statement.keys.push_back(key); }

void Draft::add_order(Resource& resource) {
  const When when = options_.keeps_going ? When::finished : When::succeeded;
  if (!is_by_needs()) {
    if (!tail_.empty())
      resource.needs.push_back({tail_, false, when, Unmet::fail, Bond::order});
    return;
  }
  if (barrier_)
    resource.needs.push_back({{*barrier_}, false, when, Unmet::fail, Bond::order});
  add_order_of_references(resource);
}

/// An instruction that names a service's address uses the service after all that was done in it
/// before.
void Draft::add_order_of_references(Resource& resource) {
  for (const Output& hole : holes(resource.attributes)) {
    if (hole.kind != "service")
      continue;
    if (const ServiceState* service = find_service(hole.name);
        service != nullptr && !service->ready.empty())
      resource.needs.push_back({service->ready, false, When::succeeded, Unmet::fail, Bond::order});
  }
}

std::string Draft::action_name(std::string_view subject) {
  const std::string what = cat(options_.owner, "\n", subject, "\n", current_.statement.text);
  const int count = ++counts_[what];
  const std::string digest = to_string(fingerprint(what)).substr(0, 12);
  return cat(subject, subject.empty() ? "" : "#", digest, count == 1 ? "" : cat(".", count));
}

std::string Draft::unnamed_artifact() {
  const std::string what = cat(options_.owner, "\n", current_.place, "\n", current_.statement.text);
  const int count = ++counts_["artifact\n" + what];
  return cat("unnamed-", to_string(fingerprint(cat(what, "\n", count))).substr(0, 12));
}

ServiceState* Draft::find_service(std::string_view name) {
  const auto found = services_.find(name);
  return found == services_.end() || found->second.removed ? nullptr : &found->second;
}

std::vector<std::string> Draft::service_names() const {
  std::vector<std::string> names;
  for (const auto& [name, state] : services_)
    if (!state.removed)
      names.push_back(name);
  return names;
}

std::vector<std::string> Draft::services_so_far() {
  std::vector<std::string> names;
  for (const auto& [name, state] : services_) {
    if (state.removed || (!state.wanted && options_.additions.contains(name)))
      continue;
    has_to_repeat_ |= !state.wanted && options_.additions.empty();
    names.push_back(name);
  }
  return names;
}

ServiceState* Draft::need_service(std::string_view name) {
  ServiceState* found = find_service(name);
  if (const std::vector<Key> results = references.keys_in(name); !results.empty()) {
    finding(cat("the name of a service must be known before the run; this one is known when `",
                results[0].kind, "` has run"));
  } else if (found == nullptr) {
    const auto there = services_.find(name);
    finding(there != services_.end()
                ? cat("the service `", name, "` was already removed")
                : cat("there is no service `", name, "`", suggestion(name, service_names())));
  }
  return found;
}

ServiceState* Draft::need_removable(std::string_view name) {
  const auto found = services_.find(name);
  return found != services_.end() && found->second.gone ? &found->second : need_service(name);
}

bool Draft::is_made_anew(std::string_view name, const ServiceState& service) const {
  return !service.wanted && options_.additions.contains(name);
}

Addition Draft::addition(const std::string& name) {
  const auto before = services_.find(name);
  const bool was_removed =
      before != services_.end() && before->second.removed && !before->second.gone;
  has_to_repeat_ |= was_removed && options_.additions.empty();
  const auto all = options_.additions.find(name);
  const int count = ++additions_[name];
  const bool last = all == options_.additions.end() || count >= all->second;
  Addition made{key("service", last ? name : cat(name, "~", count)), false, {}};
  made.anew = was_removed && is_made_anew(name, before->second);
  if (was_removed && !made.anew)
    made.after = before->second.ready;
  return made;
}

void Draft::put_service(const std::string& name, ServiceState state) {
  for (const char* field : {"hostname", "ip_address"})
    references.to(state.key, field);
  state.origin = current_.statement.origin;
  services_[name] = std::move(state);
}

Resource& Draft::make_artifact(const std::string& name, const Artifact& wanted, Author author,
                               bool ahead) {
  ArtifactState& artifact = artifacts_[name];
  if (artifact.origin.empty()) {
    artifact.origin = current_.statement.origin;
    // What others made of it last is what this script's first author takes over.
    artifact.author = std::max(1, artifact.foreign);
  } else {
    ++artifact.author;
    if (author == Author::maker)
      finding(cat("the files artifact `", name, "` is created twice, first at ", artifact.origin));
  }
  Resource& made = add("artifact", name_of_author(name, artifact.author), write(wanted), ahead);
  // What a later author made is part of the artifact, and goes when its author does.
  if (artifact.author > std::max(1, artifact.foreign))
    made.leftover = Leftover::forget;
  return made;
}

std::string Draft::need_artifact(std::string_view name) {
  const auto found = artifacts_.find(name);
  if (found != artifacts_.end())
    return name_of_author(name, found->second.author);
  std::vector<std::string> names;
  for (const auto& [known, state] : artifacts_)
    names.push_back(known);
  finding(cat("there is no files artifact `", name, "`", suggestion(name, names)));
  return std::string(name);
}

Resource* Draft::find_resource(const Key& key) {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &(*resources_)[found->second];
}

const Record* Draft::find_record(const Key& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : found->second.get();
}

void Draft::inside(Resource& resource, const ServiceState& service) {
  note_user(service.key, resource.key);
  resource.needs.insert(resource.needs.begin(),
                        {{service.key}, false, When::succeeded, Unmet::fail, Bond::inside});
  if (is_by_needs() && !service.ready.empty())
    resource.needs.push_back({service.ready, false, When::succeeded, Unmet::fail, Bond::order});
}

void Draft::holds_up(const ServiceState& service, const Resource& resource) {
  const auto found = services_.find(service_name(service.key));
  if (found != services_.end())
    found->second.ready = {resource.key};
  if (resource.key.kind == "wait" && is_by_needs())
    barrier_ = resource.key;
}

Value Draft::image(const std::string& reference, const Value& login) {
  if (Status fine = check_image_reference(reference); !fine)
    finding(fine.error().message);
  else if (const std::string build = name_of_build(reference); find_resource(key("build", build)))
    return built_image_hole(build);
  const bool always = options_.pull == ImagePull::always;
  Resource& image =
      add_once("image", reference,
               Value::dict({{"reference", reference}, {"pull", always ? "always" : "missing"}}));
  if (!login.is_null()) {
    Image wanted = read<Image>(image.attributes);
    std::vector<Value> logins(wanted.credentials.items().begin(), wanted.credentials.items().end());
    if (std::ranges::find(logins, login) == logins.end())
      logins.push_back(login);
    wanted.credentials = Value::list(std::move(logins));
    image.attributes = write(wanted);
  }
  image.pool = "pull";
  image.redo = always ? Redo::always : Redo::as_needed;
  return image_id_hole(reference);
}

Value Draft::built_image(const ImageBuild& build) {
  const std::string name = name_of_build(build.image.view());
  const Result<Attributes> attributes = build_kind().normalise(write(build));
  if (!attributes) {
    finding(attributes.error().message);
    return built_image_hole(name);
  }
  Resource& resource = add_once("build", name, *attributes);
  if (resource.attributes != *attributes)
    finding(cat("the image `", name, "` is built in another way at ", resource.origin,
                "; give one of them another `image_name`"));
  // Builds of one file begin with the same steps. If they ran at the same time, Podman's builder
  // would make these twice, and take those of the other build for its own in the next one: the image
  // would be another one although nothing of it changed.
  resource.pool = cat("build ", build.file.view(), " ", build.context.view());
  intent_.pools[resource.pool] = 1;
  return built_image_hole(name);
}

void Draft::network(Resource& resource) {
  resource.needs.push_back(network_need(options_.environment));
}

void Draft::finding(std::string message) {
  told_.findings.push_back(user_error(std::move(message), where_in(current_.statement.origin)));
}

void Draft::warning(std::string message) {
  if (std::ranges::find(told_.warnings, message) == told_.warnings.end())
    told_.warnings.push_back(std::move(message));
}

void Draft::detail(std::string_view key, Value value) {
  current_.detail[Name(key)] = std::move(value);
}

}  // namespace fettle
