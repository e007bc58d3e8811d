#include "store/postgres_library.h"

#include <dlfcn.h>

#include "base/text.h"

namespace fettle {
namespace {

Result<const PostgresLibrary*> load_libpq(const char* file) {
  static PostgresLibrary table;
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return world_error(
        cat("a store in PostgreSQL needs libpq, which is missing (`apt-get install libpq5`): ",
            dlerror()));
  std::string missing;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr && missing.empty())
      missing = name;
  };
  find("PQconninfoParse", table.conninfo_parse);
  find("PQconninfoFree", table.conninfo_free);
  find("PQconnectdbParams", table.connect);
  find("PQfinish", table.finish);
  find("PQstatus", table.status);
  find("PQerrorMessage", table.error_message);
  find("PQserverVersion", table.server_version);
  find("PQbackendPID", table.backend_pid);
  find("PQsocket", table.socket);
  find("PQexec", table.exec);
  find("PQexecParams", table.exec_params);
  find("PQprepare", table.prepare);
  find("PQexecPrepared", table.exec_prepared);
  find("PQsendQuery", table.send_query);
  find("PQsendQueryParams", table.send_params);
  find("PQsendQueryPrepared", table.send_prepared);
  find("PQenterPipelineMode", table.enter_pipeline);
  find("PQpipelineSync", table.sync_pipeline);
  find("PQexitPipelineMode", table.exit_pipeline);
  find("PQgetResult", table.get_result);
  find("PQconsumeInput", table.consume_input);
  find("PQnotifies", table.notifies);
  find("PQfreemem", table.free);
  find("PQresultStatus", table.result_status);
  find("PQresultErrorField", table.result_error_field);
  find("PQresultErrorMessage", table.result_error_message);
  find("PQcmdStatus", table.command_status);
  find("PQcmdTuples", table.command_rows);
  find("PQntuples", table.rows);
  find("PQgetvalue", table.value);
  find("PQgetlength", table.length);
  find("PQgetisnull", table.is_null);
  find("PQclear", table.clear);
  find("PQsetNoticeProcessor", table.set_notice_processor);
  if (!missing.empty())
    return world_error(cat("libpq is too old: it has no `", missing, "`"));
  return &table;
}

}  // namespace

Result<const PostgresLibrary*> postgres_library() {
  static const Result<const PostgresLibrary*> loaded = load_libpq("libpq.so.5");
  return loaded;
}

}  // namespace fettle
