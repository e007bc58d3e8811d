#include <algorithm>
#include <array>

#include "base/text.h"
#include "packages/compose/interpolation.h"

namespace fettle::compose {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr size_t most_values = 32 << 20;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

bool is_in_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '[' || c == ']' || static_cast<unsigned char>(c) >= 0x80;
}

/// The letters behind a backslash in double quotes. `\$` becomes `$$`, which is a dollar when
/// variables are filled in.
std::string with_escapes(std::string_view text) {
  constexpr std::array<std::pair<char, char>, 9> letters{{{'a', '\a'},
                                                          {'b', '\b'},
                                                          {'f', '\f'},
                                                          {'n', '\n'},
                                                          {'r', '\r'},
                                                          {'t', '\t'},
                                                          {'v', '\v'},
                                                          {'"', '"'},
                                                          {'\\', '\\'}}};
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      made += text[i];
      continue;
    }
    const char next = text[++i];
    const auto* const known = std::ranges::find(letters, next, &std::pair<char, char>::first);
    if (next == '$')
      made += "$$";
    else if (known != letters.end())
      made += known->second;
    else
      made.append(1, '\\').append(1, next);
  }
  return made;
}

class EnvReader {
 public:
  EnvReader(std::string_view text, const std::string& file, const Lookup& lookup)
      : all_(text), rest_(text), file_(file), lookup_(lookup) {}

  Result<Variables> read() {
    if (rest_.starts_with(byte_order_mark))
      rest_.remove_prefix(byte_order_mark.size());
    while (skip_to_statement())
      TRY(statement());
    return std::move(made_);
  }

 private:
  bool skip_to_statement() {
    while (!rest_.empty()) {
      if (is_space(rest_.front()) || rest_.front() == '\n')
        rest_.remove_prefix(1);
      else if (rest_.front() == '#')
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      else
        return true;
    }
    return false;
  }

  void skip_spaces() {
    while (!rest_.empty() && is_space(rest_.front()))
      rest_.remove_prefix(1);
  }

  Status statement() {
    if (rest_.starts_with("export") && rest_.size() > 6 && is_space(rest_[6])) {
      rest_.remove_prefix(6);
      skip_spaces();
    }
    size_t end = 0;
    while (end < rest_.size() && (is_in_key(rest_[end]) || is_space(rest_[end])))
      ++end;
    const char stop = end < rest_.size() ? rest_[end] : '\n';
    if (stop != '=' && stop != ':' && stop != '\n') {
      rest_.remove_prefix(end);
      return error(cat("unexpected `", printable(std::string_view(&stop, 1)),
                       "` in the name of a variable, expected `NAME=VALUE`"));
    }
    const std::string name(trim(rest_.substr(0, end)));
    if (name.empty() || name.find_first_of(" \t") != name.npos)
      return error(cat("`", printable(name), "` is not the name of a variable"));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (stop == '\n') {
      if (std::optional<std::string> value = lookup_(name))
        made_[name] = *std::move(value);
      return {};
    }
    skip_spaces();
    const std::string value = TRY(this->value());
    size_ += value.size();
    if (size_ > most_values)
      return error("the values are too long when variables are filled in");
    // Compose leaves out what no shell takes for a name.
    if (name.front() < '0' || name.front() > '9')
      made_[name] = value;
    return {};
  }

  Result<std::string> value() {
    const char quote = rest_.empty() ? '\n' : rest_.front();
    if (quote == '"' || quote == '\'')
      return quoted(quote);
    std::string_view line = rest_.substr(0, rest_.find('\n'));
    const std::string_view whole = line;
    line = line.substr(0, line.find(" #"));
    const std::string text = TRY(filled(trim(line)));
    rest_.remove_prefix(whole.size());
    return text;
  }

  Result<std::string> quoted(char quote) {
    std::string inside;
    for (size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '\\' && i + 1 < rest_.size()) {
        if (rest_[i + 1] != quote)
          inside += '\\';
        inside += rest_[++i];
      } else if (rest_[i] == quote) {
        const std::string text = quote == '"' ? TRY(filled(with_escapes(inside))) : inside;
        rest_.remove_prefix(i + 1);
        return text;
      } else {
        inside += rest_[i];
      }
    }
    return error(cat("the closing ", std::string_view(&quote, 1), " of a value is missing"));
  }

  Result<std::string> filled(std::string_view text) {
    const Result<std::string> made =
        interpolated(text,
                     [&](std::string_view name) -> std::optional<std::string> {
                       if (std::optional<std::string> outside = lookup_(name))
                         return outside;
                       const auto found = made_.find(name);
                       return found == made_.end() ? std::nullopt : std::optional(found->second);
                     },
                     {});
    return made ? made : error(made.error().message);
  }

  Error error(std::string message) const {
    const size_t at = all_.size() - rest_.size();
    const LineAndColumn place = end_of_utf8(all_.substr(0, at));
    return user_error(std::move(message), {file_, place.line, place.column});
  }

  std::string_view all_, rest_;
  const std::string& file_;
  const Lookup& lookup_;
  Variables made_;
  size_t size_ = 0;  ///< of all values
};

}  // namespace

Result<Variables> read_env_file(std::string_view text, const std::string& file,
                                const Lookup& lookup) {
  return EnvReader(text, file, lookup).read();
}

Result<Variables> read_raw_env_file(std::string_view text, const std::string& file,
                                    const Lookup& lookup) {
  Variables made;
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (trim(line).empty() || trim(line).starts_with('#'))
      continue;
    const size_t equals = line.find('=');
    const std::string name(trim(line.substr(0, equals)));
    if (name.empty())
      return user_error("expected `NAME=VALUE`", {file, number, 1});
    if (equals != line.npos)
      made[name] = line.substr(equals + 1);
    else if (std::optional<std::string> value = lookup(name))
      made[name] = *std::move(value);
  }
  return made;
}

}  // namespace fettle::compose
