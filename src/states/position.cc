#include "states/position.h"

#include <algorithm>

#include "base/text.h"

namespace fettle::states {
namespace {

/// Further errors are not reported: nobody reads them.
constexpr size_t most_errors = 1000;
constexpr size_t longest_message = 4000;

}  // namespace

uint32_t Texts::add(const std::string& name, SharedText text) {
  const auto [known, is_new] = numbers_.emplace(name, static_cast<uint32_t>(names_.size()));
  if (is_new) {
    names_.push_back(name);
    texts_.push_back(std::move(text));
    line_begins_.emplace_back();
  }
  return known->second;
}

Where Texts::where(Position position) const {
  if (position.file >= names_.size())
    return {};
  return {names_[position.file], static_cast<int>(position.line),
          static_cast<int>(position.column)};
}

std::string Texts::excerpt_of(Position position) const {
  if (position.file >= texts_.size() || position.line == 0 || position.column == 0)
    return {};
  return excerpt(*texts_[position.file], static_cast<int>(position.line),
                 static_cast<int>(position.column));
}

std::string_view Texts::line(Position position) {
  if (position.file >= texts_.size() || position.line == 0)
    return {};
  const std::string_view text = *texts_[position.file];
  std::vector<size_t>& begins = line_begins_[position.file];
  if (begins.empty())
    for (size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1)
      begins.push_back(at);
  if (position.line > begins.size())
    return {};
  const std::string_view rest = text.substr(begins[position.line - 1]);
  return rest.substr(0, rest.find('\n'));
}

bool Report::is_about_parameter(Position position, std::string_view message) const {
  return spares_parameters && (message.find("{{ params") != message.npos ||
                               texts_.line(position).find("params") != std::string_view::npos);
}

Error Report::made(Position position, std::string_view message) const {
  Error error = user_error(clipped(message, longest_message), texts_.where(position));
  if (errors.size() + warnings.size() < 20)  // an excerpt looks for its line from the beginning
    error.excerpt = texts_.excerpt_of(position);
  return error;
}

void Report::error(Position position, std::string_view message) {
  if (errors.size() < most_errors && !is_about_parameter(position, message))
    errors.push_back(made(position, message));
}

void Report::error(Error error) {
  if (errors.size() < most_errors)
    errors.push_back(std::move(error));
}

void Report::warn(Position position, std::string_view message) {
  if (warnings.size() < most_errors)
    warnings.push_back(made(position, message));
}

}  // namespace fettle::states
