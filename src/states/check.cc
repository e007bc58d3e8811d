/// Checks that every called function exists, and that it gets what it takes.

#include <algorithm>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/text.h"
#include "states/compilation.h"
#include "states/reference.h"
#include "value/hidden.h"

namespace fettle::states {
namespace {

struct Call {
  const Module* module = nullptr;
  const Function* function = nullptr;
};

class Checker {
 public:
  explicit Checker(Compilation& with) : with_(with) {}

  void run() {
    with_.modules.reserve(with_.made.chunks.size());
    for (size_t i = 0; i < with_.made.chunks.size(); ++i) {
      Chunk& chunk = with_.made.chunks[i];
      const Call& call = find(chunk);
      check_separator(chunk);
      with_.modules.push_back(call.module);
      if (call.function == nullptr)
        not_there(chunk, call);
      else
        check_arguments(chunk, *with_.bodies[i], *call.function);
      if (call.module != nullptr && is_unique(*call.module, chunk.function))
        chunk.pool = pool_of(chunk);
    }
  }

 private:
  /// Looks up the function of a call. The same few occur many times.
  const Call& find(const Chunk& chunk) {
    const auto [known, is_new] = calls_.emplace(std::pair(chunk.state, chunk.function), Call{});
    if (is_new) {
      known->second.module = with_.catalogue.find(chunk.state);
      if (known->second.module != nullptr)
        known->second.function = known->second.module->find(chunk.function);
    }
    return known->second;
  }

  /// Tags and memory are split at this separator.
  void check_separator(Chunk& chunk) {
    for (const auto& [what, text] : {std::pair("ID", chunk.id), std::pair("name", chunk.name)})
      if (!is_tag_part(text))
        with_.fail(chunk, chunk.at,
                   cat("the ", what, " `", text, "` must not contain `", StateTag::separator, "`"));
  }

  static bool is_unique(const Module& module, const Name& function) {
    return std::find(module.unique.begin(), module.unique.end(), function) != module.unique.end();
  }

  Name pool_of(const Chunk& chunk) {
    const Name pool = cat(chunk.state, ".", chunk.function);
    with_.made.pools[pool] = 1;
    return pool;
  }

  void not_there(Chunk& chunk, const Call& call) {
    const std::string called =
        call.module == nullptr ? chunk.state.str() : cat(chunk.state, ".", chunk.function);
    const auto hint = [&] {
      std::string meant;
      if (call.module == nullptr) {
        meant = suggestion(chunk.state.view(), with_.catalogue.refs());
      } else {
        std::vector<std::string_view> names;
        for (const Function& function : call.module->functions)
          names.push_back(function.name);
        meant = suggestion(chunk.function.view(), names);
      }
      // Stands behind a full stop.
      return meant.empty() ? meant : cat(" Did", meant.substr(meant.find(" did") + 4));
    };
    with_.fail(chunk, chunk.at,
               cat("Could not find function to enforce ", called,
                   ". Please make sure that the corresponding plugin is loaded."),
               hint);
  }

  void check_arguments(Chunk& chunk, const Body& body, const Function& function) {
    if (!function.takes_rest)
      for (const auto& [name, value] : chunk.arguments)
        if (function.find(name) == nullptr)
          unknown_argument(chunk, body, function, name);
    std::string missing;
    for (const Parameter& parameter : function.parameters) {
      const std::pair<Name, Value>* given = nullptr;
      for (const auto& argument : chunk.arguments)
        if (function.find(argument.first) == &parameter) {
          if (given != nullptr)
            given_twice(chunk, body, given->first, argument.first);
          given = &argument;
        }
      if (given != nullptr)
        check_shape(chunk, body, parameter, *given);
      else if (!parameter.otherwise && !is_bound(body, parameter.name) &&
               !is_known(chunk, function, parameter))
        missing += cat(missing.empty() ? "" : ", ", parameter.name);
    }
    if (!missing.empty() && !is_identified(chunk, body, function))
      with_.fail(chunk, chunk.at,
                 cat("states.", chunk.state, ".", chunk.function,
                     " is missing required argument(s): ", missing),
                 [&] { return misspelt(chunk, function); });
  }

  /// A parameter has several names. Which of two values counts must not be a matter of order.
  void given_twice(Chunk& chunk, const Body& body, const Name& one, const Name& other) {
    with_.fail(chunk, position_of(body, other, false),
               cat("`", one, "` and `", other, "` are the same argument of ", chunk.state, ".",
                   chunk.function, ": leave one of them out"));
  }

  /// A function that takes any argument may get the required one under a wrong name.
  static std::string misspelt(const Chunk& chunk, const Function& function) {
    std::vector<std::string_view> wanted;
    for (const Parameter& parameter : function.parameters)
      if (!parameter.otherwise)
        wanted.push_back(parameter.name);
    for (const auto& [name, value] : chunk.arguments)
      if (function.takes_rest && function.find(name) == nullptr)
        if (const std::string meant = suggestion(name.view(), wanted); !meant.empty())
          return cat("; it has `", name, "`", meant);
    return {};
  }

  /// Whether memory has the argument, as resources keep what a file leaves out.
  bool is_known(const Chunk& chunk, const Function& function, const Parameter& parameter) const {
    const auto has = [&](const Name& name) {
      return with_.options.memory->has(chunk.state, chunk.id, name);
    };
    return with_.options.memory != nullptr && function.remembers(parameter.name) &&
           (has(parameter.name) || std::ranges::any_of(parameter.aliases, has));
  }

  /// Whether it is about a thing that exists, which is changed or removed and not made.
  bool is_identified(const Chunk& chunk, const Body& body, const Function& function) const {
    if (function.identity == "")
      return false;
    for (const auto& [name, value] : chunk.arguments)
      if (name == function.identity)
        return !value.is_null();
    const Parameter* const identity = function.find(function.identity.view());
    return is_bound(body, function.identity) ||
           (identity != nullptr && is_known(chunk, function, *identity));
  }

  /// Whether a binding written by hand sets the argument.
  static bool is_bound(const Body& body, const Name& parameter) {
    return std::any_of(body.bindings.begin(), body.bindings.end(), [&](const HandBinding& one) {
      const std::string_view target = one.target;
      return target.substr(0, target.find_first_of(":[")) == parameter.view();
    });
  }

  static Position position_of(const Body& body, const Name& name, bool of_value) {
    for (const Argument& argument : body.arguments)
      if (argument.name == name)
        return of_value ? argument.value_position() : argument.position();
    return body.position();
  }

  void unknown_argument(Chunk& chunk, const Body& body, const Function& function,
                        const Name& name) {
    const auto hint = [&]() -> std::string {
      if (!with_.report.takes_hints())
        return "";
      std::vector<std::string_view> known;
      for (const Parameter& parameter : function.parameters)
        known.push_back(parameter.name);
      for (const GlobalArgument& global : global_arguments())
        if (global.role != GlobalArgument::Role::ignored)
          known.push_back(global.name);
      return suggestion(name, known);
    };
    std::string message = cat("'", name, "' is an invalid keyword argument for '", chunk.state, ".",
                              chunk.function, "'", hint());
    if (with_.options.is_lenient)
      with_.report.warn(position_of(body, name, false), std::move(message));
    else
      with_.report.error(position_of(body, name, false), std::move(message));
  }

  static bool is_sensitive(const Chunk& chunk, const Name& parameter) {
    return chunk.settings != nullptr && std::ranges::find(chunk.settings->sensitive, parameter) !=
                                            chunk.settings->sensitive.end();
  }

  /// Null stands for the default. The value of a reference is only known later.
  void check_shape(Chunk& chunk, const Body& body, const Parameter& parameter,
                   const std::pair<Name, Value>& argument) {
    const auto& [name, given] = argument;  // it may be given by another name
    if ((given.is_null() && parameter.otherwise) || (given.is_text() && may_refer(given.text())) ||
        has_asked(given))
      return;
    const Value told = is_sensitive(chunk, name) ? hidden(given) : given;
    if (const std::string wrong = complaint(parameter.shape, told); !wrong.empty())
      with_.fail(chunk, position_of(body, name, true), cat("`", name, "` ", wrong));
    const bool wants_bool =
        parameter.shape != Shape::outcome && parameter.otherwise && parameter.otherwise->is_bool();
    if (wants_bool && !given.is_bool())
      with_.fail(
          chunk, position_of(body, name, true),
          cat("states.", chunk.state, ".", chunk.function, " is expecting a boolean value for '",
              name, "' but got '", clipped(to_text(told), 200), "'"));
  }

  /// Whether it contains a parameter that nobody gave.
  bool has_asked(const Value& given) const {
    if (given.is_text())
      return with_.is_asked(given.text());
    if (given.is_list())
      return std::ranges::any_of(given.items(), [&](const Value& item) { return has_asked(item); });
    return given.is_dict() && std::ranges::any_of(given.entries(), [&](const Entry& entry) {
             return has_asked(entry.key) || has_asked(entry.value);
           });
  }

  Compilation& with_;
  boost::unordered_flat_map<std::pair<Name, Name>, Call, NamesHash> calls_;
};

}  // namespace

void check_calls(Compilation& compilation) { Checker(compilation).run(); }

}  // namespace fettle::states
