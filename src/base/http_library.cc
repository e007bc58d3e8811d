#include "base/http_library.h"

#include "base/loaded_library.h"

namespace fettle {
namespace {

Result<const HttpLibrary*> load() {
  static HttpLibrary table;
  LoadedLibrary library = TRY(LoadedLibrary::load("libcurl.so.4", "libcurl", "libcurl4"));
  library.find("curl_global_init", table.global_init);
  library.find("curl_easy_init", table.easy_init);
  library.find("curl_easy_setopt", table.easy_setopt);
  library.find("curl_easy_perform", table.easy_perform);
  library.find("curl_easy_getinfo", table.easy_getinfo);
  library.find("curl_easy_cleanup", table.easy_cleanup);
  library.find("curl_easy_send", table.easy_send);
  library.find("curl_easy_recv", table.easy_recv);
  library.find("curl_easy_strerror", table.easy_strerror);
  library.find("curl_slist_append", table.slist_append);
  library.find("curl_slist_free_all", table.slist_free_all);
  library.find("curl_multi_init", table.multi_init);
  library.find("curl_multi_setopt", table.multi_setopt);
  library.find("curl_multi_add_handle", table.multi_add_handle);
  library.find("curl_multi_remove_handle", table.multi_remove_handle);
  library.find("curl_multi_perform", table.multi_perform);
  library.find("curl_multi_poll", table.multi_poll);
  library.find("curl_multi_wakeup", table.multi_wakeup);
  library.find("curl_multi_info_read", table.multi_info_read);
  library.find("curl_multi_cleanup", table.multi_cleanup);
  TRY(library.check_all_found());
  if (table.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return world_error("libcurl cannot be initialised");
  return &table;
}

}  // namespace

Result<const HttpLibrary*> http_library() {
  static const Result<const HttpLibrary*> loaded = load();
  return loaded;
}

}  // namespace fettle
