#pragma once
/// The tables of a store, for what is done to all of them.

#include <span>
#include <string_view>

namespace fettle {

struct StoreTable {
  const char* name;
  /// In their order: `t:` a text, `b:` bytes, `n:` a number.
  const char* columns;
};

/// All tables but those of contents and of the database itself.
std::span<const StoreTable> store_tables();

}  // namespace fettle
