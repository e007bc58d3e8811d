#include "verbs/cluster/upstream_words.h"

#include <algorithm>

#include "base/text.h"
#include "value/with.h"
#include "verbs/cluster/cluster_objects.h"
#include "workloads/rollout.h"

namespace fettle {
namespace {

using kubernetes::ApiReason;
using workloads::edited;
using workloads::edited_within;

constexpr std::string_view question = "fettle/question";
constexpr std::string_view always_written = "revisionHistoryLimit";

Value with_question(const Value& pod_template) {
  return edited_within(
      pod_template,
      {{"metadata",
        edited_within(pod_template.at("metadata"),
                      {{"annotations", edited(pod_template.at("metadata").at("annotations"),
                                              {{Name(question), "?"}})}})}});
}

/// Go writes no annotations that are empty.
Value without_question(const Value& pod_template) {
  const Value left =
      edited(pod_template.at("metadata").at("annotations"), {{Name(question), Value()}});
  std::vector<Entry> metadata;
  for (const Entry& entry : pod_template.at("metadata").entries())
    if (entry.key != "annotations")
      metadata.push_back(entry);
  if (!left.entries().empty())
    metadata.push_back({"annotations", left});
  return with(pod_template, "metadata", Value::dict(std::move(metadata)));
}

Value question_of(const Value& object, const Value& parts) {
  std::vector<Value> steps;
  for (const Entry& part : parts.entries())
    steps.push_back(
        Value::dict({{"op", "add"},
                     {"path", cat("/spec/", part.key)},
                     {"value", part.key == "template" ? with_question(part.value) : part.value}}));
  if (object.at("spec").find(always_written) != nullptr)
    steps.push_back(Value::dict({{"op", "remove"}, {"path", cat("/spec/", always_written)}}));
  return Value::list(std::move(steps));
}

/// A webhook that does not answer yet, and a server that is busy.
bool may_answer_later(const kubernetes::ApiError& error) {
  return error.may_retry() || error.reason == ApiReason::internal ||
         error.reason == ApiReason::conflict;
}

}  // namespace

UpstreamWords::UpstreamWords(kubernetes::Client& client, const ClusterPatience& patience,
                             std::stop_token stop)
    : client_(client), patience_(patience), stop_(std::move(stop)) {
  patience_.limit = std::min<Duration>(patience_.limit, 30s);
}

Result<std::optional<Value>> UpstreamWords::ask(const kubernetes::ResourceType& type,
                                                const Value& object, const Value& parts) {
  refusal_.clear();
  const Value steps = question_of(object, parts);
  for (Duration waited{0}; !is_silent_; waited += patience_.interval) {
    const auto answer =
        client_.patch(type, name_of(object), kubernetes::PatchType::json, steps,
                      {.field_manager = std::string(installation_name), .is_dry_run = true}, stop_);
    if (answer && answer->at("spec").find(always_written) != nullptr) {
      const Value& spec = answer->at("spec");
      if (!spec.at("template").is_dict())
        return std::optional(*answer);
      return std::optional(
          with(*answer, "spec", with(spec, "template", without_question(spec.at("template")))));
    }
    if (!answer && answer.error().reason == ApiReason::not_found)
      return std::nullopt;
    if (!answer && !may_answer_later(answer.error())) {
      if (is_cancelled(answer.error()))
        return static_cast<const Error&>(answer.error());
      refusal_ = answer.error().message;
      return std::nullopt;
    }
    if (waited >= patience_.limit)
      is_silent_ = true;
    else
      TRY(patience_.pause(patience_.interval, stop_));
  }
  return std::nullopt;
}

}  // namespace fettle
