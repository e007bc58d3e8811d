#pragma once
/// A jq program that is ready to run: a tree in which every name is resolved.
///
/// What a function or an argument binds lives in the slots of an activation, made each time that it
/// is entered. A name is so many activations outwards (`hops`) and a slot there.

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jq/failure.h"
#include "jq/json.h"

namespace fettle::jq {

/// The `hops` of a function that is written in jq and comes with the language.
constexpr uint32_t from_outside = ~uint32_t{0};

struct Native {
  std::string_view name;
  int arity;
  Answer (*compute)(const Json& input, std::span<const Json> arguments);
};

struct Function;

enum class Op : uint8_t {
  identity,
  constant,  ///< `key`
  variable,  ///< slot
  argument,  ///< slot: a function that was passed
  body,      ///< `function`, which takes nothing and belongs here: an argument where it is passed
  call,      ///< `function`, defined `hops` outwards, with `parts`
  native,    ///< `native`, with `parts`; from `quiet_from` on they are no part of a path
  range,     ///< `parts`: from, to, step
  pipe,      ///< a | b
  comma,     ///< a, b
  alternative,  ///< a // b
  condition,    ///< if a then b else c
  attempt,      ///< try a catch b; without b what fails gives nothing
  reduce,       ///< reduce a as slot (b; c), with its state in the first of `slots`
  foreach,      ///< foreach a as slot (b; c; d), likewise
  bind,         ///< a as slot | b
  choices,  ///< `parts`, of which each is tried when the one before failed; `slots` are null first
  label,    ///< slot: its number; a
  leave,    ///< break: slot
  list,     ///< [a]
  object,   ///< `parts`: key, value, key, value …
  iterate,  ///< .[]
  at,       ///< .[`key`]
  at_item,  ///< the same in a pattern: of lists and null only
  path,     ///< path(a)
  set,      ///< a path of constants (`key`) = a
  modify,   ///< a |= b
  empty,
};

/// The effect of a native function on the path that is being found.
enum class Moves : uint8_t { nothing, index, slice, getpath };

struct Node {
  Op op = Op::identity;
  Moves moves = Moves::nothing;
  uint32_t hops = 0, slot = 0;
  size_t quiet_from = ~size_t{0};
  const Node *a = nullptr, *b = nullptr, *c = nullptr, *d = nullptr;
  Json key;
  std::vector<const Node*> parts;
  std::vector<uint32_t> slots;
  const Function* function = nullptr;
  const Native* native = nullptr;
};

struct Function {
  std::string name;
  std::vector<std::string> parameters;  ///< `$x`: by value
  uint32_t slots = 0;                   ///< those of the parameters are the first
  const Node* body = nullptr;
};

/// Its nodes live as long as it does.
struct Program {
  std::deque<Node> nodes;
  std::deque<Function> functions;
  const Function* main = nullptr;
};

/// The functions that are written in C++.
using Natives = std::map<std::pair<std::string_view, size_t>, const Native*>;
const Natives& native_functions();
/// Finds a function by its name and number of arguments. Null: there is none.
const Native* find_native(std::string_view name, size_t arity);
/// The function of a format, without its `@`. None: there is no such format.
std::optional<std::string> format_function(const std::string& format);
/// The names of all functions, including those that are written in jq, as `name/arity`.
std::vector<std::string> known_functions();

}  // namespace fettle::jq
