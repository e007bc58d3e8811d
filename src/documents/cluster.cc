#include "documents/cluster.h"

namespace fettle {

Value value_of(const InstallationLine& line) {
  return Value::dict({{"kind", line.kind},
                      {"namespace", text_or_null(line.space)},
                      {"name", line.name},
                      {"status", line.status},
                      {"why", text_or_null(line.why)}});
}

Value document_of(const InstallationReport& report) {
  return Value::dict({{"objects", list_of(report.objects)},
                      {"warnings", list_of(report.warnings)},
                      {"problems", list_of(report.problems)}});
}

}  // namespace fettle
