#pragma once
/// The one place that knows where libpq is. It is loaded when a store in PostgreSQL is first used:
/// whoever keeps state in a file needs none of it.
///
/// To use one more function of libpq: a member here, a line in postgres_library.cc.

#include <postgresql/libpq-fe.h>

#include "base/result.h"

namespace fettle {

struct PostgresLibrary {
  decltype(&::PQconninfoParse) conninfo_parse;
  decltype(&::PQconninfoFree) conninfo_free;
  decltype(&::PQconnectdbParams) connect;
  decltype(&::PQfinish) finish;
  decltype(&::PQstatus) status;
  decltype(&::PQerrorMessage) error_message;
  decltype(&::PQserverVersion) server_version;
  decltype(&::PQbackendPID) backend_pid;
  decltype(&::PQsocket) socket;
  decltype(&::PQexec) exec;
  decltype(&::PQsendQuery) send_query;
  decltype(&::PQsendQueryParams) send_params;
  decltype(&::PQsendPrepare) send_prepare;
  decltype(&::PQsendQueryPrepared) send_prepared;
  decltype(&::PQsetnonblocking) set_nonblocking;
  decltype(&::PQflush) flush;
  decltype(&::PQisBusy) is_busy;
  decltype(&::PQenterPipelineMode) enter_pipeline;
  decltype(&::PQpipelineSync) sync_pipeline;
  decltype(&::PQexitPipelineMode) exit_pipeline;
  decltype(&::PQgetResult) get_result;
  decltype(&::PQconsumeInput) consume_input;
  decltype(&::PQnotifies) notifies;
  decltype(&::PQfreemem) free;
  decltype(&::PQresultStatus) result_status;
  decltype(&::PQresultErrorField) result_error_field;
  decltype(&::PQcmdStatus) command_status;
  decltype(&::PQcmdTuples) command_rows;
  decltype(&::PQntuples) rows;
  decltype(&::PQgetvalue) value;
  decltype(&::PQgetlength) length;
  decltype(&::PQclear) clear;
  decltype(&::PQsetNoticeProcessor) set_notice_processor;
};

/// Errors (`Blame::world`): libpq is not on this machine, or too old.
Result<const PostgresLibrary*> postgres_library();

}  // namespace fettle
