#pragma once
/// The files of the page, which are part of the program: `page/` builds them, and `page/embed.mjs`
/// makes a source of them. A program that was built without npm has none.

#include <span>
#include <string_view>

namespace fettle {

struct PageFile {
  std::string_view path;  ///< `/`, `/assets/….js`
  std::string_view content_type;
  std::string_view gzipped;
};

std::span<const PageFile> page_files();

}  // namespace fettle
