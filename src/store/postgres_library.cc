#include "store/postgres_library.h"

#include "base/loaded_library.h"

namespace fettle {
namespace {

Result<const PostgresLibrary*> load_libpq() {
  static PostgresLibrary table;
  LoadedLibrary library = TRY(LoadedLibrary::load("libpq.so.5", "libpq", "libpq5")
                                  .context("opening a store in PostgreSQL"));
  library.find("PQconninfoParse", table.conninfo_parse);
  library.find("PQconninfoFree", table.conninfo_free);
  library.find("PQconnectdbParams", table.connect);
  library.find("PQfinish", table.finish);
  library.find("PQstatus", table.status);
  library.find("PQerrorMessage", table.error_message);
  library.find("PQserverVersion", table.server_version);
  library.find("PQbackendPID", table.backend_pid);
  library.find("PQsocket", table.socket);
  library.find("PQexec", table.exec);
  library.find("PQsendQuery", table.send_query);
  library.find("PQsendQueryParams", table.send_params);
  library.find("PQsendPrepare", table.send_prepare);
  library.find("PQsendQueryPrepared", table.send_prepared);
  library.find("PQsetnonblocking", table.set_nonblocking);
  library.find("PQflush", table.flush);
  library.find("PQisBusy", table.is_busy);
  library.find("PQenterPipelineMode", table.enter_pipeline);
  library.find("PQpipelineSync", table.sync_pipeline);
  library.find("PQexitPipelineMode", table.exit_pipeline);
  library.find("PQgetResult", table.get_result);
  library.find("PQconsumeInput", table.consume_input);
  library.find("PQnotifies", table.notifies);
  library.find("PQfreemem", table.free);
  library.find("PQresultStatus", table.result_status);
  library.find("PQresultErrorField", table.result_error_field);
  library.find("PQcmdStatus", table.command_status);
  library.find("PQcmdTuples", table.command_rows);
  library.find("PQntuples", table.rows);
  library.find("PQgetvalue", table.value);
  library.find("PQgetlength", table.length);
  library.find("PQclear", table.clear);
  library.find("PQsetNoticeProcessor", table.set_notice_processor);
  TRY(library.check_all_found());
  return &table;
}

}  // namespace

Result<const PostgresLibrary*> postgres_library() {
  static const Result<const PostgresLibrary*> loaded = load_libpq();
  return loaded;
}

}  // namespace fettle
