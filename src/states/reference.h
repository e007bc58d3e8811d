#pragma once
/// References in texts, `${state:id:path}`: they are replaced by what another state left. A path
/// steps into dictionaries with `:` and into lists with `[n]`. `id[name]` is the state of that name
/// among several under one ID.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace fettle::states {

struct Reference {
  Name state;
  Name id;
  Name resource;  ///< the name in brackets; empty: there is none
  Name path;      ///< as written; empty: the whole state
};

/// Each item of a list, `[*]`.
struct Each {};

/// A key of a dictionary, an index of a list, or each of its items.
using Step = std::variant<Name, size_t, Each>;

/// The name of an output (`core/output_at.h`).
std::string path_of(const Step& step);

/// The steps of a path. Errors are in Idem's words and name the state.
Result<std::vector<Step>> steps_of(std::string_view path, std::string_view state);

/// The value at a path in the state that was left. Errors are in Idem's words.
Result<Value> value_at(const Value& new_state, std::string_view path, std::string_view state);

/// A piece of a text: plain, or a reference.
struct Piece {
  std::string text;
  std::optional<Reference> reference;
};

/// A reference without a path, as in `${test:a}`: the state, and the text as written. None: there
/// is none. Shells have the same form, so it counts only if the state is known.
std::optional<std::pair<std::string_view, std::string_view>> short_reference(std::string_view text);

/// The pieces of a text. Text that has no form of a reference (`${HOME}`) is plain, as in Idem.
std::vector<Piece> pieces_of(std::string_view text);

/// Whether a text may contain a reference at all.
inline bool may_refer(std::string_view text) { return text.find("${") != text.npos; }

/// The two parts of `id[name]`. The second is empty if there are no brackets.
std::pair<std::string_view, std::string_view> halves_of_id(std::string_view id);

}  // namespace fettle::states
