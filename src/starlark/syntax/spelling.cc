#include "starlark/syntax/spelling.h"

#include <algorithm>
#include <string>

namespace fettle::starlark {
namespace {

constexpr size_t longest_name = 200;

std::string fold(std::string_view name) {
  std::string folded;
  for (const char c : name) {
    if (c != '_')
      folded.push_back(static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c));
  }
  return folded;
}

/// The number of edits between two texts.
size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      const size_t changed = diagonal + (a[i - 1] != b[j - 1]);
      row[j] = std::min({above + 1, row[j - 1] + 1, changed});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string wanted = fold(word);
  std::string_view best;
  if (wanted.size() > longest_name)
    return best;
  size_t least = (wanted.size() + 1) / 2;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > longest_name)
      continue;
    const size_t found = edits(wanted, fold(candidate));
    if (found < least) {
      least = found;
      best = candidate;
    }
  }
  return best;
}

}  // namespace fettle::starlark
