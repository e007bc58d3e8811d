#include "tests/kubernetes/api_server.h"

#include <charconv>

#include "base/rfc3339.h"
#include "base/text.h"
#include "tests/kubernetes/patches.h"
#include "value/json.h"
#include "value/with.h"

namespace fettle::kubernetes {
namespace {

const Value empty = Value::dict(std::vector<Entry>());

std::string decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    int byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ec == std::errc()) {
      result += static_cast<char>(byte);
      i += 2;
    } else {
      result += text[i] == '+' ? ' ' : text[i];
    }
  }
  return result;
}

std::map<std::string, std::string> query_of(std::string_view target) {
  std::map<std::string, std::string> query;
  const size_t mark = target.find('?');
  if (mark == target.npos)
    return query;
  for (const std::string_view pair : split(target.substr(mark + 1), '&'))
    query[decoded(pair.substr(0, pair.find('=')))] =
        pair.find('=') == pair.npos ? "" : decoded(pair.substr(pair.find('=') + 1));
  return query;
}

int64_t number_of(std::string_view text, int64_t otherwise) {
  int64_t number = otherwise;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? number : otherwise;
}

std::string text_in(const Value& object, std::string_view key) {
  return std::string(object.at("metadata").text_at(key));
}

Value with_meta(const Value& object, std::string_view key, Value value) {
  return with_path(object, {"metadata", key}, std::move(value));
}

Value named(const TypeRules& rules, const std::string& name) {
  return Value::dict({{"name", name}, {"group", rules.type.group}, {"kind", rules.type.plural}});
}

std::string resource_of(const TypeRules& rules) {
  return rules.type.group.empty() ? rules.type.plural
                                  : cat(rules.type.plural, ".", rules.type.group);
}

ApiAnswer not_found(const TypeRules& rules, const std::string& name) {
  return refusal(404, "NotFound", cat(resource_of(rules), " \"", name, "\" not found"),
                 named(rules, name));
}

ApiAnswer conflict(const TypeRules& rules, const std::string& name, std::string_view why) {
  return refusal(
      409, "Conflict",
      cat("Operation cannot be fulfilled on ", resource_of(rules), " \"", name, "\": ", why),
      named(rules, name));
}

ApiAnswer invalid(const TypeRules& rules, const std::string& name,
                  const std::vector<Cause>& causes) {
  std::vector<Value> rows;
  std::string message = cat(rules.type.kind, " \"", name, "\" is invalid:");
  for (const Cause& cause : causes) {
    message += cat(" ", cause.field, ": ", cause.message);
    rows.push_back(Value::dict(
        {{"reason", "FieldValueInvalid"}, {"field", cause.field}, {"message", cause.message}}));
  }
  return refusal(422, "Invalid", message,
                 with(with(named(rules, name), "causes", Value::list(std::move(rows))), "kind",
                      rules.type.kind));
}

/// Without what may change in the spec of a pod.
Value fixed_of_pod(const Value& spec) {
  Value fixed = without(without(spec, "activeDeadlineSeconds"), "tolerations");
  for (const char* list : {"containers", "initContainers"}) {
    std::vector<Value> items;
    for (const Value& item : items_of(spec.at(list)))
      items.push_back(without(item, "image"));
    if (spec.find(list) != nullptr)
      fixed = with(fixed, list, Value::list(std::move(items)));
  }
  return fixed;
}

bool is_leaving(const Value& object) { return !text_in(object, "deletionTimestamp").empty(); }

Value without_owned(const Value& object) {
  return with(without(without(object, "status"), "metadata"), "metadata", empty);
}

std::string line_of(std::string_view type, const Value& object) {
  return write_json(Value::dict({{"type", type}, {"object", object}}), {.show_secrets = true}) +
         "\n";
}

Value version_list(const Value& meta, const TypeRules& rules, std::vector<Value> items) {
  return Value::dict({{"apiVersion", rules.type.api_version()},
                      {"kind", rules.list_kind},
                      {"metadata", meta},
                      {"items", Value::list(std::move(items))}});
}

}  // namespace

ApiAnswer refusal(int code, std::string_view reason, std::string_view message, Value details) {
  return {.status = code,
          .body = Value::dict({{"kind", "Status"},
                               {"apiVersion", "v1"},
                               {"metadata", empty},
                               {"status", "Failure"},
                               {"message", message},
                               {"reason", reason},
                               {"details", std::move(details)},
                               {"code", code}})};
}

ApiServer::ApiServer() {
  for (const char* name : {"default", "kube-system"})
    put({"", "namespaces", "", name}, {},
        *read_json(cat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", name,
                       R"(","uid":"0-)", name, R"("},"spec":{"finalizers":["kubernetes"]},)",
                       R"("status":{"phase":"Active"}})")));
}

void ApiServer::fail(int times, std::function<bool(const ApiRequest&)> applies, ApiAnswer answer) {
  faults_.push_back({times, std::move(applies), std::move(answer)});
}

void ApiServer::compact() {
  for (auto& [id, watch] : watches_)
    for (const LogRow& row : log_)
      if (row.version > watch.version && !watch.is_over)
        tell(watch, row);
  for (auto& [id, watch] : watches_)
    watch.version = version_;
  oldest_ = version_;
  log_.clear();
}

void ApiServer::cut_watches(bool in_line) {
  for (auto& [id, watch] : watches_) {
    watch.is_over = true;
    if (in_line)
      watch.lines += R"({"type":"MODIFIED","object":{"met)";
  }
}

ApiAnswer ApiServer::handle(const ApiRequest& request, Time now) {
  ++requests_;
  for (Fault& fault : faults_)
    if (fault.times > 0 && fault.applies(request)) {
      --fault.times;
      return fault.answer;
    }
  if (const auto refused = refuse(request))
    return *refused;
  return route(request, now);
}

std::optional<ApiAnswer> ApiServer::refuse(const ApiRequest& request) {
  if (tokens_.empty() || request.target.starts_with("/readyz"))
    return {};
  const auto known = tokens_.find(request.token);
  if (known == tokens_.end() && !request.token.empty())
    return refusal(401, "Unauthorized", "Unauthorized");
  if (known == tokens_.end() || !known->second)
    return refusal(403, "Forbidden", cat("forbidden: ", request.method, " ", request.target));
  return {};
}

ApiAnswer ApiServer::route(const ApiRequest& request, Time now) {
  Call call{.request = &request, .now = now, .query = query_of(request.target)};
  std::vector<std::string> steps;
  for (const std::string_view step :
       split(std::string_view(request.target).substr(0, request.target.find('?')), '/'))
    if (!step.empty())
      steps.push_back(decoded(step));
  if (steps.empty())
    return refusal(404, "NotFound", "the server could not find the requested resource");
  if (steps[0] == "readyz" || steps[0] == "version")
    return {.body = Value::dict({{"major", "1"}, {"minor", "36"}})};
  const size_t first = steps[0] == "api" ? 2 : 3;
  if (steps.size() <= first)
    return discover(steps, request.accept.find("apidiscovery") != std::string::npos);
  call.key.group = first == 3 ? steps[1] : "";
  const std::string version = steps[first - 1];
  size_t at = first;
  if (steps[at] == "namespaces" && steps.size() > at + 2 && steps[at + 2] != "status" &&
      steps[at + 2] != "finalize") {
    call.key.space = steps[at + 1];
    at += 2;
  }
  const auto rules = std::ranges::find_if(types_, [&](const TypeRules& each) {
    return each.type.group == call.key.group && each.type.version == version &&
           each.type.plural == steps[at];
  });
  if (rules == types_.end())
    return refusal(404, "NotFound", "the server could not find the requested resource");
  call.rules = *rules;
  call.key.plural = steps[at];
  call.key.name = steps.size() > at + 1 ? steps[at + 1] : "";
  call.subresource = steps.size() > at + 2 ? steps[at + 2] : "";
  if (!request.body.empty()) {
    Result<Value> body = read_json(request.body);
    if (!body || (!body->is_dict() && !body->is_list()))
      return refusal(400, "BadRequest", "the object provided is unrecognized");
    call.body = *body;
  }
  return dispatch(call);
}

ApiAnswer ApiServer::dispatch(Call& call) {
  const std::string& method = call.request->method;
  if (method == "GET" && call.key.name.empty())
    return call.query["watch"] == "true" || call.query["watch"] == "1" ? begin_watch(call)
                                                                       : read_list(call);
  if (method == "POST")
    return call.subresource.empty() ? create(call) : create_under(call);
  if (method == "PATCH" && call.request->content_type.starts_with("application/apply-patch"))
    return apply(call);
  if (method == "DELETE")
    return remove(call);
  if (method == "PUT" || method == "PATCH")
    return write(call);
  if (method != "GET")
    return refusal(405, "MethodNotAllowed", "the server does not allow this method");
  const auto found = objects_.find(call.key);
  if (found == objects_.end())
    return not_found(call.rules, call.key.name);
  if (call.subresource == "scale" && !call.rules.scale.is_null())
    return write_scale(call, found->second);
  if (!call.subresource.empty() && call.subresource != "status")
    return refusal(404, "NotFound", "the server could not find the requested resource");
  return answer_of(call, 200, found->second.object);
}

ApiAnswer ApiServer::answer_of(const Call& call, int status, Value object) const {
  return {.status = status,
          .body = with(with(object, "apiVersion", call.rules.type.api_version()), "kind",
                       call.rules.type.kind)};
}

Value ApiServer::list_metadata() const { return Value::dict({{"resourceVersion", cat(version_)}}); }

int64_t ApiServer::read_version(const std::string& wanted) const {
  if (wanted.empty() || lag_ == 0)
    return version_;
  return std::max(number_of(wanted, 0), std::max(oldest_, version_ - static_cast<int64_t>(lag_)));
}

std::map<ApiServer::Key, Value> ApiServer::objects_at(int64_t version) const {
  std::map<Key, Value> objects;
  for (const auto& [key, stored] : objects_)
    objects.emplace(key, stored.object);
  for (auto row = log_.rbegin(); row != log_.rend() && row->version > version; ++row) {
    objects.erase(row->key);
    if (!row->before.is_null())
      objects.emplace(row->key, row->before);
  }
  return objects;
}

ApiAnswer ApiServer::read_list(const Call& call) {
  auto query = call.query;
  int64_t version = read_version(query["resourceVersion"]);
  std::string after;
  if (const std::string& rest = query["continue"]; !rest.empty()) {
    version = number_of(rest.substr(0, rest.find(':')), -1);
    after = rest.substr(std::min(rest.find(':'), rest.size() - 1) + 1);
    if (version < oldest_)
      return refusal(410, "Expired", "The provided continue parameter is too old");
  }
  if (query["resourceVersionMatch"] == "Exact") {
    version = number_of(query["resourceVersion"], -1);
    if (version < oldest_)
      return refusal(410, "Expired", cat("The resourceVersion for the provided list is too old"));
  }
  const auto limit = static_cast<size_t>(number_of(query["limit"], 0));
  std::vector<Value> items;
  std::string last, rest;
  for (const auto& [key, object] : objects_at(version)) {
    if (key.group != call.key.group || key.plural != call.key.plural ||
        (!call.key.space.empty() && key.space != call.key.space))
      continue;
    const std::string place = key.space + "/" + key.name;
    const Result<bool> labels = selects_labels(query["labelSelector"], object);
    const Result<bool> fields = selects_fields(query["fieldSelector"], object, call.rules);
    if (!labels || !fields)
      return refusal(400, "BadRequest", labels ? fields.error().message : labels.error().message);
    if (place <= after || !*labels || !*fields)
      continue;
    if (limit > 0 && items.size() == limit) {
      rest = cat(version, ":", last);
      break;
    }
    items.push_back(object);
    last = place;
  }
  Value meta = with(list_metadata(), "resourceVersion", cat(version));
  if (!rest.empty())
    meta = with(meta, "continue", rest);
  return {.body = version_list(meta, call.rules, std::move(items))};
}

bool ApiServer::is_of(const Watch& watch, const Value& object) const {
  return !object.is_null() && *selects_labels(watch.labels, object) &&
         *selects_fields(watch.fields, object, watch.rules);
}

ApiAnswer ApiServer::begin_watch(const Call& call) {
  auto query = call.query;
  Watch watch{.rules = call.rules,
              .space = call.key.space,
              .labels = query["labelSelector"],
              .fields = query["fieldSelector"],
              .version = version_,
              .lines = {},
              .bookmark_at = call.now + bookmark_interval,
              .ends_at = call.now + number_of(query["timeoutSeconds"], 1'800) * Duration(1s)};
  const Result<bool> labels = selects_labels(watch.labels, empty);
  const Result<bool> fields = selects_fields(watch.fields, empty, call.rules);
  if (!labels || !fields)
    return refusal(400, "BadRequest", labels ? fields.error().message : labels.error().message);
  const bool streams = query["sendInitialEvents"] == "true";
  if (streams && !has_watch_lists)
    return refusal(500, "InternalError", "RequestWatchProgress is disabled");
  if (streams && query["resourceVersionMatch"] != "NotOlderThan")
    return refusal(422, "Invalid",
                   "resourceVersionMatch is required when sendInitialEvents is set");
  const std::string from = query["resourceVersion"];
  if (streams || from.empty() || from == "0") {
    for (const auto& [key, stored] : objects_)
      if (key.group == call.key.group && key.plural == call.key.plural &&
          (watch.space.empty() || key.space == watch.space) && is_of(watch, stored.object))
        watch.lines += line_of("ADDED", stored.object);
    if (streams)
      watch.lines += line_of(
          "BOOKMARK",
          *read_json(cat(R"({"kind":")", call.rules.type.kind, R"(","apiVersion":")",
                         call.rules.type.api_version(), R"(","metadata":{"resourceVersion":")",
                         version_, R"(","annotations":{"k8s.io/initial-events-end":"true"}}})")));
  } else {
    watch.version = number_of(from, -1);
    if (watch.version < oldest_) {
      watch.lines = line_of(
          "ERROR",
          refusal(410, "Expired", cat("too old resource version: ", from, " (", oldest_, ")"))
              .body);
      watch.is_over = true;
    }
  }
  const uint64_t id = ++last_watch_;
  watches_.emplace(id, std::move(watch));
  return {.watch = id};
}

void ApiServer::tell(Watch& watch, const LogRow& row) const {
  if (row.key.group != watch.rules.type.group || row.key.plural != watch.rules.type.plural ||
      (!watch.space.empty() && row.key.space != watch.space))
    return;
  const bool was = is_of(watch, row.before), is = is_of(watch, row.after);
  if (is)
    watch.lines += line_of(was ? "MODIFIED" : "ADDED", row.after);
  else if (was)
    watch.lines += line_of("DELETED", with_meta(row.before, "resourceVersion", cat(row.version)));
}

void ApiServer::catch_up(Watch& watch, Time now) {
  for (auto row = std::ranges::upper_bound(log_, watch.version, {}, &LogRow::version);
       row != log_.end(); ++row) {
    tell(watch, *row);
    watch.version = row->version;
  }
  // Whoever asked from a version of the future, of a store that was put back, hears nothing.
  if (now >= watch.bookmark_at && version_ >= watch.version) {
    watch.lines += line_of(
        "BOOKMARK", *read_json(cat(R"({"kind":")", watch.rules.type.kind, R"(","apiVersion":")",
                                   watch.rules.type.api_version(),
                                   R"(","metadata":{"resourceVersion":")", version_, R"("}})")));
    watch.bookmark_at = now + bookmark_interval;
  }
  watch.is_over = watch.is_over || now >= watch.ends_at;
}

bool ApiServer::take_lines(uint64_t id, std::string& lines, Time now) {
  const auto found = watches_.find(id);
  if (found == watches_.end())
    return false;
  Watch& watch = found->second;
  if (!watch.is_over)
    catch_up(watch, now);
  lines = std::exchange(watch.lines, {});
  if (!watch.is_over)
    return true;
  watches_.erase(found);
  return false;
}

void ApiServer::log(const Key& key, Value before, Value after) {
  log_.push_back({version_, key, std::move(before), std::move(after)});
  if (key.plural == "customresourcedefinitions")
    define(log_.back().after.is_null() ? log_.back().before : log_.back().after,
           log_.back().after.is_null());
}

void ApiServer::put(const Key& key, Stored stored, Value object) {
  stored.version = ++version_;
  object = with_meta(object, "resourceVersion", cat(version_));
  const auto found = objects_.find(key);
  Value before = found == objects_.end() ? Value() : found->second.object;
  stored.object = object;
  objects_[key] = std::move(stored);
  log(key, std::move(before), std::move(object));
}

void ApiServer::erase(const Key& key) {
  ++version_;
  Value before = objects_.at(key).object;
  objects_.erase(key);
  log(key, std::move(before), {});
}

void ApiServer::define(const Value& definition, bool is_gone) {
  const std::string_view group = definition.at("spec").text_at("group");
  const std::string_view plural = at_path(definition, {"spec", "names"}).text_at("plural");
  std::erase_if(types_, [&](const TypeRules& each) {
    return each.is_custom && each.type.group == group && each.type.plural == plural;
  });
  if (!is_gone)
    for (TypeRules& made : types_of_definition(definition))
      types_.push_back(std::move(made));
}

Value ApiServer::mutated(const Call& call, const Value& before, Value object) const {
  for (const Webhook& each : webhooks_) {
    const auto found = objects_.find(
        {"admissionregistration.k8s.io", "mutatingwebhookconfigurations", "", each.configuration});
    if (each.kind == call.rules.type.kind && call.subresource.empty() && found != objects_.end() &&
        !items_of(found->second.object.at("webhooks")).empty())
      object = each.mutate(before, object);
  }
  return object;
}

ApiAnswer ApiServer::store_new(const Call& call, Value object, const FieldOwners* applied) {
  object = mutated(call, {}, object);
  std::vector<Cause> causes;
  object = pruned(object, call.rules, rules_, causes);
  if (!causes.empty())
    return invalid(call.rules, call.key.name, causes);
  if (call.rules.type.is_namespaced && !objects_.contains({"", "namespaces", "", call.key.space}))
    return refusal(404, "NotFound", cat("namespaces \"", call.key.space, "\" not found"));
  if (objects_.contains(call.key))
    return refusal(409, "AlreadyExists",
                   cat(resource_of(call.rules), " \"", call.key.name, "\" already exists"),
                   named(call.rules, call.key.name));
  if (call.rules.has_status)
    object = without(object, "status");
  Stored stored;
  if (applied != nullptr)
    stored.owners = *applied;
  else
    stored.owners.update({call.query.contains("fieldManager") ? call.query.at("fieldManager")
                                                              : call.request->user_agent,
                          "Update", ""},
                         empty, object, call.now);
  object = with_meta(object, "name", call.key.name);
  if (call.rules.type.is_namespaced)
    object = with_meta(object, "namespace", call.key.space);
  object = with_meta(object, "uid", cat("uid-", version_ + 1));
  object = with_meta(object, "creationTimestamp", write_moment(call.now));
  object = with_meta(object, "managedFields", stored.owners.written(call.rules.type.api_version()));
  if (call.rules.has_generation)
    object = with_meta(object, "generation", 1);
  if (call.key.plural == "pods")
    object =
        with(object, "status", Value::dict({{"phase", "Pending"}, {"qosClass", "BestEffort"}}));
  if (call.key.plural == "namespaces")
    object = with(object, "status", Value::dict({{"phase", "Active"}}));
  if (call.key.plural == "customresourcedefinitions")
    object = with(object, "status", *read_json(R"({"conditions":[
      {"type":"Established","status":"True"},{"type":"NamesAccepted","status":"True"}]})"));
  if (call.query.contains("dryRun"))
    return answer_of(call, 201, object);
  put(call.key, std::move(stored), object);
  return answer_of(call, 201, objects_.at(call.key).object);
}

ApiAnswer ApiServer::create(Call& call) {
  if (!call.body.is_dict() || call.body.text_at("kind") != call.rules.type.kind ||
      call.body.text_at("apiVersion") != call.rules.type.api_version())
    return refusal(400, "BadRequest", "the object provided is unrecognized");
  if (call.key.plural == "selfsubjectaccessreviews")
    return review_rights(call);
  call.key.name = text_in(call.body, "name");
  if (const std::string prefix = text_in(call.body, "generateName");
      call.key.name.empty() && !prefix.empty()) {
    const std::string digits = cat(10'000 + ++last_name_);
    call.key.name = prefix + digits.substr(digits.size() - 5);
  }
  if (call.key.name.empty())
    return invalid(call.rules, "",
                   {{"metadata.name", "Required value: name or generateName is required"}});
  if (const std::string space = text_in(call.body, "namespace");
      !space.empty() && space != call.key.space)
    return refusal(
        400, "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request");
  return store_new(call, call.body, nullptr);
}

/// An answer and no object.
ApiAnswer ApiServer::review_rights(const Call& call) const {
  const Value& asked = at_path(call.body, {"spec", "resourceAttributes"});
  const bool is_denied =
      denied_.contains(cat(asked.text_at("verb"), " ", asked.text_at("resource")));
  return answer_of(call, 201, with(call.body, "status", Value::dict({{"allowed", !is_denied}})));
}

ApiAnswer ApiServer::create_under(Call& call) {
  const auto found = objects_.find(call.key);
  if (found == objects_.end())
    return not_found(call.rules, call.key.name);
  const bool is_pod = call.key.plural == "pods";
  if (is_pod && call.subresource == "binding") {
    const Value& pod = found->second.object;
    if (!pod.at("spec").text_at("nodeName").empty())
      return conflict(call.rules, call.key.name, "pod is already assigned to a node");
    put(call.key, found->second,
        with_path(pod, {"spec", "nodeName"}, call.body.at("target").at("name")));
  } else if (is_pod && call.subresource == "eviction") {
    call.body = empty;
    const ApiAnswer removed = remove(call);
    if (removed.status >= 300)
      return removed;
  } else {
    return refusal(404, "NotFound", "the server could not find the requested resource");
  }
  return {.status = 201,
          .body = Value::dict({{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Success"}})};
}

tl::expected<Value, ApiAnswer> ApiServer::changed(const Call& call, const Value& live) {
  if (call.request->method == "PUT")
    return call.body;
  const std::string_view type = call.request->content_type;
  if (type.starts_with("application/json-patch")) {
    Result<Value> made = json_patch(live, call.body);
    if (!made)
      return tl::unexpected(
          refusal(422, "Invalid",
                  cat("the server rejected our request due to an error in our request: ",
                      made.error().message)));
    return *made;
  }
  if (type.starts_with("application/merge-patch"))
    return merge_patch(live, call.body);
  if (type.starts_with("application/strategic-merge-patch") && !call.rules.is_custom)
    return strategic_patch(live, call.body);
  return tl::unexpected(refusal(415, "UnsupportedMediaType",
                                cat("the body of the request was in an unknown format: ", type)));
}

ApiAnswer ApiServer::write(Call& call) {
  const auto found = objects_.find(call.key);
  if (found == objects_.end())
    return not_found(call.rules, call.key.name);
  if (call.subresource == "scale" && !call.rules.scale.is_null())
    return write_scale(call, found->second);
  if (!call.subresource.empty() && (call.subresource != "status" || !call.rules.has_status))
    return refusal(404, "NotFound", "the server could not find the requested resource");
  const Value live = answer_of(call, 200, found->second.object).body;
  auto made = changed(call, live);
  if (!made)
    return made.error();
  return settle(call, *made, nullptr);
}

ApiAnswer ApiServer::settle(const Call& call, Value object, const FieldOwners* applied) {
  const Stored before = objects_.at(call.key);
  const Value& live = before.object;
  for (const char* key : {"resourceVersion", "uid"})
    if (const std::string wanted = text_in(object, key);
        !wanted.empty() && wanted != text_in(live, key))
      return conflict(
          call.rules, call.key.name,
          "the object has been modified; please apply your changes to the latest version "
          "and try again");
  if (call.subresource == "status") {
    // Of a pod the status may bring labels and annotations with it, of others only itself.
    Value next = with(live, "status", object.at("status"));
    if (!call.rules.is_custom)
      for (const char* key : {"labels", "annotations"})
        if (const Value* const value = object.at("metadata").find(key))
          next = with_meta(next, key, *value);
    object = next;
  } else if (call.rules.has_status) {
    object = live.find("status") == nullptr ? without(object, "status")
                                            : with(object, "status", live.at("status"));
  }
  object = mutated(call, live, object);
  std::vector<Cause> causes;
  object = pruned(object, call.rules, rules_, causes);
  if (call.key.plural == "controllerrevisions" && object.at("data") != live.at("data"))
    causes.push_back({"data", "field is immutable"});
  if (call.key.plural == "pods" && call.subresource.empty() &&
      fixed_of_pod(object.at("spec")) != fixed_of_pod(live.at("spec")))
    causes.push_back({"spec", "Forbidden: pod updates may not change fields other than the image"});
  if (!causes.empty())
    return invalid(call.rules, call.key.name, causes);
  for (const char* key : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                          "deletionGracePeriodSeconds", "generation", "resourceVersion"})
    object = live.at("metadata").find(key) == nullptr
                 ? with(object, "metadata", without(object.at("metadata"), key))
                 : with_meta(object, key, live.at("metadata").at(key));
  object = without(without(object, "apiVersion"), "kind");
  const Value stripped = without(without(live, "apiVersion"), "kind");
  Stored after = before;
  if (applied != nullptr)
    after.owners = *applied;
  else
    after.owners.update({call.query.contains("fieldManager") ? call.query.at("fieldManager")
                                                             : call.request->user_agent,
                         "Update", call.subresource},
                        live, object, call.now);
  if (call.rules.has_generation && without_owned(object) != without_owned(stripped))
    object = with_meta(object, "generation", live.at("metadata").integer_at("generation") + 1);
  object = with_meta(object, "managedFields", after.owners.written(call.rules.type.api_version()));
  const auto bare = [](const Value& one) {
    return with(one, "metadata", without(one.at("metadata"), "managedFields"));
  };
  const auto fields_of = [](const Value& one) {
    std::vector<Value> rows;
    for (const Value& row : items_of(one.at("metadata").at("managedFields")))
      rows.push_back(without(row, "time"));
    return Value::list(std::move(rows));
  };
  if (bare(object) == bare(stripped) &&
      (applied == nullptr || fields_of(object) == fields_of(stripped)))
    return answer_of(call, 200, live);
  if (call.query.contains("dryRun"))
    return answer_of(call, 200, object);
  put(call.key, std::move(after), object);
  const Value stored = objects_.at(call.key).object;
  if (is_leaving(stored) && items_of(stored.at("metadata").at("finalizers")).empty() &&
      stored.at("metadata").integer_at("deletionGracePeriodSeconds") == 0)
    erase(call.key);
  return answer_of(call, 200, stored);
}

ApiAnswer ApiServer::apply(Call& call) {
  if (call.query["fieldManager"].empty())
    return refusal(
        422, "Invalid",
        "PatchOptions is invalid: fieldManager: Required value: is required for apply patch");
  const FieldOwners::Owner owner{call.query["fieldManager"], "Apply", call.subresource};
  const auto found = objects_.find(call.key);
  const bool is_new = found == objects_.end();
  if (is_new && !call.subresource.empty())
    return not_found(call.rules, call.key.name);
  const Value live = is_new ? empty : found->second.object;
  FieldOwners owners = is_new ? FieldOwners() : found->second.owners;
  const bool is_forced = call.query["force"] == "true";
  const auto conflicts = owners.conflicts(owner, live, call.body);
  if (!conflicts.empty() && !is_forced) {
    std::vector<Value> causes;
    std::string said =
        cat("Apply failed with ", conflicts.size(), " conflict", conflicts.size() == 1 ? "" : "s");
    for (const FieldOwners::Conflict& each : conflicts) {
      const std::string message = cat("conflict with \"", each.manager, "\"");
      const std::string field = shown_field(each.field);
      said += cat(causes.empty() ? ": " : ", ", message, ": ", field);
      causes.push_back(Value::dict(
          {{"reason", "FieldManagerConflict"}, {"field", field}, {"message", message}}));
    }
    return refusal(409, "Conflict", said,
                   Value::dict({{"causes", Value::list(std::move(causes))}}));
  }
  Value made = owners.apply(owner, live, call.body, is_forced, call.now);
  if (is_new)
    return store_new(call, made, &owners);
  return settle(call, made, &owners);
}

ApiAnswer ApiServer::write_scale(Call& call, const Stored& stored) {
  const auto steps = [&](std::string_view key) {
    return std::string(call.rules.scale.text_at(key)).substr(1);
  };
  const auto scale_of = [&](const Value& object) {
    const auto number = [&](std::string_view key) {
      const Value* const found = follow(object, steps(key));
      return found == nullptr || !found->is_integer() ? int64_t{0} : found->integer().value_or(0);
    };
    return Value::dict(
        {{"kind", "Scale"},
         {"apiVersion", "autoscaling/v1"},
         {"metadata", Value::dict({{"name", call.key.name},
                                   {"namespace", call.key.space},
                                   {"uid", text_in(object, "uid")},
                                   {"resourceVersion", text_in(object, "resourceVersion")}})},
         {"spec", Value::dict({{"replicas", number("specReplicasPath")}})},
         {"status", Value::dict({{"replicas", number("statusReplicasPath")}})}});
  };
  const Value live = scale_of(stored.object);
  if (call.request->method == "GET")
    return {.body = live};
  const auto made = changed(call, live);
  if (!made)
    return made.error();
  if (const std::string version = text_in(*made, "resourceVersion");
      !version.empty() && version != text_in(live, "resourceVersion"))
    return conflict(call.rules, call.key.name, "the object has been modified");
  Call whole = call;
  whole.subresource.clear();
  const std::string path = steps("specReplicasPath");
  Value object = stored.object;
  const size_t point = path.find('.');
  object = with_path(object, {path.substr(0, point), path.substr(point + 1)},
                     made->at("spec").at("replicas"));
  const ApiAnswer answer = settle(whole, object, nullptr);
  return answer.status == 200 ? ApiAnswer{.body = scale_of(objects_.at(call.key).object)} : answer;
}

ApiAnswer ApiServer::remove(Call& call) {
  const auto found = objects_.find(call.key);
  if (found == objects_.end())
    return not_found(call.rules, call.key.name);
  const Value live = found->second.object;
  for (const char* key : {"uid", "resourceVersion"})
    if (const std::string wanted(call.body.at("preconditions").text_at(key));
        !wanted.empty() && wanted != text_in(live, key))
      return conflict(call.rules, call.key.name,
                      cat("Precondition failed: ", key, " in precondition: ", wanted));
  if (call.query.contains("dryRun") || call.body.find("dryRun") != nullptr)
    return answer_of(call, 200, live);
  const bool is_on_node = call.key.plural == "pods" && !live.at("spec").text_at("nodeName").empty();
  const int64_t grace = call.body.integer_at(
      "gracePeriodSeconds",
      is_on_node ? live.at("spec").integer_at("terminationGracePeriodSeconds", 30) : 0);
  std::vector<Value> finalizers;
  for (const Value& each : items_of(live.at("metadata").at("finalizers")))
    finalizers.push_back(each);
  if (call.body.text_at("propagationPolicy") == "Foreground")
    finalizers.push_back("foregroundDeletion");
  if (call.body.text_at("propagationPolicy") == "Orphan")
    finalizers.push_back("orphan");
  const bool waits = is_on_node && grace > 0;
  if (finalizers.empty() && !waits) {
    erase(call.key);
    return answer_of(call, 200, live);
  }
  if (is_leaving(live) && (waits || !finalizers.empty()) &&
      live.at("metadata").integer_at("deletionGracePeriodSeconds") <= grace)
    return answer_of(call, 200, live);
  Value leaving =
      with_meta(live, "deletionTimestamp", write_moment(call.now + grace * Duration(1s)));
  leaving = with_meta(leaving, "deletionGracePeriodSeconds", waits ? grace : 0);
  if (!finalizers.empty())
    leaving = with_meta(leaving, "finalizers", Value::list(std::move(finalizers)));
  if (call.rules.has_generation)
    leaving = with_meta(leaving, "generation", live.at("metadata").integer_at("generation") + 1);
  put(call.key, found->second, leaving);
  return answer_of(call, 200, objects_.at(call.key).object);
}

}  // namespace fettle::kubernetes
