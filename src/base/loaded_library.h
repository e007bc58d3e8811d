#pragma once
/// A library of the system that is loaded when it is first needed, and stays until the process ends.

#include <dlfcn.h>

#include <string>

#include "base/result.h"
#include "base/text.h"

namespace fettle {

class LoadedLibrary {
 public:
  /// `name`, for people: `libcurl`; `package`: which Debian package has it. Error (`Blame::world`):
  /// it is not there.
  static Result<LoadedLibrary> load(const char* file, std::string name, std::string_view package) {
    LoadedLibrary library(dlopen(file, RTLD_NOW | RTLD_LOCAL), std::move(name));
    if (library.handle_ == nullptr)
      return world_error(
          cat(library.name_, " is missing (`apt-get install ", package, "`): ", dlerror()));
    return library;
  }

  template <typename Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr && missing_.empty())
      missing_ = name;
  }
  /// Error (`Blame::world`): something was not found.
  Status check_all_found() const {
    return missing_.empty() ? Status()
                            : world_error(cat(name_, " is too old: it has no `", missing_, "`"));
  }

 private:
  LoadedLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void* handle_;
  std::string name_, missing_;
};

}  // namespace fettle
