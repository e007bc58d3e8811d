#pragma once
/// Finds out what every name of a file means, before anything runs, and reports all static errors.
///
/// The obvious way is to look names up when the code runs, in one dict for each function and one
/// for the file. That is slow, since names are most of what a program reads. It also reports a
/// misspelt name only when its line runs, which may be after half of the work; Starlark refuses the
/// file. To resolve names while the text is parsed is wrong, too: a name that a function assigns is
/// its variable from the first line on, even where it is read before it is assigned, and a function
/// may use a global that the file binds further below:
///
///     def f():
///         g()        # the `g` below: globals are known before any body is walked
///         print(x)   # the variable of `f`, which has no value yet: an error when it runs
///         x = 1
///     def g(): …
///
/// So the parser only gathers which names each file, function and comprehension binds. The resolver
/// then walks the tree once. It binds the globals first, and on entering a function or a
/// comprehension all names that it binds; a use then means the innermost binding. What nothing in
/// the file binds is asked of `ResolveInput::outside`, and its value is kept in the binding.
///
/// There is no table for each scope. The text of a name is interned, and its `Symbol` points to
/// what the name means at this point of the walk. A new binding remembers the one that it hides
/// (`Binding::outer`), and leaving the scope restores that.
///
/// A function that uses a variable of an enclosing one *captures* it: the variable becomes a cell,
/// and every function between the two has a free variable through which it hands the cell on
/// (`Resolver::capture`).
///
/// Invariants:
/// * After a walk without errors, each name has a binding, and the compiler looks up no text.
/// * A binding is the variable of one function. A function reads those of others only through free
///   variables of its own.
/// * Leaving a function or a comprehension gives each name back the meaning that it had outside.
/// * An error does not end the walk. Errors come in the order of the text, at most 1000. A name
///   that means nothing is reported once for each function or comprehension that uses it, and each
///   time in the file itself.

#include <functional>
#include <optional>
#include <vector>

#include "starlark/starlark.h"
#include "starlark/syntax/ast.h"

namespace fettle::starlark {

/// The meaning of a name that the file does not bind.
struct Outside {
  Value value;
  bool universal;  ///< belongs to the language, not to the host
};

struct ResolveInput {
  const Dialect& dialect;
  std::string_view file;    ///< for messages
  std::string_view source;  ///< for the places in messages
  std::function<std::optional<Outside>(std::string_view)> outside;
  std::function<std::vector<std::string>()> outside_names;  ///< for suggestions
};

struct ResolveResult {
  std::vector<Binding*> globals;    ///< in order of first binding
  std::vector<SyntaxError> errors;  ///< in order of the text
};

ResolveResult resolve(FunctionNode* file, Arena& arena, const ResolveInput& input);

}  // namespace fettle::starlark
