#include "packages/docker_ignore.h"

#include <algorithm>
#include <filesystem>

#include <re2/re2.h>

#include "base/text.h"

namespace fettle {
namespace {

constexpr size_t most_patterns = 10'000;
constexpr size_t longest_pattern = 4'096;

/// The pattern as a regular expression, which also matches what is below. Go's classes `[a-z]` and
/// `[^a-z]` are those of RE2.
std::string expression_of(std::string_view pattern) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '*' && pattern.substr(i).starts_with("**")) {
      ++i;
      if (pattern.substr(i + 1).starts_with('/'))
        ++i;
      text += i + 1 == pattern.size() ? ".*" : "(?:.*/)?";
    } else if (c == '*') {
      text += "[^/]*";
    } else if (c == '?') {
      text += "[^/]";
    } else if (c == '[') {
      const size_t end = pattern.find(']', i + 2);
      text += pattern.substr(i, end == pattern.npos ? end : end + 1 - i);
      i = std::min(end, pattern.size());
    } else {
      if (c == '\\' && i + 1 < pattern.size())
        ++i;
      text += re2::RE2::QuoteMeta(pattern.substr(i, 1));
    }
  }
  return text + "(?:/(?s:.*))?";
}

/// The line as Docker cleans it: no white space around it, `/a/../b/` is `b`.
std::string cleaned(std::string_view line) {
  std::string text = std::filesystem::path(trim(line)).lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/'))
    text.pop_back();
  return text.size() > 1 && text.starts_with('/') ? text.substr(1) : text;
}

}  // namespace

Result<DockerIgnore> DockerIgnore::of(std::string_view text, const std::string& file) {
  DockerIgnore ignored;
  if (text.starts_with("\xef\xbb\xbf"))
    text.remove_prefix(3);
  int number = 0;
  for (const std::string_view each : split(text, '\n')) {
    ++number;
    std::string_view line = trim(each);
    if (each.starts_with('#') || line.empty())
      continue;
    Pattern pattern;
    pattern.is_exception = line.starts_with('!');
    if (pattern.is_exception)
      line.remove_prefix(1);
    const std::string plain = cleaned(line);
    if (plain.empty() || plain == ".") {
      if (pattern.is_exception && trim(line).empty())
        return user_error("`!` needs a pattern", {file, number, 1});
      continue;
    }
    pattern.expression = std::make_shared<re2::RE2>(expression_of(plain), re2::RE2::Quiet);
    if (!pattern.expression->ok() || plain.size() > longest_pattern)
      return user_error(cat("`", printable(line), "` is no pattern"), {file, number, 1});
    if (ignored.patterns_.size() == most_patterns)
      return user_error(cat("there are more than ", most_patterns, " patterns"), {file, number, 1});
    ignored.patterns_.push_back(std::move(pattern));
  }
  return ignored;
}

bool DockerIgnore::has(std::string_view path) const {
  bool found = false;
  for (const Pattern& pattern : patterns_) {
    // A line that would change nothing is not asked.
    if (pattern.is_exception == found && re2::RE2::FullMatch(path, *pattern.expression))
      found = !found;
  }
  return found;
}

}  // namespace fettle
