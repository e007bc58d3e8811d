#pragma once
/// The store in a database. Which one it is, only its opening knows.

#include "store/database.h"
#include "store/store.h"

namespace fettle {

std::unique_ptr<Store> make_sql_store(std::unique_ptr<Database> database);

}  // namespace fettle
