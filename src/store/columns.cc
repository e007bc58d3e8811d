#include "store/columns.h"

#include "base/text.h"
#include "value/codec.h"

namespace fettle {

std::string bytes_of(const Value& value, const Database& database) {
  Writer writer(database.sealing());
  writer.value(value);
  return writer.take();
}

Result<Value> value_of(std::string_view bytes, const Database& database, SealedParts* parts) {
  Reader reader(bytes, database.seal(), parts);
  Value value = reader.value();
  if (reader.broken() || !reader.at_end())
    return Error(Blame::bug, cat("a value of the store `", database.name(), "` is damaged"));
  return value;
}

}  // namespace fettle
