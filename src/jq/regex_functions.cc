#include <re2/re2.h>

#include <map>

#include "base/budget.h"
#include "jq/natives.h"

namespace fettle::jq {
namespace {

constexpr int64_t most_memory = 8 << 20;

/// Go's name for the fault of an expression.
std::string_view complaint(RE2::ErrorCode code) {
  switch (code) {
    case RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case RE2::ErrorBadCharClass:
      return "invalid character class";
    case RE2::ErrorBadCharRange:
      return "invalid character class range";
    case RE2::ErrorMissingBracket:
      return "missing closing ]";
    case RE2::ErrorMissingParen:
      return "missing closing )";
    case RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    default:
      return "expression too large";
  }
}

/// Spells `(?<name>` as RE2 does. Escaped text, and text in brackets, is not changed.
std::string with_named_groups(std::string_view expression) {
  std::string made;
  bool is_in_class = false;
  for (size_t i = 0; i < expression.size(); ++i) {
    made += expression[i];
    if (expression[i] == '\\' && i + 1 < expression.size())
      made += expression[++i];
    else if (expression[i] == '[')
      is_in_class = true;
    else if (expression[i] == ']')
      is_in_class = false;
    else if (!is_in_class && expression.substr(i).starts_with("(?<") && i + 3 < expression.size() &&
             expression[i + 3] != '=' && expression[i + 3] != '!')
      made += "?P", ++i;
  }
  return made;
}

/// The last few compiled expressions of this thread.
tl::expected<std::shared_ptr<const RE2>, Failure> compiled(const std::string& expression,
                                                           const std::string& flags) {
  if (flags.find_first_not_of("gim") != flags.npos) {
    std::string shown;
    append_quoted(shown, flags);
    return fail("unsupported regular expression flag: ", shown);
  }
  std::string source = expression;
  if (flags.find('i') != flags.npos)
    source.insert(0, "(?i)");
  if (flags.find('m') != flags.npos)
    source.insert(0, "(?s)");
  constexpr size_t most = 64;
  thread_local std::map<std::string, std::shared_ptr<const RE2>> known;
  if (known.size() > most)
    known.clear();
  std::shared_ptr<const RE2>& regex = known[source];
  if (regex == nullptr) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(most_memory);
    Budget::current().spend(source.size() * 100);
    regex = std::make_shared<const RE2>(with_named_groups(source), options);
  }
  if (regex->ok())
    return regex;
  std::string shown;
  append_quoted(shown, source);
  const bool is_spelled = source.find("(?P<") != source.npos;
  const std::string argument =
      is_spelled ? regex->error_arg() : replace_all(regex->error_arg(), "(?P<", "(?<");
  return fail("invalid regular expression ", shown,
              ": error parsing regexp: ", complaint(regex->error_code()), ": `", argument, "`");
}

/// The steps of a search in this many bytes.
uint64_t weight_of_search(const RE2& regex, size_t bytes) {
  constexpr size_t bytes_of_step = 128, usual_program = 100;
  return (bytes / bytes_of_step + 1) *
         (static_cast<uint64_t>(regex.ProgramSize()) / usual_program + 1);
}

/// Every match in a text, with its groups. An empty match does not directly follow another one.
std::vector<std::vector<re2::StringPiece>> matches_of(const RE2& regex, const std::string& text,
                                                      bool is_global) {
  std::vector<std::vector<re2::StringPiece>> found;
  const auto groups = static_cast<size_t>(regex.NumberOfCapturingGroups()) + 1;
  size_t at = 0, last_end = std::string::npos;
  while (at <= text.size() && (is_global || found.empty()) &&
         Budget::current().spend(weight_of_search(regex, text.size() - at)) &&
         Budget::current().has_room(found.size() * groups * sizeof(Json) * 16)) {
    std::vector<re2::StringPiece> match(groups);
    if (!regex.Match(text, at, text.size(), RE2::UNANCHORED, match.data(),
                     static_cast<int>(groups)))
      break;
    const auto begin = static_cast<size_t>(match[0].data() - text.data());
    const size_t end = begin + match[0].size();
    const bool is_empty = end == at;
    if (!is_empty || begin != last_end)
      found.push_back(std::move(match));
    last_end = end;
    at = !is_empty ? end : at < text.size() ? at + length_of_character(text, at) : at + 1;
  }
  return found;
}

/// Counts the characters up to places, which may come in any order.
class Characters {
 public:
  explicit Characters(const std::string& text) : text_(text) {}
  int64_t before(size_t place) {
    if (place < place_)
      place_ = 0, count_ = 0;
    for (; place_ < place; place_ += length_of_character(text_, place_))
      ++count_;
    return count_;
  }

 private:
  const std::string& text_;
  size_t place_ = 0;
  int64_t count_ = 0;
};

Json piece_of(const std::string& text, Characters& characters, const re2::StringPiece& piece,
              Json::Dict more) {
  const auto add = [&](const char* key, Json value) {
    more.push_back({Json::text(key), std::move(value)});
  };
  if (piece.data() == nullptr) {
    add("offset", Json::integer(-1));
    add("length", Json::integer(0));
    add("string", {});
    return Json::dict(std::move(more));
  }
  const auto begin = static_cast<size_t>(piece.data() - text.data());
  const int64_t offset = characters.before(begin);
  add("offset", Json::integer(offset));
  add("length",
      Json::integer(count_characters(std::string_view(text).substr(begin, piece.size()))));
  add("string", Json::text(std::string(piece.data(), piece.size())));
  return Json::dict(std::move(more));
}

Json match_of(const RE2& regex, const std::string& text, Characters& characters,
              const std::vector<re2::StringPiece>& match) {
  const std::map<int, std::string>& names = regex.CapturingGroupNames();
  Json::List captures;
  for (size_t i = 1; i < match.size(); ++i) {
    const auto name = names.find(static_cast<int>(i));
    captures.push_back(
        piece_of(text, characters, match[i],
                 {{Json::text("name"), name == names.end() ? Json() : Json::text(name->second)}}));
  }
  return piece_of(text, characters, match[0],
                  {{Json::text("captures"), Json::list(std::move(captures))}});
}

/// `_match(re; flags; whether only to test)`.
Answer match(const Json& input, Arguments given) {
  const bool is_test = given[2].is_true();
  if ((!given[1].is_null() && !given[1].is_text()) || !input.is_text() || !given[0].is_text())
    return not_for(
        cat(is_test ? "test" : "match", "(", preview(given[0]), "; ", preview(given[1]), ")"),
        input);
  const std::string flags = given[1].is_null() ? "" : given[1].text();
  const auto regex = compiled(given[0].text(), flags);
  if (!regex)
    return tl::unexpected(regex.error());
  const std::string& text = input.text();
  if (is_test)
    return Json::boolean(Budget::current().spend(weight_of_search(**regex, text.size())) &&
                         (*regex)->Match(text, 0, text.size(), RE2::UNANCHORED, nullptr, 0));
  Json::List found;
  Characters characters(text);
  for (const auto& one : matches_of(**regex, text, flags.find('g') != flags.npos))
    found.push_back(match_of(**regex, text, characters, one));
  return Json::list(std::move(found));
}

/// Named captures as a dict.
Answer captures(const Json& input, Arguments) {
  if (!input.is_list())
    return fail("expected an array but got: ", typed_preview(input));
  Json::Dict found;
  for (const Json& capture : input.items())
    if (const Json* name = capture.find("name"); name != nullptr && name->is_text())
      if (const Json* text = capture.find("string"))
        found.push_back({*name, *text});
  return Json::dict(std::move(found));
}

}  // namespace

std::span<const Native> regex_functions() {
  static const Native table[] = {{"_captures", 0, captures}, {"_match", 3, match}};
  return table;
}

}  // namespace fettle::jq
