#pragma once
/// The Starlark interpreter as a library: what a host needs, and no more. It knows no engine.
///
/// A `Session` is one evaluation of a program: its dialect, its limits, the names that the host
/// adds, and how modules are found. Running a file gives a frozen `Module`; a `Thread` calls its
/// functions.
///
///   Session session(Dialect::of(Profile::kurtosis), {.steps = 100'000'000, .memory = 512 << 20});
///   static const Signature signature("greet", {{"name", Want::text}, {"times?", Want::integer}});
///   session.predeclare("greet", session.native("greet", [](Call& call) -> Result<Value> {
///     const std::vector<Value> given = TRY(signature.bind(call));
///     const int64_t times = given[1].is_unset() ? 1 : integer_of(given[1]).value_or(0);
///     return call.heap().text(cat("hello ", text_of(given[0]), " ", times));
///   }));
///   session.load = [&](Thread&, std::string_view name) { return find_module(name); };
///   const ModulePtr module = TRY(session.run("main.star", text));
///   Thread thread(session);
///   const Value result = TRY(thread.call(module->get("run").value(), {plan}, {{"x", x}}));
///
/// `tests/starlark/embedding_test.cc` compiles these lines and runs them.
///
/// Values. A `Value` is one word; whatever is larger lives in a heap. A value of a thread's heap
/// lives until a collection does not find it. A collection happens only while Starlark code runs,
/// so a native function may hold values freely as long as it calls nothing that runs code
/// (`Thread::call`, `Thread::evaluate`, `Session::run`); over these it keeps them in a `Handle`.
/// Arguments of a native function are always kept for it. Values of a module live as long as the
/// module (a `ModulePtr` that some live module or thread loaded is kept by it).
///
/// Threads. A session is used by one thread at a time. Frozen modules may be shared by any number
/// of sessions and threads without locks.

#include <atomic>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "starlark/values/value.h"

namespace fettle {
class Value;
}

namespace fettle::starlark {

struct Vm;
class HeapAccess;
class Thread;
class Session;
class Module;
struct RecordType;
using ModulePtr = std::shared_ptr<const Module>;

/// `spec`: the specification. `go`: today's starlark-go. `kurtosis`: starlark-go of 2023-02 with
/// every switch off, with `import_module` instead of `load`, and without a plain `print`.
enum class Profile : uint8_t { spec, go, kurtosis };

/// The features that the language has. The switches have starlark-go's meaning.
struct Dialect {
  Profile profile = Profile::go;
  bool set = false;                  ///< the name `set` exists
  bool while_loops = false;          ///< `while`
  bool top_level_control = false;    ///< `if`, `for`, `while` outside functions
  bool global_reassign = false;      ///< globals may be bound again
  bool load_binds_globally = false;  ///< names of `load` are exported
  bool recursion = false;            ///< a function may call itself
  static Dialect of(Profile profile);
};

/// 0 means no limit, except for memory and depth.
struct Limits {
  uint64_t steps = 0;              ///< calls + iterations + what built-ins charge for their work
  uint64_t memory = u64(1) << 30;  ///< bytes of all heaps of the session
  uint32_t depth = 100'000;        ///< frames of Starlark functions
  uint64_t output = 0;             ///< bytes given to `print`
  Duration wall_time{0};           ///< of one run or call from the host
};

/// One argument or one field by name.
struct NamedValue {
  std::string_view name;
  Value value;
};

/// A call of a native function. Arguments stay valid while the function runs.
struct Call {
  Thread& thread;
  std::string_view function;  ///< its name, for messages
  std::span<const Value> positional;
  std::span<const Value> names;  ///< texts, one for each of `named`
  std::span<const Value> named;
  HeapAccess heap() const;
};

using NativeFunction = std::function<Result<Value>(Call&)>;

/// The types that a parameter accepts. Several are joined: `Want::text | Want::none`.
enum class Want : uint32_t {
  any = 0,
  none = 1,
  boolean = 2,
  integer = 4,
  real = 8,
  text = 16,
  bytes = 32,
  list = 64,
  tuple = 128,
  dict = 256,
  set = 512,
  callable = 1024,
  iterable = 2048,
  record = 4096,
  structure = 8192,
  number = integer | real
};
constexpr Want operator|(Want a, Want b) { return static_cast<Want>(u32(a) | u32(b)); }

/// A parameter: its name, which ends with `?` if it may be missing, and with `??` if None also
/// means missing; the types that it accepts; for `Want::record` the record type, if only one is
/// meant.
struct Parameter {
  std::string_view name;
  Want want = Want::any;
  const RecordType* type = nullptr;
};

/// The declared parameters of a native function: a table that lives as long as the function.
class Signature {
 public:
  Signature(std::string function, std::vector<Parameter> parameters);
  /// One value for each parameter; `unset`: none was given. Errors are worded as in starlark-go:
  /// `f: missing argument for x`, `f: unexpected keyword argument "y" (did you mean x?)`, `f: for
  /// parameter x: got int, want string`.
  Result<std::vector<Value>> bind(const Call& call) const;
  const std::string& function() const { return function_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  std::string function_;
  std::vector<Parameter> parameters_;
};

/// A type of the host: immutable objects with named fields. They print as a call of their
/// constructor, `Name(a=1, b="x")`, with the fields that are set, in the declared order. They are
/// equal if every field is. The type must live as long as anything that uses it (usually it is
/// static).
struct RecordType {
  std::string name;
  std::vector<std::string> fields;
  /// The text of `str` and `repr`, if it is not to be the constructor call.
  std::function<std::string(Value)> text;
  /// Whether fields that hold native functions only (methods) are left out of the text.
  bool hide_methods = true;
};

/// Makes values that live in this heap. Texts and items are copied. A value that would exceed the
/// memory limit is `Value::error()`: return it as it is, and the limit is reported.
class HeapAccess {
 public:
  explicit HeapAccess(Vm& vm) : vm_(vm) {}
  Value integer(int64_t n);
  Value integer(std::string_view decimal_digits);
  Value real(double x);
  Value text(std::string_view text);
  Value bytes(std::string_view bytes);
  Value list(std::span<const Value> items);
  Value tuple(std::span<const Value> items);
  Value dict(std::span<const NamedValue> entries = {});
  bool insert(Value dict, Value key, Value value);  ///< false when the key has no hash
  /// `struct(a = 1, …)`, sorted by name.
  Value structure(std::span<const NamedValue> fields);
  /// A structure with the same fields as another one, and new values in the order of their names.
  Value structure_like(Value structure, std::span<const Value> values);
  /// Fields that are not named are not set. It is a bug to name one that the type does not have.
  Value record(const RecordType& type, std::span<const NamedValue> fields);
  /// A module value: `name.field` with the text `<module "name">`.
  Value module(std::string_view name, std::span<const NamedValue> fields);
  Value native(std::string_view name, NativeFunction function);
  /// A value that the host does not know. It may be passed on; `was_looked_at` says whether
  /// anything depends on what it is.
  Value unknown();
  /// Reads JSON text. Dicts have the order of the text; the last of two equal keys counts.
  Result<Value> json(std::string_view text);
  /// A plain value. Deferred, secret and unknown parts are an error.
  Result<Value> value(const fettle::Value& value);

 private:
  Vm& vm_;
};

// Reading values.
enum class Type : uint8_t {
  none,
  boolean,
  integer,
  real,
  text,
  bytes,
  list,
  tuple,
  dict,
  set,
  range,
  function,
  builtin,
  structure,
  record,
  module,
  other
};
Type type_of(Value value);
bool is_unknown(Value value);
bool was_looked_at(Value unknown);
std::string_view type_name(Value value);         ///< as `type(x)` tells
std::string text_of(Value value);                ///< of a text or bytes
std::optional<int64_t> integer_of(Value value);  ///< none when it is no integer or has over 64 bits
std::optional<double> real_of(Value value);      ///< of an integer or float
bool truth_of(Value value);
size_t length_of(Value value);  ///< of a collection; 0 for others
Value item_of(Value list_or_tuple, size_t index);
std::vector<std::pair<Value, Value>> entries_of(Value dict);  ///< in order of insertion
std::vector<std::pair<std::string, Value>> fields_of(Value structure_record_or_module);
/// A field of a structure, record or module. None: there is no such field.
std::optional<Value> field_of(Value object, std::string_view name);
std::optional<Value> find_in(Value dict, std::string_view key);
const RecordType* record_type_of(Value value);  ///< null when it is no record
// The following functions walk over values, which a program can make large: they count as work of
// the thread.
Result<std::string> repr_of(Thread& thread, Value value);  ///< as `repr(x)`
Result<std::string> str_of(Thread& thread, Value value);   ///< as `str(x)`
Result<bool> equal(Thread& thread, Value a, Value b);
void freeze(Value value);
/// For messages: a scalar as `repr(x)`, anything else as its type.
std::string brief_of(Value value);
/// A value for attributes: dict keys must be texts, tuples become lists, and structures and records
/// become dicts. Functions, and floats without a JSON form, are errors.
Result<fettle::Value> to_value(Thread& thread, Value value);
/// JSON text as `json.encode` writes it.
Result<std::string> to_json(Thread& thread, Value value);

/// A parameter of a Starlark function, for a host that matches arguments.
struct ParameterInfo {
  std::string name;
  bool has_default = false;
  bool keyword_only = false;
  bool rest = false;                 ///< `*args`
  bool named_rest = false;           ///< `**kwargs`
  std::optional<Value> otherwise{};  ///< the default; of the function's module
};
/// Empty: the value is no Starlark function.
std::vector<ParameterInfo> parameters_of(Value function);
std::string function_name(Value function);
std::string docstring_of(Value function);

/// The definitions of a file, frozen.
class Module {
 public:
  struct State;
  explicit Module(std::shared_ptr<State> state) : state_(std::move(state)) {}
  const std::string& name() const;
  std::optional<Value> get(std::string_view global) const;
  std::vector<std::pair<std::string, Value>> globals() const;  ///< in order of the source
  State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

/// One frame of the stack, innermost last.
struct Frame {
  std::string function;  ///< `<toplevel>`, a name or `lambda`
  Where where;           ///< `<builtin>` without line for native functions
};

/// One evaluation. Configure it, then run it.
class Session {
 public:
  explicit Session(Dialect dialect = Dialect::of(Profile::go), Limits limits = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Names that every file sees. They hide names of the language (`print`, …) with the same
  // spelling.
  HeapAccess heap();  ///< for values of the session: they live as long as it and its modules
  /// The value must be from `heap()`.
  void predeclare(std::string_view name, Value value);
  Value native(std::string_view name, NativeFunction function) {
    return heap().native(name, std::move(function));
  }

  /// Finds the module that `load("name", …)` names. Caching and cycles are the matter of
  /// `ModuleCache`.
  std::function<Result<ModulePtr>(Thread&, std::string_view name)> load;
  /// Receives lines of `print`, without newline. If it is not set, they go to stderr.
  std::function<void(Thread&, std::string_view)> print;
  /// The clock of `time.now`. If it is not set, that is an error.
  std::function<Time()> now;
  /// Set by another thread to end the evaluation within 10 ms.
  std::atomic<bool> cancelled{false};
  /// Collects at every safe point, for tests of the interpreter.
  bool collect_always = false;

  /// Parses, checks and runs a file. Errors: those of syntax and names (`Blame::user`, before
  /// anything runs, with every error of names in `trace`), or those of the run, with the stack in
  /// `trace`.
  Result<ModulePtr> run(std::string file, std::string_view text);
  /// The same from inside a native function or `load`: the frames of `from` are the caller's.
  Result<ModulePtr> run(Thread& from, std::string file, std::string_view text);

  uint64_t steps() const;   ///< counted so far
  uint64_t memory() const;  ///< bytes of all heaps now
  /// Whether the last error came before anything ran (an error of syntax or names).
  bool failed_before_running() const;

  struct State;
  State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

/// Loads each module once; a cycle is an error that names it. Errors are kept like modules.
class ModuleCache {
 public:
  using Make = std::function<Result<ModulePtr>()>;
  Result<ModulePtr> get(const std::string& name, const Make& make);

 private:
  struct Slot;
  std::vector<std::pair<std::string, std::shared_ptr<Slot>>> slots_;
};

/// A stack and a heap, to call functions and to evaluate expressions.
class Thread {
 public:
  explicit Thread(Session& session);
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  Result<Value> call(Value function, std::span<const Value> positional,
                     std::span<const NamedValue> named = {});
  Result<Value> call(Value function, std::initializer_list<Value> positional,
                     std::initializer_list<NamedValue> named = {}) {
    return call(function, std::span(positional.begin(), positional.size()),
                std::span(named.begin(), named.size()));
  }
  /// The value of one expression; `names` are visible beside the predeclared ones.
  Result<Value> evaluate(std::string file, std::string_view expression,
                         std::span<const NamedValue> names = {});
  /// Runs statements and returns their globals, which are not frozen, for interactive use. `names`
  /// are visible.
  Result<std::vector<std::pair<std::string, Value>>> execute(
      std::string file, std::string_view text, std::span<const NamedValue> names = {});
  HeapAccess heap();
  Session& session() const;
  /// The present stack, the outermost frame first. Native functions have the file `<builtin>`.
  std::vector<Frame> stack() const;
  /// The place of the innermost frame of Starlark code.
  Where position() const;
  /// An error at the present position, for a native function to return.
  Error error(std::string message) const;
  /// Keeps a module as long as the module that runs here (or this thread) lives, for a native
  /// function that returns its values, such as `import_module`.
  void keep(ModulePtr module);
  /// Charges for work of a native function. False: a limit is reached (then return
  /// `Value::error()`).
  bool charge(uint64_t steps);
  /// The error for that limit.
  Error limit_reached() const;

  struct State;
  State& state() const { return *state_; }
  explicit Thread(State* state) : state_(state), owned_(false) {}  ///< of the interpreter

 private:
  State* state_;
  bool owned_ = true;
};

/// Keeps a value from being collected as long as this handle exists.
class Handle {
 public:
  Handle(Thread& thread, Value value);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Value get() const;
  operator Value() const { return get(); }  // NOLINT: stands for its value

 private:
  Thread::State* thread_;
  size_t slot_;
};

}  // namespace fettle::starlark
