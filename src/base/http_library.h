#pragma once
/// The one place that knows where libcurl is. It is loaded on first use, for its chain of some
/// thirty libraries would otherwise be loaded by every command that never talks to anybody.
///
/// To use one more function of libcurl: a member here, a line in http_library.cc.

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/result.h"

namespace fettle {

/// Settings of every connection.
constexpr long keep_alive_idle = 30, keep_alive_interval = 10;  ///< seconds
constexpr long no_limit_ms = 1'000'000'000;                     ///< libcurl's 0 is five minutes

struct HttpLibrary {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_perform) easy_perform;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_send) easy_send;
  decltype(&::curl_easy_recv) easy_recv;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_setopt) multi_setopt;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_wakeup) multi_wakeup;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_cleanup) multi_cleanup;
};

/// Loads libcurl at the first call; afterwards free. The table stays valid until the process ends.
Result<const HttpLibrary*> http_library();

}  // namespace fettle
