#include "value/codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace fettle {
namespace {

constexpr int deepest_coded = 2'000;
/// The tags of a secret that is sealed, and of another value that is; others are those of the
/// types.
constexpr uint8_t sealed_secret_tag = 0x40, sealed_tag = 0x41;
/// A deferred value with the text form of Python.
constexpr uint8_t python_tag = 0x42;

}  // namespace

void Writer::number(uint64_t number) {
  char groups[10];
  size_t count = 0;
  for (; number >= 0x80; number >>= 7)
    groups[count++] = static_cast<char>(number | 0x80);
  groups[count++] = static_cast<char>(number);
  bytes_.append(groups, count);
}

void Writer::text(std::string_view text) {
  number(text.size());
  bytes_.append(text);
}

namespace {

/// Whether a text has a value at a name that says so: an instruction with its variables, a document.
/// The variables themselves are sealed, and the text would tell them all the same.
bool tells_named_secret(std::string_view text) {
  return text.find(':') != text.npos && mask_named_text(text) != text;
}

}  // namespace

bool Writer::is_secret(const Value& value) const {
  if (!seals_texts())
    return false;
  if (value.is_text())
    return sealing_.secrets->has_secret(value.text()) || tells_named_secret(value.text());
  return value.is_deferred() && std::ranges::any_of(value.parts(), [this](const Part& part) {
           return sealing_.secrets->has_secret(part.text);
         });
}

void Writer::digest(Digest digest) {
  number(digest.high);
  number(digest.low);
}

void Writer::sealed(uint8_t tag, const Value& value) {
  Writer plain;
  plain.value(value);
  bytes_.push_back(static_cast<char>(tag));
  text(sealing_.seal->close(plain.take()));
}

/// A dict of variables: those whose name says so are sealed, whatever their value.
void Writer::variables(const Value& value) {
  bytes_.push_back(static_cast<char>(value.type()));
  number(value.entries().size());
  for (const Entry& entry : value.entries()) {
    text(entry.key);
    if (is_secret_name(entry.key) && (entry.value.is_text() || entry.value.is_deferred()))
      sealed(sealed_tag, entry.value);
    else
      this->value(entry.value);
  }
}

void Writer::value(const Value& value) {
  if (value.is_secret() && sealing_.seal != nullptr)
    return sealed(sealed_secret_tag, value.inside());
  if (is_secret(value))
    return sealed(sealed_tag, value);
  const bool is_python = value.is_deferred() && value.text_form() == TextForm::python;
  bytes_.push_back(is_python ? static_cast<char>(python_tag) : static_cast<char>(value.type()));
  switch (value.type()) {
    case Value::Type::null:
    case Value::Type::unknown:
      break;
    case Value::Type::boolean:
      number(value.boolean() ? 1 : 0);
      break;
    case Value::Type::integer:
      text(value.integer_digits());
      break;
    case Value::Type::real:
      number(std::bit_cast<uint64_t>(value.real()));
      break;
    case Value::Type::text:
      text(value.text());
      break;
    case Value::Type::list:
      number(value.items().size());
      for (const Value& item : value.items())
        this->value(item);
      break;
    case Value::Type::dict:
      number(value.entries().size());
      for (const Entry& entry : value.entries()) {
        text(entry.key);
        if (seals_texts() && entry.value.is_dict() && holds_variables(entry.key))
          variables(entry.value);
        else
          this->value(entry.value);
      }
      break;
    case Value::Type::deferred:
      number(value.parts().size());
      for (const Part& part : value.parts()) {
        text(part.hole.kind);
        text(part.is_hole() ? part.hole.name : part.text);
        if (part.is_hole())
          text(part.hole.path);
      }
      break;
    case Value::Type::secret:
      this->value(value.inside());
      break;
  }
}

void Reader::fail() {
  broken_ = true;
  rest_ = {};
}

uint8_t Reader::byte() {
  if (rest_.empty()) {
    fail();
    return 0;
  }
  const auto first = static_cast<uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return first;
}

Digest Reader::digest() {
  const uint64_t high = number();
  return {high, number()};
}

uint64_t Reader::number() {
  uint64_t number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const uint8_t group = byte();
    number |= static_cast<uint64_t>(group & 0x7F) << shift;
    if (group < 0x80)
      return number;
  }
  fail();
  return 0;
}

namespace {

/// Values that are read one after another mostly share their keys and small parts: these are kept
/// once. Sealed ones are not kept.
class MetValues {
 public:
  Name name(std::string_view text) {
    if (text.size() > longest)
      return Name(text);
    Name& kept = names_[std::hash<std::string_view>()(text) % names_.size()];
    if (kept.view() != text)
      kept = Name(text);
    return kept;
  }
  Value dict(std::vector<Entry> entries) {
    const bool is_small = entries.size() <= most_entries;
    Value made = Value::dict(std::move(entries));
    if (!is_small || made.depth() > deepest_shared || made.has_secret())
      return made;
    Value& kept = dicts_[made.digest().high % dicts_.size()];
    if (kept != made)
      kept = std::move(made);
    return kept;
  }

 private:
  static constexpr size_t longest = 32, most_entries = 8;
  static constexpr uint32_t deepest_shared = 3;
  std::array<Name, 512> names_;
  std::array<Value, 256> dicts_;
};

MetValues& shared() {
  static thread_local MetValues one;
  return one;
}

}  // namespace

std::string_view Reader::text() {
  const uint64_t size = number();
  if (size > rest_.size()) {
    fail();
    return {};
  }
  const std::string_view text = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return text;
}

std::optional<Value> Reader::unsealed(std::string_view sealed) {
  if (parts_ != nullptr)
    parts_->push_back(sealed);
  const std::optional<std::string> plain = seal_ == nullptr ? std::nullopt : seal_->open(sealed);
  if (!plain)
    return std::nullopt;
  Reader inside(*plain);
  Value value = inside.value();
  if (inside.broken() || !inside.at_end())
    fail();
  return value;
}

Value Reader::value(int depth) {
  const uint8_t tag = byte();
  if ((tag == sealed_tag || tag == sealed_secret_tag) && depth <= deepest_coded) {
    std::optional<Value> opened = unsealed(text());
    if (!opened || tag == sealed_secret_tag)
      return Value::secret(opened ? *std::move(opened) : Value::unknown());
    return *std::move(opened);
  }
  const bool is_python = tag == python_tag;
  if (depth > deepest_coded || (!is_python && tag > static_cast<uint8_t>(Value::Type::secret)))
    fail();
  if (broken_)
    return {};
  switch (is_python ? Value::Type::deferred : static_cast<Value::Type>(tag)) {
    case Value::Type::null:
      return {};
    case Value::Type::unknown:
      return Value::unknown();
    case Value::Type::boolean:
      return number() != 0;
    case Value::Type::integer:
      return Value::big_integer(text());
    case Value::Type::real:
      return std::bit_cast<double>(number());
    case Value::Type::text:
      return seal_ == nullptr ? Value(text()) : Value(shared().name(text()));
    case Value::Type::list: {
      std::vector<Value> items;
      for (uint64_t count = number(); count > 0 && !broken_; --count)
        items.push_back(value(depth + 1));
      return Value::list(std::move(items));
    }
    case Value::Type::dict: {
      std::vector<Entry> entries;
      for (uint64_t count = number(); count > 0 && !broken_; --count) {
        Name key = seal_ == nullptr ? Name(text()) : shared().name(text());
        entries.push_back({std::move(key), value(depth + 1)});
      }
      if (seal_ == nullptr || broken_)
        return Value::dict(std::move(entries));
      return shared().dict(std::move(entries));
    }
    case Value::Type::deferred: {
      std::vector<Part> parts;
      for (uint64_t count = number(); count > 0 && !broken_; --count) {
        Name kind(text()), name(text());
        if (kind.empty())
          parts.emplace_back(name);
        else
          parts.emplace_back(Output{kind, name, text()});
      }
      return Value::deferred(std::move(parts), is_python ? TextForm::python : TextForm::starlark);
    }
    case Value::Type::secret:
      return Value::secret(value(depth + 1));
  }
  return {};
}

}  // namespace fettle
