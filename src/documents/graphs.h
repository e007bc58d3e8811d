#pragma once
/// Environments as pictures: the graph of resources, and runs over time.

#include "documents/parts.h"
#include "verbs/environments/resource_graph.h"
#include "verbs/environments/run_history.h"
#include "verbs/fleet/rollout_history.h"
#include "verbs/fleet/workload_views.h"

namespace fettle {

/// `resources`, `left_out`, `nodes`: `id`, `kind`, `label`, `state`, `origin`, `members`, `group`
/// (it is one), `rank`, `row`; `edges`: `from` and `to` by number, `bond`.
Value document_of(const ResourceGraph& graph);
/// `events`, `next`: the number before which an older page ends, `newest`.
Value document_of(const EventPage& page);
/// `run` (the number of its first event), `began`, `ended` (null: it has not), `what`, `outcome`,
/// `counts` by outcome (null).
Value value_of(const RunPast& run);
/// The same with `under_way`, and all `acts`: `key`, `verb`, `began`, `ended`, `outcome`, `text`.
Value run_document(const RunPast& run, bool is_under_way);
/// `runs`, the newest first, and `next`: the number before which older ones are.
Value runs_document(const std::vector<RunPast>& runs, uint64_t next);
/// A resource as `show` tells it, `record`, and its `why`.
Value resource_document(Value record, Value why);
/// The resources that were begun and have not settled: `key`, `origin`, `state`, `verb`, `error`
/// (null: none), `calls`, `spent` and `pause` in seconds (null: it is not called again).
Value attempts_document(const Known& known, bool is_at_work);
/// `objects` and `pods` as Kubernetes writes them, which may be told as they are, and `images`.
Value fleet_document(std::vector<Value> objects, std::vector<Value> pods,
                     const std::vector<ImageView>& images);

/// `from`, `to`, `under_way`, `next` (null: there is no earlier one); `pods`: `key`, `namespace`,
/// `name`; `pulls`: `key`, `image`, `bytes` (null: it is not there); both with `node`, `was_there`,
/// `gone` (null: it is there) and `acts`: `verb`, `began`, `ended` (null: under way), `outcome`,
/// `why`, `error`.
Value document_of(const RolloutPast& past, const std::vector<ImageView>& images);

/// A page that is served: the `address` where it opens, once.
Value page_document(std::string_view address);

}  // namespace fettle
