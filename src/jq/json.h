#pragma once
/// The values of jq programs. Nobody sees a shared value change: copies share it, and an edit
/// copies it first unless nobody else holds it. Every text, list and dict takes its bytes from the
/// budget of the computation (`Budget::current`) and gives them back. One that is nested deeper
/// than `deepest` refuses the budget.
///
/// A number is one of four, as in gojq, because they compute and are written differently: an
/// `integer` of 64 bits; a `whole` one of any size, which is what becomes of integers beyond that
/// and stays one; a `real`; and a `numeral`, the text of a number that `fromjson` read and with
/// which nothing was computed yet.

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fettle::jq {

constexpr uint32_t deepest = 1'000;

struct Member;

class Json {
 public:
  /// `hole` marks an item that `delpaths` removes; programs never see it.
  enum class Kind : uint8_t {
    null,
    boolean,
    integer,
    real,
    whole,
    numeral,
    text,
    list,
    dict,
    hole
  };
  using List = std::vector<Json>;
  using Dict = std::vector<Member>;  ///< by key

  Json() = default;  ///< null
  static Json boolean(bool value);
  static Json integer(int64_t value);
  static Json real(double value);
  static Json whole(std::string digits);
  static Json numeral(std::string text);
  static Json text(std::string text);
  static Json list(List items);
  static Json dict(Dict members);  ///< in any order; of several with one key the last counts
  static Json hole();

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_text() const { return kind_ == Kind::text; }
  bool is_list() const { return kind_ == Kind::list; }
  bool is_dict() const { return kind_ == Kind::dict; }
  bool is_hole() const { return kind_ == Kind::hole; }
  bool is_number() const { return kind_ >= Kind::integer && kind_ <= Kind::numeral; }
  bool is_true() const { return !is_null() && !(kind_ == Kind::boolean && !word_.boolean); }

  bool boolean() const { return word_.boolean; }
  int64_t integer() const { return word_.integer; }
  double real() const { return word_.real; }
  const std::string& text() const;               ///< of a text, a numeral, a whole number
  const List& items() const;                     ///< of a list
  const Dict& members() const;                   ///< of a dict
  const Json* find(std::string_view key) const;  ///< of a dict; none when there is none

  /// The value with another one at a place, and null up to it.
  Json with_item(size_t at, Json value) &&;
  Json with_member(std::string_view key, Json value) &&;
  /// Takes out the value at a place, to edit it without a copy. Null stays there.
  Json take_item(size_t at);
  Json take_member(std::string_view key);

  /// Whether both are the same, and not only equal. Equal scalars are the same, and so are all
  /// empty lists.
  bool is_same(const Json& other) const;

 private:
  struct Node;
  explicit Json(Kind kind) : kind_(kind) {}
  static Json made(Kind kind, std::variant<std::string, List, Dict> held);
  Node& own();

  Kind kind_ = Kind::null;
  union {
    bool boolean;
    int64_t integer;
    double real;
  } word_{.integer = 0};
  std::shared_ptr<Node> node_;
};

struct Member {
  Json key;  ///< a text
  Json value;
};

std::string_view type_name(const Json& value);
/// The number of steps to go through it once, without the contents of its parts.
uint64_t weight_of(const Json& value);

/// The order of jq. NaN is less than every number, itself included.
int compare(const Json& a, const Json& b);

/// The number for which a numeral stands; any other value unchanged.
Json computable(const Json& value);
/// The value of the text of a number: an integer, a whole number or a real. Infinite: it is beyond
/// those.
Json number_of(std::string_view text);
/// For a number that is no real.
std::string digits_of(const Json& number);
/// None: it is no number. A real is cut off, and clamped.
std::optional<int64_t> to_integer(const Json& value);
std::optional<double> to_real(const Json& value);
int64_t clamped(double number);

/// The place where a character of a text begins; in broken UTF-8, each byte counts as one.
size_t length_of_character(std::string_view text, size_t at);
int64_t count_characters(std::string_view text);

}  // namespace fettle::jq
