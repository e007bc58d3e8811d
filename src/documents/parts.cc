#include "documents/parts.h"

namespace fettle {

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value names_value(const std::vector<Name>& names) {
  return Value::list(std::vector<Value>(names.begin(), names.end()));
}

Value texts_value(const std::vector<std::string>& texts) {
  return Value::list({texts.begin(), texts.end()});
}

Value keys_value(const std::vector<Key>& keys) {
  std::vector<Value> texts;
  for (const Key& key : keys)
    texts.emplace_back(to_string(key));
  return Value::list(std::move(texts));
}

}  // namespace fettle
