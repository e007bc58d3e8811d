#include "documents/files.h"

#include "base/base64.h"
#include "base/text.h"
#include "kinds/artifact.h"

namespace fettle {

Value value_of(const ArtifactView& artifact) {
  return Value::dict(
      {{"name", artifact.name}, {"uuid", artifact.uuid}, {"digest", artifact.digest}});
}

Value document_of(std::string_view name, const Record& artifact) {
  return Value::dict({{"name", name},
                      {"uuid", read_one<&ArtifactOutputs::uuid>(artifact.outputs)},
                      {"digest", read_one<&ArtifactOutputs::digest>(artifact.outputs)}});
}

Value document_of(const std::map<std::string, RecordPointer>& artifacts) {
  std::vector<Value> values;
  for (const auto& [name, record] : artifacts)
    values.push_back(document_of(name, *record));
  return Value::list(std::move(values));
}

Value value_of(const ArchiveEntry& entry) {
  return Value::dict({{"path", entry.path},
                      {"size", entry.size},
                      {"directory", entry.type == ArchiveEntry::Type::directory}});
}

Value document_of(const ArchiveEntry& file, const std::string& content) {
  const bool is_text = is_valid_utf8(content);
  return Value::dict({{"path", file.path},
                      {"size", file.size},
                      {"directory", false},
                      {"text", is_text ? Value(content) : Value()},
                      {"base64", is_text ? Value() : Value(base64_encode(content))}});
}

Value download_document(std::string_view name, std::string_view path) {
  return Value::dict({{"name", name}, {"path", path}});
}

}  // namespace fettle
