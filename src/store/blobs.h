#pragma once
/// Contents by digest in a folder: `ab/cdef…`, written beside and renamed, so that a file that is
/// there is whole.

#include "core/driver.h"

namespace fettle {

class FolderBlobs : public Blobs {
 public:
  explicit FolderBlobs(std::string folder) : folder_(std::move(folder)) {}
  Result<std::string> put_file(const std::string& path) override;
  Result<std::string> put(std::string_view bytes) override;
  Result<std::string> path(std::string_view digest) const override;
  /// Deletes every blob that is not among `used` and was neither put nor asked for during the last
  /// `grace`, since somebody who works now may not have written down yet that it needs it. The
  /// answer is how many.
  Result<size_t> collect(const std::set<std::string>& used, Duration grace);

 private:
  std::string place_of(std::string_view digest) const;
  std::string folder_;
};

}  // namespace fettle
