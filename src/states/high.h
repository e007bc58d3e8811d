#pragma once
/// High data: the declarations of files in their order, as they were written. Malformed
/// declarations are reported here, in Idem's words.
///
///   ID:                         ID: state.function        ID:
///     state.function:                                       state:
///       - argument: value                                     - function
///       - require: [{state: ID}]                              - argument: value

#include <functional>
#include <span>
#include <vector>

#include "states/document.h"
#include "states/globals.h"
#include "states/position.h"

namespace fettle::states {

/// An argument as written: of the function, or a global one that is no requisite.
struct Argument {
  Name name;
  const TreeNode* value = nullptr;
  const Document* document = nullptr;
  Place at;  ///< of its name
  Position position() const { return document->places.position(at); }
  Position value_position() const { return document->position(*value); }
};

/// A state that a requisite names.
struct Wish {
  const GlobalArgument* requisite = nullptr;
  Name state;   ///< or `sls`
  Name target;  ///< an ID, a name, a pattern of these, `id[name]`, or the ref of a file
  Position at;
};

/// A line of `arg_bind` written by hand: `{state: [{id: [{source: target}]}]}`.
struct HandBinding {
  Name state;
  Name id;
  Name source;  ///< a path in what the state left
  Name target;  ///< a path in the arguments
  Position at;
};

/// The part of a declaration about one state.
struct Body {
  Name state;
  Name function;
  Name name;           ///< set by `arrange`
  int name_order = 0;  ///< its place in `names`, from 1
  /// Its place among all bodies, from `first_order` on. 0: it has none, and comes after those that
  /// have one.
  uint32_t implicit_order = 0;
  const Document* document = nullptr;
  Place at;                        ///< of its key
  bool is_short = false;           ///< `ID: state.function`
  bool is_whole = false;           ///< `state: [function]`, else `state.function: []`
  bool is_overfull = false;        ///< it had more arguments than are read, which was reported
  const TreeNode* list = nullptr;  ///< as it was written; null for a short one
  std::vector<Argument> arguments;
  std::vector<Wish> wishes;  ///< what it needs and uses, and who needs and uses it
  std::vector<HandBinding> bindings;
  Position position() const { return document->places.position(at); }
};

struct Declaration {
  Name id;
  const Document* document = nullptr;
  Place at;
  const TreeNode* meta = nullptr;
  std::vector<Body> bodies;
  Position position() const { return document->places.position(at); }
};

/// Something that `exclude` leaves out.
struct Exclusion {
  bool is_file = false;  ///< else it is an ID
  Name name;
  Position at;
};

struct High {
  std::vector<Declaration> declarations;
  std::vector<Declaration> extensions;
  std::vector<Exclusion> exclusions;
  std::vector<std::pair<Name, const TreeNode*>> metas;  ///< of files, by ref
};

struct HighOptions {
  bool is_lenient = false;  ///< the last of two functions counts
  /// Whether there is a state of this ref, for `a.b: [function]`.
  std::function<bool(std::string_view ref)> has_state;
};

/// The number from which Idem counts.
inline constexpr uint32_t first_order = 100'000;

/// It is an error if one state has more arguments, or one ID (without `names`) has more states.
inline constexpr size_t most_parts = 1000;

/// Whether one more argument is read.
bool has_room(Body& body, Position at, Report& report);

/// Reads the entries of a list of arguments, for `names`.
void read_arguments(const TreeNode& list, const Document& document, const Name& id, Report& report,
                    Body& body);

/// The documents must outlive the result.
High read_high(std::span<const Document> documents, const HighOptions& options, Report& report);

}  // namespace fettle::states
