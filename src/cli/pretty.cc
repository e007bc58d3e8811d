#include "cli/pretty.h"

#include <algorithm>

#include "base/text.h"
#include "cli/print.h"
#include "value/python.h"

namespace fettle {
namespace {

constexpr size_t page_width = 80;

size_t length_of(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// A text in pieces of a word and the space behind it.
std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view space = " \t\n\r\f\v";
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const size_t word = std::min(line.find_first_of(space), line.size());
    const size_t end = std::min(line.find_first_not_of(space, word), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

/// Lays a value out. `behind`: how many characters have to follow its last one on its line.
class Page {
 public:
  void add(const Value& value, size_t indent, size_t behind, bool is_whole) {
    const std::string plain = python_text(value);
    if (length_of(plain) + indent + behind <= page_width)
      text += plain;
    else if (value.is_dict() && !value.entries().empty())
      add_dict(value, indent + 1, behind + 1);
    else if (value.is_list() && !value.items().empty())
      add_list(value, indent + 1, behind + 1);
    else if (value.is_text())
      add_text(value.text().view(), indent, behind, is_whole);
    else
      text += plain;
  }

  std::string text;

 private:
  void begin_line(size_t indent) { text += cat("\n", std::string(indent, ' ')); }

  void add_dict(const Value& dict, size_t indent, size_t behind) {
    std::vector<const Entry*> entries;
    for (const Entry& entry : dict.entries())
      entries.push_back(&entry);
    std::ranges::stable_sort(entries, {}, [](const Entry* entry) { return entry->key.view(); });
    text += '{';
    for (size_t i = 0; i < entries.size(); ++i) {
      const std::string key = cat(python::quoted(entries[i]->key), ": ");
      text += key;
      const bool is_last = i + 1 == entries.size();
      add(entries[i]->value, indent + length_of(key), is_last ? behind : 1, false);
      if (!is_last) {
        text += ',';
        begin_line(indent);
      }
    }
    text += '}';
  }

  void add_list(const Value& list, size_t indent, size_t behind) {
    text += '[';
    for (size_t i = 0; i < list.items().size(); ++i) {
      const bool is_last = i + 1 == list.items().size();
      add(list.items()[i], indent, is_last ? behind : 1, false);
      if (!is_last) {
        text += ',';
        begin_line(indent);
      }
    }
    text += ']';
  }

  /// Python joins literals that follow one another.
  void add_text(std::string_view given, size_t indent, size_t behind, bool is_whole) {
    indent += is_whole ? 1 : 0;
    behind += is_whole ? 1 : 0;
    const std::vector<std::string> literals =
        literals_of(given, page_width - std::min(indent, page_width), behind);
    const bool has_brackets = is_whole && literals.size() > 1;
    text += has_brackets ? "(" : "";
    for (size_t i = 0; i < literals.size(); ++i) {
      if (i > 0)
        begin_line(indent);
      text += literals[i];
    }
    text += has_brackets ? ")" : "";
  }

  static std::vector<std::string> literals_of(std::string_view given, size_t width, size_t behind) {
    std::vector<std::string> literals;
    while (!given.empty()) {
      const size_t end = std::min(given.find('\n'), given.size() - 1) + 1;
      const std::string_view line = given.substr(0, end);
      given.remove_prefix(end);
      const size_t last_width = given.empty() ? width - std::min(width, behind) : width;
      std::string whole = python::quoted(line);
      if (length_of(whole) <= last_width)
        literals.push_back(std::move(whole));
      else
        add_words(words_of(line), width, last_width, literals);
    }
    return literals;
  }

  static void add_words(const std::vector<std::string_view>& words, size_t width, size_t last_width,
                        std::vector<std::string>& literals) {
    std::string current;
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string longer = cat(current, words[i]);
      const size_t limit = i + 1 == words.size() ? last_width : width;
      if (length_of(python::quoted(longer)) <= limit) {
        current = longer;
        continue;
      }
      if (!current.empty())
        literals.push_back(python::quoted(current));
      current = words[i];
    }
    if (!current.empty())
      literals.push_back(python::quoted(current));
  }
};

void append_nested(const Value& value, int depth, std::string& text) {
  const std::string indent(static_cast<size_t>(depth) * 2, ' ');
  if (depth > 100 || (!value.is_dict() && !value.is_list())) {
    const std::string shown = value.is_text()                      ? value.text().str()
                              : value.is_null() || value.is_bool() ? python_text(value)
                                                                   : to_text(value);
    text += cat(indent, hanging(shown, indent.size()), "\n");
    return;
  }
  if (value.is_list())
    for (const Value& item : value.items()) {
      text += cat(indent, "-\n");
      append_nested(item, depth + 1, text);
    }
  else
    for (const Entry& entry : value.entries()) {
      text += cat(indent, entry.key, ":\n");
      append_nested(entry.value, depth + 1, text);
    }
}

}  // namespace

std::string python_text(const Value& value) {
  if (value.is_null())
    return "None";
  if (value.is_bool())
    return value.boolean() ? "True" : "False";
  if (value.is_integer())
    return value.integer_digits();
  if (value.is_real())
    return python::real_text(value.real());
  std::vector<std::string> parts;
  if (value.is_list()) {
    for (const Value& item : value.items())
      parts.push_back(python_text(item));
    return cat("[", join(parts, ", "), "]");
  }
  if (value.is_dict()) {
    for (const Entry& entry : value.entries())
      parts.push_back(cat(python::quoted(entry.key), ": ", python_text(entry.value)));
    return cat("{", join(parts, ", "), "}");
  }
  return python::quoted(value.is_text() ? value.text().str() : to_text(value));
}

std::string nested_text(const Value& value, int depth) {
  std::string text;
  append_nested(value, depth, text);
  return text;
}

std::string pretty_text(const Value& value) {
  Page page;
  page.add(value, 0, 0, true);
  return std::move(page.text);
}

}  // namespace fettle
