#pragma once
/// Files artifacts, and what is in them. Their contents are anybody's bytes.

#include <map>

#include "base/archive.h"
#include "documents/parts.h"
#include "verbs/environments/environments.h"

namespace fettle {

/// `name`, `uuid`, `digest`.
Value value_of(const ArtifactView& artifact);
/// A list of the same, of records by name.
Value document_of(const std::map<std::string, RecordPointer>& artifacts);
/// The same from the record of an artifact of that name; null for outputs that it does not have.
Value document_of(std::string_view name, const Record& artifact);

/// `path`, `size`, `directory`.
Value value_of(const ArchiveEntry& entry);
/// A file and its content: `text`, or `base64` when it is no UTF-8; the other one is null.
Value document_of(const ArchiveEntry& file, const std::string& content);
/// An artifact that was written to this machine: `name`, `path`.
Value download_document(std::string_view name, std::string_view path);

}  // namespace fettle
