#include "documents/containers.h"

#include "base/base64.h"
#include "base/text.h"

namespace fettle {

Value output_document(int64_t code, const std::string& output, const std::string& errors) {
  const bool is_text = is_valid_utf8(output) && is_valid_utf8(errors);
  const auto encoded = [&](const std::string& bytes) {
    return is_text ? bytes : base64_encode(bytes);
  };
  return Value::dict({{"code", code},
                      {"encoding", is_text ? "text" : "base64"},
                      {"stdout", encoded(output)},
                      {"stderr", encoded(errors)}});
}

Value log_line(std::vector<Entry> about, OutputStream stream, std::string_view time,
               std::string_view text) {
  about.push_back({"stream", stream == OutputStream::out ? "stdout" : "stderr"});
  about.push_back({"time", time});
  about.push_back({"text", text});
  return Value::dict(std::move(about));
}

Value log_document(std::vector<Value> lines) {
  return Value::dict({{"lines", Value::list(std::move(lines))}});
}

Value copy_document(std::string_view from, std::string_view to) {
  return Value::dict({{"from", from}, {"to", to}});
}

}  // namespace fettle
