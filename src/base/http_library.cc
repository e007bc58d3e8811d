#include "base/http_library.h"

#include <dlfcn.h>

#include "base/text.h"

namespace fettle {
namespace {

template <typename Function>
void look_up(void* library, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr && missing.empty())
    missing = name;
}

Result<const HttpLibrary*> load() {
  static HttpLibrary table;
  void* const library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return world_error(cat("libcurl is missing (`apt-get install libcurl4`): ", dlerror()));
  std::string missing;
  const auto find = [&](const char* name, auto& function) {
    look_up(library, name, function, missing);
  };
  find("curl_global_init", table.global_init);
  find("curl_easy_init", table.easy_init);
  find("curl_easy_setopt", table.easy_setopt);
  find("curl_easy_perform", table.easy_perform);
  find("curl_easy_getinfo", table.easy_getinfo);
  find("curl_easy_cleanup", table.easy_cleanup);
  find("curl_easy_send", table.easy_send);
  find("curl_easy_recv", table.easy_recv);
  find("curl_easy_strerror", table.easy_strerror);
  find("curl_slist_append", table.slist_append);
  find("curl_slist_free_all", table.slist_free_all);
  find("curl_multi_init", table.multi_init);
  find("curl_multi_setopt", table.multi_setopt);
  find("curl_multi_add_handle", table.multi_add_handle);
  find("curl_multi_remove_handle", table.multi_remove_handle);
  find("curl_multi_perform", table.multi_perform);
  find("curl_multi_poll", table.multi_poll);
  find("curl_multi_wakeup", table.multi_wakeup);
  find("curl_multi_info_read", table.multi_info_read);
  find("curl_multi_cleanup", table.multi_cleanup);
  if (!missing.empty())
    return world_error(cat("libcurl is too old: it has no `", missing, "`"));
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
