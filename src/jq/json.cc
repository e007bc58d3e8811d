#include "jq/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/budget.h"
#include "base/text.h"
#include "value/whole.h"

namespace fettle::jq {

struct Json::Node {
  explicit Node(std::variant<std::string, List, Dict> held_) : held(std::move(held_)) { measure(); }
  Node(const Node& other) : Node(other.held) {}
  Node& operator=(const Node&) = delete;
  ~Node() { Budget::current().give_back(bytes); }

  /// Charges for its growth since the last call, and checks its depth.
  void measure() {
    uint64_t size = sizeof(Node);
    depth = 0;
    if (const auto* text = std::get_if<std::string>(&held)) {
      size += text->size();
    } else if (const auto* items = std::get_if<List>(&held)) {
      size += items->size() * sizeof(Json);
      for (const Json& item : *items)
        hold(item);
    } else {
      const Dict& members = std::get<Dict>(held);
      size += members.size() * sizeof(Member);
      for (const Member& member : members)
        hold(member.value);
    }
    resize(size);
  }
  void hold(const Json& item) {
    if (item.node_ == nullptr || item.kind_ == Kind::text)
      return;
    depth = std::max(depth, item.node_->depth + 1);
    if (depth > deepest)
      Budget::current().refuse(cat("a value is nested deeper than ", deepest));
  }
  void resize(uint64_t size) {
    if (size > bytes)
      Budget::current().take(size - bytes);
    else
      Budget::current().give_back(bytes - size);
    bytes = size;
  }

  std::variant<std::string, List, Dict> held;
  uint64_t bytes = 0;
  uint32_t depth = 0;
};

namespace {

const Json::List no_items;
const Json::Dict no_members;

auto place_of(const Json::Dict& members, std::string_view key) {
  return std::ranges::lower_bound(
      members, key, {}, [](const Member& member) { return std::string_view(member.key.text()); });
}

}  // namespace

Json Json::made(Kind kind, std::variant<std::string, List, Dict> held) {
  Json json(kind);
  json.node_ = std::make_shared<Node>(std::move(held));
  // A value that is too deep is not kept, so that no walk through it runs out of stack.
  if (json.node_->depth > deepest)
    return {};
  return json;
}

Json Json::boolean(bool value) {
  Json json(Kind::boolean);
  json.word_.boolean = value;
  return json;
}

Json Json::integer(int64_t value) {
  Json json(Kind::integer);
  json.word_.integer = value;
  return json;
}

Json Json::real(double value) {
  Json json(Kind::real);
  json.word_.real = value;
  return json;
}

Json Json::whole(std::string digits) { return made(Kind::whole, std::move(digits)); }
Json Json::numeral(std::string text) { return made(Kind::numeral, std::move(text)); }
Json Json::text(std::string text) { return made(Kind::text, std::move(text)); }
Json Json::list(List items) { return made(Kind::list, std::move(items)); }
Json Json::hole() { return Json(Kind::hole); }

Json Json::dict(Dict members) {
  const auto less = [](const Member& a, const Member& b) { return a.key.text() < b.key.text(); };
  if (!std::ranges::is_sorted(members, less))
    std::ranges::stable_sort(members, less);
  // The last of several equal keys stays.
  const auto kept =
      std::unique(members.rbegin(), members.rend(),
                  [](const Member& a, const Member& b) { return a.key.text() == b.key.text(); });
  members.erase(members.begin(), kept.base());
  return made(Kind::dict, std::move(members));
}

const std::string& Json::text() const { return std::get<std::string>(node_->held); }
const Json::List& Json::items() const { return is_list() ? std::get<List>(node_->held) : no_items; }
const Json::Dict& Json::members() const {
  return is_dict() ? std::get<Dict>(node_->held) : no_members;
}

const Json* Json::find(std::string_view key) const {
  const auto found = place_of(members(), key);
  return found != members().end() && found->key.text() == key ? &found->value : nullptr;
}

Json::Node& Json::own() {
  if (node_.use_count() != 1) {
    node_ = std::make_shared<Node>(*node_);
    Budget::current().spend(weight_of(*this));
  }
  return *node_;
}

Json Json::with_item(size_t at, Json value) && {
  Json json = is_list() ? std::move(*this) : list({});
  Node& node = json.own();
  List& items = std::get<List>(node.held);
  if (at >= items.size()) {
    if (!Budget::current().has_room((at + 1 - items.size()) * sizeof(Json)))
      return {};
    items.resize(at + 1);
  }
  items[at] = std::move(value);
  node.hold(items[at]);
  node.resize(sizeof(Node) + items.size() * sizeof(Json));
  return node.depth > deepest ? Json() : json;
}

Json Json::with_member(std::string_view key, Json value) && {
  Json json = is_dict() ? std::move(*this) : dict({});
  Node& node = json.own();
  Dict& members = std::get<Dict>(node.held);
  auto at = members.begin() + (place_of(members, key) - members.cbegin());
  Budget::current().spend(static_cast<uint64_t>(members.end() - at) / 64);
  if (at == members.end() || at->key.text() != key)
    at = members.insert(at, {text(std::string(key)), {}});
  at->value = std::move(value);
  node.hold(at->value);
  node.resize(sizeof(Node) + members.size() * sizeof(Member));
  return node.depth > deepest ? Json() : json;
}

Json Json::take_item(size_t at) {
  if (at >= items().size())
    return {};
  return node_.use_count() == 1 ? std::exchange(std::get<List>(node_->held)[at], {}) : items()[at];
}

Json Json::take_member(std::string_view key) {
  const auto found = place_of(members(), key);
  if (found == members().end() || found->key.text() != key)
    return {};
  if (node_.use_count() != 1)
    return found->value;
  Dict& own = std::get<Dict>(node_->held);
  return std::exchange(own[static_cast<size_t>(found - members().begin())].value, {});
}

bool Json::is_same(const Json& other) const {
  if (kind_ == Kind::list && other.kind_ == Kind::list)
    return node_ == other.node_ || (items().empty() && other.items().empty());
  if (kind_ == Kind::dict || other.kind_ == Kind::dict)
    return node_ == other.node_;
  if (kind_ != other.kind_)
    return false;
  switch (kind_) {
    case Kind::boolean:
      return boolean() == other.boolean();
    case Kind::integer:
      return integer() == other.integer();
    case Kind::real:
      return real() == other.real() || (std::isnan(real()) && std::isnan(other.real()));
    case Kind::whole:
      return node_ == other.node_;
    case Kind::numeral:
    case Kind::text:
      return text() == other.text();
    default:
      return true;
  }
}

uint64_t weight_of(const Json& value) {
  constexpr uint64_t bytes = 64, parts = 8;
  return value.is_text()   ? value.text().size() / bytes
         : value.is_list() ? value.items().size() / parts
                           : value.members().size() / parts;
}

std::string_view type_name(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::boolean:
      return "boolean";
    case Json::Kind::integer:
    case Json::Kind::real:
    case Json::Kind::whole:
    case Json::Kind::numeral:
      return "number";
    case Json::Kind::text:
      return "string";
    case Json::Kind::list:
      return "array";
    case Json::Kind::dict:
      return "object";
    default:
      return "null";
  }
}

namespace {

int sign_of(std::strong_ordering order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

int rank(const Json& value) {
  if (value.is_null() || value.is_hole())
    return 0;
  if (value.kind() == Json::Kind::boolean)
    return value.boolean() ? 2 : 1;
  if (value.is_number())
    return 3;
  return value.is_text() ? 4 : value.is_list() ? 5 : 6;
}

int compare_numbers(const Json& given_a, const Json& given_b) {
  const Json a = computable(given_a), b = computable(given_b);
  if (a.kind() == Json::Kind::integer && b.kind() == Json::Kind::integer)
    return sign_of(a.integer() <=> b.integer());
  if (a.kind() != Json::Kind::real && b.kind() != Json::Kind::real)
    return sign_of(whole::compare(digits_of(a), digits_of(b)));
  const double x = *to_real(a), y = *to_real(b);
  return x < y || std::isnan(x) ? -1 : x == y ? 0 : 1;
}

int compare_lists(const Json::List& a, const Json::List& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (const int order = compare(a[i], b[i]); order != 0)
      return order;
  return sign_of(a.size() <=> b.size());
}

/// Compares their keys first, as lists, then their values.
int compare_dicts(const Json::Dict& a, const Json::Dict& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (const int order = sign_of(a[i].key.text() <=> b[i].key.text()); order != 0)
      return order;
  if (a.size() != b.size())
    return sign_of(a.size() <=> b.size());
  for (size_t i = 0; i < a.size(); ++i)
    if (const int order = compare(a[i].value, b[i].value); order != 0)
      return order;
  return 0;
}

}  // namespace

int compare(const Json& a, const Json& b) {
  if (!Budget::current().spend(1))
    return 0;
  const int rank_a = rank(a), rank_b = rank(b);
  if (rank_a != rank_b)
    return rank_a < rank_b ? -1 : 1;
  if (a.is_number())
    return compare_numbers(a, b);
  if (a.is_text())
    return sign_of(a.text() <=> b.text());
  if (a.is_list())
    return compare_lists(a.items(), b.items());
  return a.is_dict() ? compare_dicts(a.members(), b.members()) : 0;
}

namespace {

/// Digits with or without a sign, if they fit into 64 bits.
std::optional<int64_t> small_integer(std::string_view text) {
  if (text.starts_with('+'))
    text.remove_prefix(1);
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string digits_of(const Json& number) {
  return number.kind() == Json::Kind::integer ? std::to_string(number.integer()) : number.text();
}

Json number_of(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  const std::string_view bare = text.substr(is_negative || text.starts_with('+') ? 1 : 0);
  if (bare.find_first_of(".eE") == bare.npos) {
    if (const std::optional<int64_t> small = small_integer(text))
      return Json::integer(*small);
    if (bare.size() <= whole::most_digits)
      return Json::whole(std::string(is_negative ? "-" : "").append(whole::of_base(bare, 10)));
    Budget::current().refuse(cat("a number has more than ", whole::most_digits, " digits"));
    return {};
  }
  double number = 0;
  const auto [end, failure] = std::from_chars(bare.data(), bare.data() + bare.size(), number);
  if (failure == std::errc::result_out_of_range)  // too small is nothing, too large is infinite
    number = std::strtod(std::string(bare).c_str(), nullptr);
  return Json::real(is_negative ? -number : number);
}

Json computable(const Json& value) {
  return value.kind() == Json::Kind::numeral ? number_of(value.text()) : value;
}

int64_t clamped(double number) {
  constexpr double end = 9223372036854775808.0;
  if (number >= -end && number < end)
    return static_cast<int64_t>(number);
  return number > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

std::optional<int64_t> to_integer(const Json& value) {
  const Json number = computable(value);
  switch (number.kind()) {
    case Json::Kind::integer:
      return number.integer();
    case Json::Kind::real:
      return clamped(number.real());
    case Json::Kind::whole:
      if (const std::optional<int64_t> small = small_integer(number.text()))
        return small;
      return number.text().starts_with('-') ? std::numeric_limits<int64_t>::min()
                                            : std::numeric_limits<int64_t>::max();
    default:
      return std::nullopt;
  }
}

std::optional<double> to_real(const Json& value) {
  const Json number = computable(value);
  switch (number.kind()) {
    case Json::Kind::integer:
      return static_cast<double>(number.integer());
    case Json::Kind::real:  // a numeral that no real is near is none
      return value.kind() == Json::Kind::numeral && std::isinf(number.real())
                 ? std::nullopt
                 : std::optional(number.real());
    case Json::Kind::whole:
      return whole::to_real(number.text());
    default:
      return std::nullopt;
  }
}

size_t length_of_character(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const unsigned first = byte(0);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 1
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                                       : 4;
  if (length == 1 || first > 0xF4)
    return 1;
  const unsigned second = byte(1);
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (second < least || second > most)
    return 1;
  for (size_t i = 2; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xBF)
      return 1;
  return length;
}

int64_t count_characters(std::string_view text) {
  int64_t count = 0;
  for (size_t at = 0; at < text.size(); at += length_of_character(text, at))
    ++count;
  return count;
}

}  // namespace fettle::jq
