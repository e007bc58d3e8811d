/// The types of plugins: reads their spelling, and checks values.

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "model/evaluate/plugin.h"
#include "model/evaluate/plugin_context.h"
#include "model/program/text_form.h"

namespace fettle::model {
namespace {

constexpr int deepest_type = 50;

/// Reads types and signatures from left to right.
class Reader {
 public:
  Reader(Program& program, Space& space, std::string_view text)
      : program_(program), space_(space), text_(text) {}

  bool type(PluginType& made, int depth = 0) {
    if (depth > deepest_type)
      return false;
    const size_t start = skip();
    if (!suffixed(made, depth))
      return false;
    if (!peek('|')) {
      if (made.text.empty())
        made.text = trim(text_.substr(start, at_ - start));
      return true;
    }
    PluginType choice;
    choice.kind = PluginType::Kind::one_of;
    choice.inner.push_back(std::move(made));
    while (take('|'))
      if (!suffixed(choice.inner.emplace_back(), depth))
        return false;
    made = simplified(std::move(choice));
    return true;
  }

  bool signature(Plugin& plugin) {
    if (!take('('))
      return false;
    bool is_named_only = false;
    while (!peek(')')) {
      const bool is_named_rest = take_word("**");
      const bool is_rest = !is_named_rest && take('*');
      if (is_rest && (peek(',') || peek(')'))) {
        is_named_only = true;
      } else {
        PluginParameter parameter;
        if (!this->parameter(parameter))
          return false;
        parameter.is_named_only = is_named_only;
        is_named_only |= is_rest;
        if (is_named_rest)
          plugin.named_rest = std::move(parameter);
        else if (is_rest)
          plugin.rest = std::move(parameter);
        else
          plugin.parameters.push_back(std::move(parameter));
      }
      if (!take(','))
        break;
    }
    if (!take(')'))
      return false;
    return !take_word("->") || type(plugin.returns);
  }

  bool is_at_end() { return skip() == text_.size(); }

 private:
  size_t skip() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
    return at_;
  }
  bool peek(char c) { return skip() < text_.size() && text_[at_] == c; }
  bool take(char c) {
    const bool is_there = peek(c);
    at_ += is_there;
    return is_there;
  }
  bool take_word(std::string_view word) {
    const bool is_there = text_.substr(skip()).starts_with(word);
    at_ += is_there ? word.size() : 0;
    return is_there;
  }
  std::string_view name() {
    const size_t start = skip();
    const auto is_part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    for (; at_ < text_.size(); ++at_) {
      if (text_.substr(at_).starts_with("::"))
        ++at_;
      else if (!is_part(text_[at_]) && text_[at_] != '.')
        break;
    }
    return text_.substr(start, at_ - start);
  }

  bool parameter(PluginParameter& made) {
    made.name = name();
    made.type.text = "any";
    if (made.name.empty())
      return false;
    if (take(':') && !type(made.type))
      return false;
    return !take('=') || literal(made.initial);
  }

  bool literal(Datum& value) {
    skip();
    if (take('"'))
      return text(value, '"');
    if (take('\''))
      return text(value, '\'');
    if (take_word("[]") || take_word("{}")) {
      value = text_[at_ - 1] == ']'
                  ? Datum::of(static_cast<const List*>(program_.arena.make<List>()))
                  : Datum::of(static_cast<const Dict*>(program_.arena.make<Dict>()));
      return true;
    }
    if (int64_t number = 0; skip() < text_.size()) {
      const char* const end = text_.data() + text_.size();
      const auto read = std::from_chars(text_.data() + at_, end, number);
      double real = 0;
      if (const auto longer = std::from_chars(text_.data() + at_, end, real);
          longer.ec == std::errc() && longer.ptr > read.ptr && std::isfinite(real)) {
        at_ = static_cast<size_t>(longer.ptr - text_.data());
        value = Datum::of(real);
        return true;
      }
      if (read.ec == std::errc()) {
        at_ = static_cast<size_t>(read.ptr - text_.data());
        value = Datum::of(number);
        return true;
      }
    }
    const std::string_view word = name();
    if (word == "true" || word == "True" || word == "false" || word == "False")
      value = Datum::of(word[0] == 't' || word[0] == 'T');
    else if (word == "null" || word == "None")
      value = Datum::null();
    else
      return false;
    return true;
  }
  /// Reads the text behind an opening quotation mark, as Starlark writes it.
  bool text(Datum& value, char quote) {
    constexpr std::string_view letters = "ntr", meanings = "\n\t\r";
    std::string made;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] != '\\' || at_ + 1 == text_.size()) {
        made += text_[at_];
        continue;
      }
      const char c = text_[++at_];
      const size_t known = letters.find(c);
      made += known == letters.npos ? c : meanings[known];
    }
    if (at_ == text_.size())
      return false;
    ++at_;
    value = make_text(made);
    return true;
  }
  Datum make_text(std::string_view text) {
    return Datum::of(
        static_cast<const Text*>(program_.arena.make<Text>(program_.arena.copy(text))));
  }

  bool suffixed(PluginType& made, int depth) {
    const size_t start = skip();
    if (!simple(made, depth))
      return false;
    for (;;) {
      const bool is_list = take_word("[]");
      if (!is_list && !take('?'))
        return true;
      if (made.text.empty())
        made.text = trim(text_.substr(start, at_ - start - (is_list ? 2 : 1)));
      if (is_list) {
        PluginType list;
        list.kind = PluginType::Kind::list;
        list.text = cat(made.text, "[]");
        list.inner.push_back(std::move(made));
        made = std::move(list);
      } else {
        made.is_nullable = true;
        made.text =
            made.kind == PluginType::Kind::dict ? cat("(", made.text, ")?") : cat(made.text, "?");
      }
    }
  }

  bool simple(PluginType& made, int depth) {
    if (take('(')) {
      const size_t start = at_ - 1;
      if (!type(made, depth + 1) || !take(')'))
        return false;
      made.text = text_.substr(start, at_ - start);
      return true;
    }
    if (take('"')) {  // an annotation in quotes
      const size_t end = text_.find('"', at_);
      if (end == std::string_view::npos)
        return false;
      const std::optional<PluginType> read =
          read_plugin_type(program_, space_, text_.substr(at_, end - at_));
      at_ = end + 1;
      if (read)
        made = *read;
      return read.has_value();
    }
    const std::string_view word = name();
    if (word.empty())
      return false;
    if (word == "Literal" && take('['))
      return literals(made);
    std::vector<PluginType> inner;
    if (peek('[') && !text_.substr(at_).starts_with("[]")) {
      take('[');
      do {
        if (!type(inner.emplace_back(), depth + 1))
          return false;
      } while (take(','));
      if (!take(']'))
        return false;
    }
    return named(word, std::move(inner), made);
  }

  /// Reads the values of `Literal["a", 1]`.
  bool literals(PluginType& made) {
    const size_t start = at_;
    made.kind = PluginType::Kind::literal;
    do {
      if (!literal(made.literals.emplace_back()))
        return false;
    } while (take(','));
    made.text = cat("Literal[", text_.substr(start, at_ - start), "]");
    return take(']');
  }

  bool named(std::string_view word, std::vector<PluginType> inner, PluginType& made) {
    using Kind = PluginType::Kind;
    if (word == "any" || word == "Any" || word == "object") {
      made.refuses_references = word == "object";
      made.text = "any";
      return true;
    }
    if (word == "Reference") {
      made.kind = Kind::reference;
      made.text = inner.empty() ? "Reference" : cat("Reference[", inner[0].text, "]");
      made.inner = std::move(inner);
      return true;
    }
    if (word == "None" || word == "null") {
      made.kind = Kind::none;
      made.text = "null";
      return true;
    }
    if (word == "list" || word == "Sequence" || word == "dict" || word == "Mapping") {
      const bool is_list = word == "list" || word == "Sequence";
      made.kind = is_list ? Kind::list : Kind::dict;
      PluginType item;
      item.text = "any";
      if (inner.size() == (is_list ? 1u : 2u))
        item = std::move(inner.back());
      made.text = is_list ? cat(item.text, "[]") : cat("dict[string, ", item.text, "]");
      if (is_list && inner.empty())
        made.text = "list";
      made.inner.push_back(std::move(item));
      return true;
    }
    if (word == "Optional" || word == "Union") {
      made.kind = Kind::one_of;
      made.inner = std::move(inner);
      if (word == "Optional")
        made.inner.emplace_back().kind = Kind::none;
      made = simplified(std::move(made));
      return !made.inner.empty() || made.kind != Kind::one_of;
    }
    return inner.empty() && (primitive(word, made) || declared(word, made));
  }

  bool primitive(std::string_view word, PluginType& made) {
    static const std::unordered_map<std::string_view, std::pair<Base, std::string_view>> bases{
        {"string", {Base::string, "string"}}, {"str", {Base::string, "string"}},
        {"int", {Base::integer, "int"}},      {"float", {Base::floating, "float"}},
        {"bool", {Base::boolean, "bool"}},    {"number", {Base::number, "number"}}};
    const auto found = bases.find(word);
    if (found == bases.end())
      return false;
    made.kind = PluginType::Kind::value;
    made.type.base = found->second.first;
    made.type.name = made.text = found->second.second;
    return true;
  }

  /// Reads a typedef or an entity, by its full name or a name of the namespace.
  bool declared(std::string_view word, PluginType& made) {
    const size_t colons = word.rfind("::");
    const std::string_view last = colons == word.npos ? word : word.substr(colons + 2);
    Space* const from = colons == word.npos ? &space_ : program_.space(word.substr(0, colons));
    if (from == nullptr)
      return false;
    const Symbol symbol = program_.symbols.intern(last);
    made.text = cat(from->name, "::", last);
    if (const auto found = from->typedefs.find(symbol); found != from->typedefs.end()) {
      made.kind = PluginType::Kind::value;
      made.type.base = Base::constrained;
      made.type.constraint = found->second;
      made.type.name = made.text;
      return true;
    }
    const auto found = from->entities.find(symbol);
    if (found == from->entities.end())
      return false;
    made.kind = PluginType::Kind::entity;
    made.entity = found->second;
    return true;
  }

  /// `T | None` is `T?`; else `Union[A,B]`.
  static PluginType simplified(PluginType choice) {
    PluginType made = std::move(choice);
    const auto is_none = [](const PluginType& one) { return one.kind == PluginType::Kind::none; };
    const auto removed = std::remove_if(made.inner.begin(), made.inner.end(), is_none);
    made.is_nullable = removed != made.inner.end();
    made.inner.erase(removed, made.inner.end());
    std::string names;
    for (const PluginType& one : made.inner)
      names += cat(names.empty() ? "" : ",", one.text);
    if (made.inner.size() == 1) {
      PluginType only = std::move(made.inner[0]);
      only.text += made.is_nullable && !only.is_nullable ? "?" : "";
      only.is_nullable |= made.is_nullable;
      return only;
    }
    made.text = cat("Union[", names, made.is_nullable ? ",null]" : "]");
    return made;
  }

  Program& program_;
  Space& space_;
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<PluginType> read_plugin_type(Program& program, Space& space, std::string_view text) {
  Reader reader(program, space, text);
  PluginType made;
  if (!reader.type(made) || !reader.is_at_end())
    return std::nullopt;
  return made;
}

bool read_signature(Program& program, Space& space, std::string_view text, Plugin& plugin) {
  Reader reader(program, space, text);
  plugin.returns.text = "any";
  return reader.signature(plugin) && reader.is_at_end();
}

bool accepts(PluginContext& context, const PluginType& type, const Datum& value, Reason& why) {
  using Kind = PluginType::Kind;
  const bool takes_references = type.kind == Kind::reference || type.kind == Kind::one_of ||
                                (type.kind == Kind::any && !type.refuses_references);
  if (value.tag == Tag::reference && !takes_references) {
    why = {no_reference_text(type.kind == Kind::any ? "object" : type.text)};
    return false;
  }
  if (type.kind == Kind::any || value.tag == Tag::unknown ||
      (value.tag == Tag::null && type.is_nullable))
    return true;
  if (type.kind == Kind::value)
    return context.accepts(type.type, value, why);
  const auto refuse = [&](std::string_view before, std::string_view between,
                          std::string_view wanted = {}) {
    const std::string shown = value.tag == Tag::null ? "null" : text_of(context.program(), value);
    why = {cat(before, " '", shown, "', ", between, " ", wanted.empty() ? type.text : wanted)};
    return false;
  };
  switch (type.kind) {
    case Kind::none:
      return value.tag == Tag::null || refuse("Invalid value", "expected");
    case Kind::reference:
      return (value.tag == Tag::reference &&
              (type.inner.empty() || type.inner[0].kind == Kind::any ||
               type.inner[0].text == value.reference->element ||
               (type.inner[0].text == "dict[string, any]" &&
                value.reference->element == "dict"))) ||
             refuse("Invalid value", "expected");
    case Kind::entity:
      return (value.tag == Tag::instance && value.instance->entity->is_a(type.entity)) ||
             refuse("Invalid type for value", "should be type");
    case Kind::literal:
      return std::ranges::any_of(
                 type.literals,
                 [&](const Datum& one) { return one.tag == value.tag && is_equal(one, value); }) ||
             refuse("Invalid value", "expected");
    case Kind::list:
      // The original has no text for a list of one of several types.
      if (value.tag != Tag::list)
        return refuse("Invalid value", "expected",
                      type.inner[0].kind == Kind::one_of ? "None" : type.text);
      return std::all_of(
          value.list->items.begin(), value.list->items.end(),
          [&](const Datum& item) { return accepts(context, type.inner[0], item, why); });
    case Kind::dict:
      if (value.tag != Tag::dict)
        return refuse("Invalid value", "expected", "dict");
      return std::all_of(value.dict->entries.begin(), value.dict->entries.end(),
                         [&](const DictEntry& entry) {
                           return accepts(context, type.inner[0], entry.value, why);
                         });
    default:
      return std::any_of(
                 type.inner.begin(), type.inner.end(),
                 [&](const PluginType& one) { return accepts(context, one, value, why); }) ||
             refuse("Invalid value", "expected");
  }
}

}  // namespace fettle::model
