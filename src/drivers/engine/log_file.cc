#include "drivers/engine/log_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace fettle {
namespace {

constexpr std::streamoff most_bytes = 16 << 20;

/// The mark of an entry: `F`, `P`, or a zero byte if it does not have the form.
char sort_of(std::string_view entry) {
  const size_t time = entry.find(' ');
  const size_t stream = time == entry.npos ? time : entry.find(' ', time + 1);
  const bool has_sort =
      stream != entry.npos && stream + 2 < entry.size() && entry[stream + 2] == ' ';
  return has_sort ? entry[stream + 1] : '\0';
}

}  // namespace

bool is_in_whole_lines(const std::string& file, int lines) {
  std::error_code failure;
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(file, failure));
  std::ifstream in(file, std::ios::binary);
  if (failure || !in)
    return false;
  constexpr std::streamoff step = 64 << 10;
  std::string end;  // the part of the file that was read, at its end
  for (std::streamoff from = size, seen = 0;;) {
    const size_t begin = from == 0 ? 0 : end.find('\n') + 1;  // the first entry may be cut
    if (from == 0 || begin != 0) {
      std::string_view rest = std::string_view(end).substr(begin);
      seen = 0;
      while (!rest.empty() && seen <= lines) {
        rest.remove_suffix(rest.ends_with('\n') ? 1 : 0);
        const size_t before = rest.rfind('\n');
        const size_t at = before == rest.npos ? 0 : before + 1;
        if (sort_of(rest.substr(at)) != 'F')
          return false;
        ++seen;
        rest = rest.substr(0, at);
      }
    }
    if (from == 0 || seen > lines)
      return true;
    if (size - from >= most_bytes)
      return false;
    const std::streamoff count = std::min(from, std::max<std::streamoff>(step, size - from));
    from -= count;
    std::string piece(static_cast<size_t>(count), '\0');
    in.seekg(from);
    if (!in.read(piece.data(), count))
      return false;
    end.insert(0, piece);
  }
}

}  // namespace fettle
