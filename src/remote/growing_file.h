#pragma once
/// A file whose bytes come piece by piece from elsewhere, and that nobody sees before it is whole.
///
/// A file beside its place, renamed in the end, stays there when the process is killed in between.
/// This one has no name until it is whole, so there is nothing to clean up.

#include <string>
#include <string_view>

#include "base/file.h"

namespace fettle {

class GrowingFile {
 public:
  /// `path`: where it will stand, absolute, in a folder that exists. `shown`: the path in errors.
  static Result<GrowingFile> begin(const std::string& path, const std::string& shown);
  GrowingFile() = default;
  GrowingFile(GrowingFile&&) noexcept = default;
  GrowingFile& operator=(GrowingFile&& other) noexcept;
  ~GrowingFile() { drop(); }

  bool is_open() const { return file_.is_open(); }
  Status add(std::string_view bytes);
  enum class Predecessor { is_replaced, is_the_same };
  /// It stands in its place, instead of what was there, or that stays, being the same.
  Status finish(unsigned mode, Predecessor predecessor = Predecessor::is_replaced);

 private:
  bool name_it(const std::string& name) const;
  void drop();

  std::string path_, shown_;
  std::string name_;  ///< where no file can be without a name; else empty
  Descriptor file_;
};

/// Writes all of it. Error: `cannot write `shown`: reason`.
Status write_all(const Descriptor& file, std::string_view bytes, const std::string& shown);

}  // namespace fettle
