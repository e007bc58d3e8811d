#pragma once
/// Attributes and outputs are made of values. A value never changes, and copies share their parts.
/// To compare two values, only their digests are compared, which were made with them. Dicts have
/// one order, that of their keys' bytes.
///
/// Beside JSON's types a value can be
/// * `unknown`: nobody knows it yet, and no run of ours will find it out;
/// * `deferred`: a text with *holes*, each for an output of another resource;
/// * `secret`: a mark around a value that no event, log or page may show.
///
/// *Holes.* A description uses what does not exist yet: the address of a service that has not been
/// started, the output of a command that has not run. The obvious way is to run the description
/// step by step, and to go on when the value is there. Then nothing can be planned before it is
/// done, and nothing runs in parallel. The other obvious way is a text that stands for the value,
/// such as `{{db.ip_address}}`. It breaks as soon as a program cuts it, and it looks like a text
/// that a user wrote. So a hole is a type of its own: it names the output (`Output`) and not the
/// value, and it can be compared, stored and planned with like any other value. For example,
/// `"http://" + db.ip_address + ":80"` is three parts, text, hole and text; `holes` finds
/// `service/db`, `ip_address`.
///
/// Invariants:
/// * A hole is a need: the graph makes an edge to the resource that it names (`plan/graph.h`), so
///   nobody has to say it again.
/// * Two deferred values are equal when their texts and holes are, whatever will fill them. Records
///   keep attributes with their holes; whether an output is another one is told by digests of the
///   outputs in use (`Record::acted_on`).
/// * `fill_holes` puts outputs in just before the act (`Run::filled_attributes`), and its kind
///   checks the result like anything that was written.
/// * A hole that stands alone becomes the output as it is, of any type. In a text an output is
///   written as a text (`TextForm`); an unknown there makes all of it unknown, a secret all of it
///   secret.
/// * What is not known stays a hole.
///
/// To add a type: an enumerator, a case in value.cc, json.cc and codec.cc.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "value/name.h"

namespace fettle {

struct Entry;
struct Part;

/// How the output that fills a hole in a text is written: as Starlark's `str` does, or as Python's.
/// Both leave a text as it is.
enum class TextForm : uint8_t { starlark, python };

class Value {
 public:
  enum class Type : uint8_t {
    null,
    boolean,
    integer,
    real,
    text,
    list,
    dict,
    unknown,
    deferred,
    secret
  };

  Value() = default;                                                   ///< null
  Value(bool value) : type_(Type::boolean) { word_.boolean = value; }  // NOLINT
  template <typename Integer>
    requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
  Value(Integer value) : type_(Type::integer) {  // NOLINT
    word_.integer = static_cast<int64_t>(value);
  }
  Value(double value) : type_(Type::real) { word_.real = value; }  // NOLINT
  Value(Name text);                                                // NOLINT
  Value(std::string_view text) : Value(Name(text)) {}              // NOLINT
  Value(const std::string& text) : Value(Name(text)) {}            // NOLINT
  Value(const char* text) : Value(Name(text)) {}                   // NOLINT
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(Value other) noexcept;
  ~Value();

  /// An integer of any size from its decimal digits with an optional sign; small ones become plain.
  static Value big_integer(std::string_view digits);
  static Value list(std::vector<Value> items);
  /// Sorted here; of several entries with one key the last counts.
  static Value dict(std::vector<Entry> entries);
  static Value dict(std::initializer_list<Entry> entries);
  static Value unknown();
  /// Adjoining texts are joined; no hole at all gives a plain text. What fills a hole that stands
  /// alone stays what it is, whatever the form.
  static Value deferred(std::vector<Part> parts, TextForm form = TextForm::starlark);
  static Value secret(Value inside);

  Type type() const { return type_; }
  bool is_null() const { return type_ == Type::null; }
  bool is_bool() const { return type_ == Type::boolean; }
  bool is_integer() const { return type_ == Type::integer; }
  bool is_real() const { return type_ == Type::real; }
  bool is_text() const { return type_ == Type::text; }
  bool is_list() const { return type_ == Type::list; }
  bool is_dict() const { return type_ == Type::dict; }
  bool is_unknown() const { return type_ == Type::unknown; }
  bool is_deferred() const { return type_ == Type::deferred; }
  bool is_secret() const { return type_ == Type::secret; }

  bool boolean() const;                    ///< of a bool
  std::optional<int64_t> integer() const;  ///< of an integer; none when it has more than 64 bits
  std::string integer_digits() const;      ///< of an integer of any size, decimal
  double real() const;                     ///< of a real
  Name text() const;                       ///< of a text
  std::span<const Value> items() const;    ///< of a list
  std::span<const Entry> entries() const;  ///< of a dict
  std::span<const Part> parts() const;     ///< of a deferred value
  TextForm text_form() const;              ///< of a deferred value
  const Value& inside() const;             ///< of a secret
  /// The value at a key of a dict. Null: there is none, or this is no dict.
  const Value* find(std::string_view key) const;
  /// The same; the value null if there is none.
  const Value& at(std::string_view key) const;
  /// The text at a key. `otherwise`: there is none, or it is no text.
  std::string_view text_at(std::string_view key, std::string_view otherwise = {}) const;
  int64_t integer_at(std::string_view key, int64_t otherwise = 0) const;
  bool bool_at(std::string_view key, bool otherwise = false) const;

  /// Whether such a part is anywhere inside, this value included. Constant time.
  bool has_deferred() const;
  bool has_unknown() const;
  bool has_secret() const;

  Digest digest() const;
  friend bool operator==(const Value& a, const Value& b) {
    return a.type_ == b.type_ && a.digest() == b.digest();
  }

  /// How deep lists and dicts are nested. 0: this is a scalar.
  uint32_t depth() const;

 private:
  struct Node;
  static Value made_list(std::vector<Value> items);
  static Value made_dict(std::vector<Entry> entries);
  static Value adopt(Type type, Node* node);
  Node* node() const;
  bool holds_node() const;
  void keep() const;
  void release();

  Type type_ = Type::null;
  bool big_ = false;  ///< an integer kept as digits
  union Word {
    int64_t integer;
    bool boolean;
    double real;
    void* node;
  } word_{0};
};

/// One entry of a dict.
struct Entry {
  Name key;
  Value value;
};

/// Names an output of another resource of the same environment: `path` leads there, see `follow`.
struct Output {
  Name kind;
  Name name;
  Name path;
  bool operator==(const Output&) const = default;
};

/// A piece of a deferred value: plain text, or a hole when `hole.kind` is not empty.
struct Part {
  Name text;
  Output hole;
  Part(Name text_) : text(std::move(text_)) {}    // NOLINT
  Part(Output hole_) : hole(std::move(hole_)) {}  // NOLINT
  bool is_hole() const { return !hole.kind.empty(); }
};

std::string_view to_string(Value::Type type);

/// Stands in place of a secret.
constexpr std::string_view masked = "********";

/// The form inside a text: a text without quotes, everything else as JSON. Secrets are masked.
std::string to_text(const Value& value);

/// The items of a list; nothing else has any.
inline std::span<const Value> items_of(const Value& value) {
  return value.is_list() ? value.items() : std::span<const Value>();
}

/// Every hole in `value`, in order of appearance.
std::vector<Output> holes(const Value& value);

/// `value` with its holes filled. `fill` answers the output, or nothing, and the hole stays.
Value fill_holes(const Value& value, const std::function<const Value*(const Output&)>& fill);

/// Follows a path through dicts and lists; none when it ends early. The empty path is `value`
/// itself. A path that begins with `/` is a list of keys and indices as in RFC 6901
/// (`/extract/user.name/0`; `~1` is `/`, `~0` is `~`); others are short for people, keys with dots
/// between and `[index]`, of which the longest key that is there counts.
const Value* follow(const Value& value, std::string_view path);

/// A key as a step of a path of RFC 6901, with its `/`.
std::string path_step(std::string_view key);

/// Paths that differ between two values, with dots and `[index]`; at most `limit`.
std::vector<std::string> differences(const Value& before, const Value& after, size_t limit = 20);

}  // namespace fettle
