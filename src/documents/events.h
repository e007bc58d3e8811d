#pragma once
/// What happened, and why. An event appears in three places: as it happens, as it is stored, and
/// within a reason, where its key is known.

#include "core/event.h"
#include "documents/parts.h"
#include "verbs/environments/explain.h"
#include "verbs/fleet/workload_why.h"

namespace fettle {

/// A stored one, as `events` lists it. `key` and `verb` are null when it is about the whole run.
Value value_of(const Event& event);
/// A line of `jsonl`, as it happens: `event`, `key`, `verb`, `text`, `time`.
Value line_of(const Event& event);
/// An event of a key that is known: `event`, `verb`, `time`, `text`.
Value brief_of(const Event& event);
/// `because` for people, `causes` for programs: the chain of reasons of a key.
Value document_of(const Name& environment, const Key& key, const std::vector<Cause>& causes);
/// The same for a workload, which is described by how far it is.
Value document_of(const Name& environment, const WorkloadWhy& why);
/// `key`, `verb`, `why`.
Value value_of(const Drift& drift);

}  // namespace fettle
