#pragma once
/// The definitions of a model, with every name resolved: types, entities, relations, indexes and
/// implementations. `declare/declare.cc` builds them once, and the machine reads them.

#include <bit>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/budget.h"
#include "base/result.h"
#include "base/time.h"
#include "model/program/key_table.h"
#include "model/project/project.h"
#include "model/syntax/parser.h"

namespace fettle::model {

class Python;
struct Task;
struct Frame;
struct Space;

enum class Base : uint8_t {
  any,
  string,
  integer,
  floating,
  boolean,
  number,
  list,
  dict,
  constrained
};

struct Typedef;
struct Type {
  Base base = Base::any;
  bool is_list = false;
  bool is_nullable = false;
  const Typedef* constraint = nullptr;
  std::string name;  ///< as errors print it
};
struct Typedef {
  std::string full_name;
  Place at;
  Type base;
  const Expr* condition = nullptr;
};

enum class Shape : uint8_t { value, one, option, list };

struct Attribute {
  Symbol name = 0;
  Entity* owner = nullptr;
  Shape shape = Shape::value;
  Type type;                 ///< of a value
  Entity* target = nullptr;  ///< of a relation
  Multiplicity count;
  Attribute* inverse = nullptr;
  Place at;
  bool is_in_index = false;
  bool comes_before = false;  ///< of another relation, by a rule of the project
  uint32_t precedence = 0;    ///< in which order rules freeze it, from 1; 0: no rule names it
};

/// What one `implement` statement selects.
struct Implement {
  std::vector<Implementation*> implementations;
  const Expr* condition = nullptr;
  Place at;
};

struct Implementation {
  Symbol name = 0;
  Entity* entity = nullptr;
  const ImplementationDefinition* definition = nullptr;
};

struct Index {
  Entity* entity = nullptr;
  std::vector<Symbol> names;  ///< sorted by text
  Place at;
  KeyTable instances;  ///< its keys are in the program's arena
  std::unordered_map<std::string, std::vector<Task*>> waiting;
};

constexpr uint32_t no_slot = UINT32_MAX;

/// Slots by name, in a table twice as large as their number: a table of all names of a model for
/// each of its entities would be too large.
class SlotTable {
 public:
  /// Makes room for this many names.
  void reserve(size_t count) {
    rows_.assign(std::bit_ceil(2 * count + 1), {0, no_slot});
    mask_ = rows_.size() - 1;
  }
  uint32_t find(Symbol name) const {
    if (rows_.empty())
      return no_slot;
    for (size_t at = name & mask_;; at = (at + 1) & mask_)
      if (rows_[at].slot == no_slot || rows_[at].name == name)
        return rows_[at].slot;
  }
  /// Adds a name that is not there yet.
  void add(Symbol name, uint32_t slot) {
    size_t at = name & mask_;
    while (rows_[at].slot != no_slot)
      at = (at + 1) & mask_;
    rows_[at] = {name, slot};
  }

 private:
  struct Row {
    Symbol name;
    uint32_t slot;
  };
  std::vector<Row> rows_;
  size_t mask_ = 0;
};

struct Entity {
  Symbol name = 0;
  std::string full_name;
  Space* space = nullptr;
  const EntityDefinition* definition = nullptr;
  uint32_t id = 0;
  bool is_linked = false;
  std::vector<Entity*> parents;
  std::vector<Entity*> children;
  std::vector<Entity*>
      lineage;  ///< itself and all ancestors: children before parents, then left before right
  std::deque<Attribute> own;
  std::vector<Attribute*> slots;
  SlotTable slot_of;            ///< by name
  std::vector<Datum> defaults;  ///< by slot; unset without one
  std::vector<Index*> indexes;
  std::vector<uint32_t> key_slots;  ///< of all indexes, each once
  std::vector<Implement> implements;
  std::vector<const Implement*> selected;  ///< its own and, through `parents`, theirs
  bool uses_parents = false;
  bool is_selected = false;
  int depth = 0;  ///< how many ancestors one above the other
  std::unordered_map<Symbol, Attribute*> own_by_name;

  bool is_a(const Entity* other) const {
    for (const Entity* ancestor : lineage)
      if (ancestor == other)
        return true;
    return false;
  }
  uint32_t slot(Symbol symbol) const { return slot_of.find(symbol); }
};

/// A variable of a block: its cell, and where the block declares it.
struct Variable {
  uint32_t slot = 0;
  std::vector<Place> places;
};
using Variables = boost::unordered_flat_map<Symbol, Variable>;

/// A namespace: one file.
struct Space {
  std::string name;
  uint32_t id = 0;
  const Module* module = nullptr;  ///< null for `std` and the main file
  Unit unit;
  std::unordered_map<Symbol, Entity*> entities;
  std::unordered_map<Symbol, Typedef*> typedefs;
  std::unordered_map<Symbol, Implementation*> implementations;
  Variables variables;                                   ///< of the file's own block
  std::unordered_map<std::string, std::string> imports;  ///< the name used here, the namespace
  Frame* frame = nullptr;
};

struct SourceFile {
  std::string name;
  std::string text;
};

/// One line of a trace: what happened, and in which statement.
struct Reason {
  /// Some are reported in their own way: that an attribute was not set, what is wrong with a value
  /// that a relation cannot take, and an exception of a plugin.
  enum class Kind : uint8_t { other, attribute, value, exception };
  std::string message;
  std::string reported{};  ///< `x = 1 (m.cf:2)`; may be empty
  Kind kind = Kind::other;
};

/// The order of errors, as in Inmanta: first wrong uses, then missing things, then changes that
/// come too late, then what plugins say, then missing values.
enum class Importance : uint8_t {
  first = 0,  ///< a file that cannot be read, a rule of the project that is none
  dataclass = 9,
  typing = 10,
  argument = 11,  ///< of a plugin
  not_found = 20,
  duplicate = 40,  ///< of a key, or of what is declared
  frozen = 50,
  twice = 51,  ///< a value that is set to another one
  plugin = 60,
  no_value = 61,
  no_key = 70,  ///< of a dict
  other = 100
};

struct Failure {
  Error error;
  Importance importance = Importance::other;
  uint8_t attributes = 0;         ///< that it kept from being set; each is told after its cause
  std::vector<Reason> reasons{};  ///< outermost first; empty: the error's message is all
  std::string meant{};            ///< a name near the one that is not there; may be empty
  std::string explanation{};      ///< how it came to that and what to do, in lines; may be empty

  /// Lower numbers are reported first.
  int order() const { return static_cast<int>(importance) + attributes; }
};

/// The whole trace of a failure, with every cause two blanks deeper.
std::string trace_of(const Failure& failure, size_t indent);

/// A constructor that met an index and returned an existing instance. Its arguments contributed the
/// same values once more, with `by` as the maker (see `instance.h`).
struct Construction {
  const Instance* instance;
  const Constructor* node;
  uint32_t by;
};

struct Program {
  /// The budget of the compile: everything that the model makes counts, and walks over its values
  /// ask it (`Budget::current`).
  std::shared_ptr<Budget> budget = std::make_shared<Budget>(Budget::Limits{});
  Arena arena;
  Symbols symbols;
  std::deque<SourceFile> files;
  std::map<std::string, Module, std::less<>> modules;  ///< loaded ones by name
  std::deque<Space> spaces;
  std::deque<Entity> entities;
  std::deque<Typedef> typedefs;
  std::deque<Implementation> implementations;
  std::deque<Index> indexes;
  std::unordered_map<std::string, std::shared_ptr<const Plugin>> plugins;  ///< by full name
  std::unordered_map<std::string, std::shared_ptr<void>> plugin_files;     ///< read once, by path
  /// Whether a pattern that RE2 refuses matches from the start of a text. Error: it is no pattern.
  std::function<Result<bool>(std::string_view pattern, std::string_view text)> match_elsewhere;
  std::shared_ptr<Python> python;  ///< of the modules, once something is asked of it
  Path home;                       ///< where fettle's part in Python is unpacked; may be empty
  std::vector<Path> module_path;
  std::function<void(const Error&)> warn;  ///< may be empty
  Path folder;                             ///< of the project
  std::string environment;               ///< what `std::environment()` gives; empty: not configured
  std::function<Result<Value>()> facts;  ///< `CompileOptions::facts`; may be empty
  Duration plugin_time_limit{};
  std::deque<Construction> constructions;  ///< never moved: there may be millions
  /// Their places by instance, as far as somebody asked for them.
  mutable std::unordered_map<const Instance*, std::vector<Place>> constructed_again;
  mutable size_t constructions_counted = 0;
  /// Whether repetitions and readings are remembered, which only versions need.
  bool is_for_version = true;
  Entity* root = nullptr;  ///< `std::Entity`

  /// `file:line`, with the column if the place is exact.
  std::string location(Place at) const;

  Error error_at(Place at, std::string message) const;
  Space* space(std::string_view name);
  /// The namespace for which `name` stands in `from`. Null: it is not imported.
  Space* imported(const Space& from, std::string_view name);
  /// The namespace around one. Null: there is none.
  Space* enclosing(const Space& from);
  /// A type or a function is not there; names the import that may be missing.
  std::string not_found(const Space& from, const QualifiedName& name);
  Entity* find_entity(const Space& from, const QualifiedName& name);
  std::string text(const QualifiedName& name) const;
};

/// The failure of a compile whose budget is used up.
Failure too_much(const Program& program);

/// The plugin of a namespace. Null: it has none of that name (`plugins/plugins.cc`).
const Plugin* find_plugin(Program& program, Space& space, std::string_view name);

/// The names of the plugins that fettle ships for a namespace.
std::vector<std::string> shipped_plugins(const Space& space);

}  // namespace fettle::model
