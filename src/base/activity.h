#pragma once
/// Work that takes time and is no act of a run: a checkout, a compile, an export.

#include <functional>
#include <string>

namespace fettle {

using DoingSink = std::function<void(const std::string& what)>;

/// While it exists, those who wait are shown what is being done.
class Activity {
 public:
  Activity(const DoingSink& tell, const std::string& what) : tell_(tell) {
    if (tell_)
      tell_(what);
  }
  ~Activity() {
    if (tell_)
      tell_("");
  }
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

 private:
  const DoingSink& tell_;
};

}  // namespace fettle
