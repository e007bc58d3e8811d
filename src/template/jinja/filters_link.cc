/// `urlize`: addresses in a text become links.

#include <re2/re2.h>

#include "base/text.h"
#include "template/jinja/filters.h"
#include "value/python.h"

namespace fettle::jinja {
namespace {

/// The characters that Python's `\s` matches.
constexpr std::string_view space =
    R"([\s\v\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]+)";

/// A word with one byte a character, so that the patterns stay small: letters and digits beyond
/// ASCII as `\x01`, which Python's `\w` takes, other characters there as `\x02`.
std::string outline(std::string_view text) {
  static const RE2 letter(R"([\p{L}\p{N}])");
  std::string made;
  for (const std::string_view point : python::points_of(text))
    if (point.size() == 1 && point[0] > 2)
      made += point;
    else
      made += point.size() > 1 && RE2::FullMatch(point, letter) ? '\x01' : '\x02';
  return made;
}

bool is_web_address(std::string_view text) {
  static const RE2 made(
      R"((?i)(?:)"
      R"((?:https?://|www\.)(?:[\w\x01%-]+\.)*(?:[a-z]{2,63}|xn--[\w\x01%]{2,59}))"
      R"(|(?:[\w\x01%-]{2,63}\.)+(?:com|net|int|edu|gov|org|info|mil))"
      R"(|https?://\d{1,3}(?:\.\d{1,3}){3})"
      R"(|https?://\[(?:[\da-f]{0,4}:){2}(?:[\da-f]{0,4}:?){1,6}\])"
      R"()(?::\d{1,5})?(?:[/?#]\S*)?)");
  return RE2::FullMatch(outline(text), made);
}

bool is_mail_address(std::string_view text) {
  static const RE2 made(R"(\S+@[\w\x01][\w\x01.-]*\.[\w\x01]+)");
  return RE2::FullMatch(outline(text), made);
}

bool is_scheme(std::string_view text) {
  static const RE2 made(R"([\w\x01.+-]{2,}:/{0,2})");
  return RE2::FullMatch(outline(text), made);
}

struct Links {
  std::string attributes;  ///< ` rel="…" target="…"`
  std::optional<int64_t> longest;
  std::vector<std::string> schemes;
};

std::string shortened(const std::string& text, std::optional<int64_t> longest) {
  const auto points = python::points_of(text);
  const auto size = static_cast<int64_t>(points.size());
  if (!longest || size <= *longest)
    return text;
  const int64_t kept = *longest < 0 ? std::max<int64_t>(0, size + *longest) : *longest;
  return cat(points.first(static_cast<size_t>(kept)), "...");
}

std::string link(std::string_view to, std::string_view attributes, std::string_view text) {
  return cat("<a href=\"", to, "\"", attributes, ">", text, "</a>");
}

/// A word without the punctuation around it, as a link if it is an address.
std::string linked(const std::string& text, const Links& links) {
  if (is_web_address(text)) {
    const bool has_scheme = text.starts_with("https://") || text.starts_with("http://");
    return link(cat(has_scheme ? "" : "https://", text), links.attributes,
                shortened(text, links.longest));
  }
  if (text.starts_with("mailto:") && is_mail_address(text.substr(7)))
    return link(text, "", text.substr(7));
  if (!text.starts_with("www.") && text.find(':') == text.npos && is_mail_address(text))
    return link(cat("mailto:", text), "", text);
  std::string made = text;
  for (const std::string& scheme : links.schemes)
    if (made != scheme && made.starts_with(scheme))
      made = link(made, links.attributes, made);
  return made;
}

size_t count(std::string_view text, std::string_view piece) {
  size_t found = 0;
  for (size_t at = text.find(piece); at != text.npos; at = text.find(piece, at + piece.size()))
    ++found;
  return found;
}

/// Gives back to the word what closes a parenthesis that opens in it.
void balance(std::string& text, std::string& tail) {
  for (const auto& [opens, closes] : {std::pair{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}}) {
    const size_t open = count(text, opens);
    if (open <= count(text, closes))
      continue;
    size_t end = 0;
    for (size_t left = std::min(open, count(tail, closes)); left > 0; --left)
      end = tail.find(closes, end) + std::string_view(closes).size();
    text += tail.substr(0, end);
    tail.erase(0, end);
  }
}

/// The size of what ends a word and is no part of an address: `)`, `>`, `.`, `,`.
size_t tail_size(std::string_view text) {
  size_t size = 0;
  for (;;) {
    const std::string_view rest = text.substr(0, text.size() - size);
    if (rest.ends_with("&gt;"))
      size += 4;
    else if (!rest.empty() && std::string_view(")>.,").find(rest.back()) != std::string_view::npos)
      ++size;
    else
      return size;
  }
}

size_t head_size(std::string_view text) {
  size_t size = 0;
  for (;;) {
    const std::string_view rest = text.substr(size);
    if (rest.starts_with("&lt;"))
      size += 4;
    else if (rest.starts_with('(') || rest.starts_with('<'))
      ++size;
    else
      return size;
  }
}

std::string word_with_link(std::string_view text, const Links& links) {
  const size_t head = head_size(text);
  const size_t tail = tail_size(text.substr(head));
  std::string inner(text.substr(head, text.size() - head - tail));
  std::string after(text.substr(text.size() - tail));
  balance(inner, after);
  return cat(text.substr(0, head), linked(inner, links), after);
}

std::string relations(const Value& given, bool nofollow) {
  std::set<std::string> names{"noopener"};
  if (nofollow)
    names.insert("nofollow");
  const std::string text = given.is_text() ? std::string(given.text()) : std::string();
  for (const std::string_view name : split(text, ' '))
    if (!trim(name).empty())
      names.emplace(trim(name));
  return join(std::vector<std::string>(names.begin(), names.end()), " ");
}

Result<Links> links_of(const Items& given) {
  Links made;
  made.attributes = cat(" rel=\"", escaped(relations(given[4], is_true(given[2]))), "\"");
  if (given[3].is_text() && !given[3].text().empty())
    made.attributes += cat(" target=\"", escaped(given[3].text()), "\"");
  if (given[1].is_whole())
    made.longest = given[1].integer();
  if (given[5].is_none() || given[5].is_undefined())
    return made;
  for (const Value& scheme : TRY(items_of(given[5]))) {
    made.schemes.push_back(text_of(scheme));
    if (!is_scheme(made.schemes.back()))
      return raise("jinja2.exceptions.FilterArgumentError",
                   cat(quoted(scheme), " is not a valid URI scheme prefix."));
  }
  return made;
}

Result<Value> urlize(Renderer& renderer, Arguments& arguments) {
  const Items given = TRY(bind_arguments(
      "do_urlize", arguments,
      {"value", "trim_url_limit?", "nofollow?", "target?", "rel?", "extra_schemes?"}));
  const std::string text = escaped(TRY(renderer.shown(given[0])));
  const Links links = TRY(links_of(given));
  static const RE2 blank(cat("(", space, ")"));
  std::string made;
  std::string_view rest = text;
  re2::StringPiece gap;
  while (RE2::PartialMatch(rest, blank, &gap)) {
    const auto at = static_cast<size_t>(gap.data() - rest.data());
    made += cat(word_with_link(rest.substr(0, at), links), rest.substr(at, gap.size()));
    rest.remove_prefix(at + gap.size());
  }
  return Value(made + word_with_link(rest, links));
}

Result<Value> random(Renderer& renderer, Arguments& arguments) {
  if (!renderer.environment().draw)
    return not_repeatable("the filter `random`");
  const Items given = TRY(bind_arguments("random", arguments, {"seq"}));
  const Items items = TRY(items_of(given[0]));
  if (items.empty())
    return Value::undefined("No random item, sequence was empty.");
  return items[renderer.environment().draw() % items.size()];
}

constexpr std::array link_rows{FilterRow{"urlize", urlize}, FilterRow{"random", random}};

}  // namespace

std::span<const FilterRow> link_filters() { return link_rows; }

}  // namespace fettle::jinja
