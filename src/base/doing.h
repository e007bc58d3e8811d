#pragma once
/// Work that takes time and is no act of a run: a checkout, a compile, an export.

#include <functional>
#include <string>

namespace fettle {

using DoingSink = std::function<void(const std::string& what)>;

/// While it exists, those who wait are shown what is being done.
class Doing {
 public:
  Doing(const DoingSink& tell, const std::string& what) : tell_(tell) {
    if (tell_)
      tell_(what);
  }
  ~Doing() {
    if (tell_)
      tell_("");
  }
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;

 private:
  const DoingSink& tell_;
};

}  // namespace fettle
