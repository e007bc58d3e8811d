#include "packages/compose/interpolation.h"

#include "base/text.h"

namespace fettle::compose {
namespace {

constexpr int deepest_variable = 50;
constexpr size_t longest_result = 16 << 20;

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_in_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

class Substitution {
 public:
  Substitution(const Lookup& lookup, const OnMissing& on_missing)
      : lookup_(lookup), on_missing_(on_missing) {}

  Result<std::string> of(std::string_view text, int depth = 0) {
    if (depth > deepest_variable)
      return user_error("variables are nested too deeply");
    std::string made;
    while (!text.empty()) {
      const size_t dollar = text.find('$');
      made += text.substr(0, dollar);
      if (dollar == text.npos)
        break;
      text.remove_prefix(dollar + 1);
      if (text.starts_with('$')) {
        made += '$';
        text.remove_prefix(1);
      } else if (text.starts_with('{')) {
        made += TRY(braced(text, depth));
      } else if (!text.empty() && begins_name(text.front())) {
        made += plain(take_name(text));
      } else {
        made += '$';
      }
      if (made.size() > longest_result)
        return user_error("the text is too long when its variables are filled in");
    }
    return made;
  }

 private:
  static std::string_view take_name(std::string_view& text) {
    size_t end = 0;
    while (end < text.size() && is_in_name(text[end]))
      ++end;
    const std::string_view name = text.substr(0, end);
    text.remove_prefix(end);
    return name;
  }

  std::string plain(std::string_view name) {
    if (std::optional<std::string> value = lookup_(name))
      return *std::move(value);
    if (on_missing_)
      on_missing_(name);
    return {};
  }

  /// `text` begins at the opening brace; what belongs to it is taken.
  Result<std::string> braced(std::string_view& text, int depth) {
    size_t end = 0;
    for (int open = 0; end < text.size(); ++end) {
      open += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
      if (open == 0)
        break;
    }
    const auto invalid = [&](std::string_view why) {
      return user_error(cat("`$", printable(clipped(text.substr(0, end + 1), 60)), "`: ", why,
                            "; a `$` that is meant as such is written `$$`"));
    };
    if (end == text.size())
      return invalid("the `}` of a variable is missing");
    std::string_view inside = text.substr(1, end - 1);
    if (inside.empty() || !begins_name(inside.front()))
      return invalid("expected the name of a variable");
    const std::string name(take_name(inside));
    const std::string_view whole = inside;
    const bool with_colon = inside.starts_with(':');
    if (with_colon)
      inside.remove_prefix(1);
    const char operation = inside.empty() ? '\0' : inside.front();
    if (whole.empty()) {
      text.remove_prefix(end + 1);
      return plain(name);
    }
    if (operation != '-' && operation != '+' && operation != '?')
      return invalid("expected `}`, or one of `:-`, `-`, `:+`, `+`, `:?` and `?`");
    inside.remove_prefix(1);
    text.remove_prefix(end + 1);
    return operated(name, operation, with_colon, inside, depth);
  }

  Result<std::string> operated(const std::string& name, char operation, bool with_colon,
                               std::string_view rest, int depth) {
    std::optional<std::string> value = lookup_(name);
    const bool is_there = value && !(with_colon && value->empty());
    if (operation == '+')
      return is_there ? of(rest, depth + 1) : Result<std::string>(std::string());
    if (is_there)
      return *std::move(value);
    const std::string text = TRY(of(rest, depth + 1));
    if (operation == '-')
      return text;
    return user_error(cat("the variable `", name, "` needs a value",
                          text.empty() ? std::string() : cat(": ", printable(text))));
  }

  const Lookup& lookup_;
  const OnMissing& on_missing_;
};

}  // namespace

Result<std::string> interpolated(std::string_view text, const Lookup& lookup,
                                 const OnMissing& on_missing) {
  return Substitution(lookup, on_missing).of(text);
}

Status interpolate(Node& node, const Lookup& lookup,
                   const std::function<void(const Node&, std::string_view)>& on_missing,
                   size_t& text_left) {
  if (node.is_text()) {
    const std::string text = node.scalar.text().str();
    if (text.find('$') == text.npos)
      return {};
    Result<std::string> filled =
        interpolated(text, lookup, [&](std::string_view name) { on_missing(node, name); });
    if (!filled)
      return error_at(node, filled.error().message);
    if (filled->size() > text_left)
      return error_at(node, "the texts of the project are too long when variables are filled in");
    text_left -= filled->size();
    node.scalar = Value(*filled);
    return {};
  }
  for (Node& item : node.items)
    TRY(interpolate(item, lookup, on_missing, text_left));
  return {};
}

}  // namespace fettle::compose
