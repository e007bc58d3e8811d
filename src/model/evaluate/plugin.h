#pragma once
/// Functions that a model calls: those of `std` (tables in `std/`), and those of modules. A plugin
/// is known by its signature in the spelling of its kind's authors: `(i: int, start: int = 0) ->
/// list`. Arguments and results are checked against it.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/program/program.h"

namespace fettle::model {

class PluginContext;
struct Plugin;

/// A type of a parameter or a result. Plugins have more types than attributes.
struct PluginType {
  enum class Kind : uint8_t { any, none, value, entity, list, dict, reference, one_of, literal };
  Kind kind = Kind::any;
  bool is_nullable = false;
  bool refuses_references = false;  ///< of any value
  Type type;                        ///< of a value
  const Entity* entity = nullptr;
  std::vector<PluginType> inner;  ///< of a list its items', of a dict its values', or the choices
  std::vector<Datum> literals{};  ///< that are accepted, of a literal
  std::string text;               ///< as errors print it
};

struct PluginParameter {
  std::string name;
  PluginType type;
  Datum initial;  ///< unset: it must be given
  bool is_named_only = false;
};

/// One call: the arguments that a plugin reads, and the place for its result.
struct PluginCall {
  PluginContext& context;
  const Call& node;
  Frame* frame;
  std::vector<Datum> arguments{};       ///< one for each parameter
  std::vector<Datum> rest{};            ///< of `*args`
  std::vector<DictEntry> named_rest{};  ///< of `**kwargs`
  Datum result{};
  std::string exception{};       ///< `ValueError: empty separator`
  std::vector<Reason> causes{};  ///< of the exception, outermost first
  std::string told{};            ///< the message of a plugin that explains itself
  /// It looked at something unknown: then the result is unknown, too, whatever was made of it.
  bool met_unknown = false;
  /// It read what has no value yet: it is made again when that is there.
  bool is_early = false;
  int missing = 0;  ///< what its task missed before it

  const Datum& operator[](size_t index) const { return arguments[index]; }
  std::string_view text(size_t index) const { return arguments[index].view(); }
  int64_t integer(size_t index) const;
  std::span<const Datum> items(size_t index) const { return arguments[index].list->items; }

  bool give(Datum value) {
    result = value;
    return true;
  }
  bool give_text(std::string_view text);
  bool give_list(std::span<const Datum> items);
  /// Whether this many bytes more may be taken. Ask before work that may take much memory.
  bool has_room(uint64_t bytes);
  bool fail(std::string with);
  /// Whether something that it read is missing, so that it will be made again.
  bool is_waiting() const;
  /// Reads an attribute of an instance. False: not there (the call waits or has failed, or there is
  /// no such attribute; then `exception` says so).
  bool read(const Datum& object, std::string_view name, Datum& value);
};

/// The arguments of a call before they are matched with parameters.
struct PluginArguments {
  std::vector<Datum> positional;
  std::vector<DictEntry> named;
};

/// A call that is made together with others.
struct WaitingCall {
  const Plugin* plugin;
  Task* task;
  PluginCall call;
  bool has_run = false;  ///< the answer of the plugin, as that of `Plugin::run`
};
/// Makes calls in their order. Whoever reads something for one of them does so by `on_behalf_of` its
/// task (`PluginContext`).
using RunTogether = void (*)(std::span<WaitingCall> calls);

struct Plugin {
  std::string name;  ///< `std::count`
  std::vector<PluginParameter> parameters;
  std::optional<PluginParameter> rest;
  std::optional<PluginParameter> named_rest;
  PluginType returns;
  bool allows_unknown = false;
  std::function<bool(PluginCall&)> run;
  RunTogether run_together = nullptr;  ///< of one that is expensive to call alone
};

/// A row for a plugin of `std`.
struct PluginRow {
  std::string_view name;
  std::string_view signature;
  bool (*run)(PluginCall&);
  bool allows_unknown = false;
};

/// Reads a type as models (`int[]?`, `std::Host`) or annotations (`list[str]`, `str | None`) spell
/// it, as seen from a namespace. None: there is no such type.
std::optional<PluginType> read_plugin_type(Program& program, Space& space, std::string_view text);

/// Fills in parameters and result. False: the text cannot be read.
bool read_signature(Program& program, Space& space, std::string_view text, Plugin& plugin);

/// Calls a plugin from within a call. False: it waits or has failed, or `error` and the causes of
/// `from` say why.
bool run_plugin(PluginCall& from, const Plugin& plugin, PluginArguments& given, Datum& result,
                std::string& error);

/// Whether a value has a type. If not, `why` says what is wrong.
bool accepts(PluginContext& context, const PluginType& type, const Datum& value, Reason& why);

}  // namespace fettle::model
