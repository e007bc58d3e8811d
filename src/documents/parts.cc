#include "documents/parts.h"

namespace fettle {

Value status_document(std::string_view name, std::string_view status) {
  return Value::dict({{"name", name}, {"status", status}});
}

Value folder_document(const std::string& folder, const std::string& name) {
  std::vector<Entry> entries{{"folder", folder}};
  if (!name.empty())
    entries.push_back({"name", name});
  return Value::dict(std::move(entries));
}

Value note_document(std::string_view note) { return Value::dict({{"note", note}}); }

}  // namespace fettle
