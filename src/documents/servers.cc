#include "documents/servers.h"

namespace fettle {

Value server_document(const std::string& address, const std::string& token) {
  return Value::dict({{"address", address}, {"token", text_or_null(token)}});
}

Value document_of(const Contexts& contexts) {
  std::vector<Value> all;
  for (const Context& one : contexts.all)
    all.push_back(
        Value::dict({{"name", one.name}, {"url", one.url}, {"used", one.name == contexts.used}}));
  return Value::list(std::move(all));
}

Value value_of(const RunView& run) {
  return Value::dict({{"run", run.number},
                      {"command", run.command},
                      {"began", run.began},
                      {"status", status_of(run)},
                      {"code", run.code ? Value(*run.code) : Value()}});
}

}  // namespace fettle
