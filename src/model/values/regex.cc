#include "model/values/regex.h"

#include <re2/re2.h>

#include "base/budget.h"
#include "base/text.h"

namespace fettle::model {
namespace {

RE2::Options quiet() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

/// Python's spelling, where RE2 has another one.
std::string translated(std::string_view pattern) { return replace_all(pattern, "\\Z", "\\z"); }

}  // namespace

struct Regexes::CompileResult {
  explicit CompileResult(std::string_view pattern) : regex(translated(pattern), quiet()) {}
  RE2 regex;
};

Regexes::Regexes() = default;
Regexes::~Regexes() = default;

bool Regexes::matches(std::string_view pattern, std::string_view text) {
  if (!Budget::current().spend(text.size() / 16))
    return false;
  if (pattern.data() != recent_pattern_.data() || pattern.size() != recent_pattern_.size()) {
    std::unique_ptr<CompileResult>& known = compiled_[pattern];
    if (known == nullptr)
      known = std::make_unique<CompileResult>(pattern);
    recent_pattern_ = pattern;
    recent_ = known.get();
  }
  return recent_->regex.Match({text.data(), text.size()}, 0, text.size(), RE2::ANCHOR_START,
                              nullptr, 0);
}

Status check_regex(std::string_view pattern) {
  const RE2 regex(translated(pattern), quiet());
  if (regex.ok())
    return {};
  for (const std::string_view look : {"(?=", "(?!", "(?<=", "(?<!"})
    if (pattern.find(look) != std::string_view::npos)
      return user_error(cat("look-around (`", look, "…`) is not supported"));
  for (char digit = '1'; digit <= '9'; ++digit)
    if (pattern.find(std::string("\\") + digit) != std::string_view::npos)
      return user_error(cat("back references (`\\", digit, "`) are not supported"));
  return user_error(regex.error());
}

}  // namespace fettle::model
