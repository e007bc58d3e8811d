#pragma once
/// Versions of models, what is pushed, and the settings of their environments. A set without a name
/// holds what is shared; it is null in documents.

#include "documents/parts.h"
#include "verbs/models/export_model.h"
#include "workplace/settings.h"

namespace fettle {

/// `version`, `created`, `released` (null: never), `partial`.
Value value_of(const VersionHead& head);
/// `version`, `resources`, `unknowns`.
Value document_of(const WholeVersion& whole);
/// `id`, `change`, `set`, `set_before`, `fields`: `before` and `after` are there when the field is,
/// which may be null.
Value value_of(const ItemDifference& difference);
/// What an export or a push has stored, or would store: `version`, `stored`, `released`,
/// `kept_sets`, `sets`.
Value document_of(const PushResult& pushed, bool is_dry);
/// An export that was not due: `due`.
Value no_export_document();
/// A version that was released and not carried out: `released`.
Value release_document(uint64_t number);
Value value_of(const Finding& finding);
/// `name`, `resources`: how many it has.
Value value_of(const SetHead& set);

/// The value of a setting: numbers and booleans as such, all else as text.
Value setting_value(const std::string& text);
/// `settings`: all, by name.
Value document_of(const std::vector<Setting>& settings);
/// A setting that was changed: `name`, `value`.
Value setting_document(const std::string& name, const std::string& text);

}  // namespace fettle
