#pragma once
/// References in texts, `${state:id:path}`: what another state left is put in their place. A path
/// steps with `:` into dictionaries and with `[n]` into lists; `id[name]` is the one of that name
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
  Name resource;  ///< the name in brackets; empty: none
  Name path;      ///< as written; empty: all of it
};

/// Each item of a list, `[*]`.
struct Each {};

/// A key of a dictionary, an index of a list, or each of its items.
using Step = std::variant<Name, size_t, Each>;

/// As outputs are named (`core/output_at.h`).
std::string path_of(const Step& step);

/// The steps of a path. Errors in Idem's words, which name the state.
Result<std::vector<Step>> steps_of(std::string_view path, std::string_view state);

/// What stands at a path of what a state left. Errors in Idem's words.
Result<Value> value_at(const Value& new_state, std::string_view path, std::string_view state);

/// A piece of a text: plain, or a reference.
struct Piece {
  std::string text;
  std::optional<Reference> reference;
};

/// A reference without a path, as in `${test:a}`: the state and the text as it stands; none when
/// there is none. Shells have the same form, so it counts only with a state that is known.
std::optional<std::pair<std::string_view, std::string_view>> short_reference(std::string_view text);

/// The pieces of a text. What is in no form of a reference (`${HOME}`) is plain, as in Idem.
std::vector<Piece> pieces_of(std::string_view text);

/// Whether a text may hold a reference at all.
inline bool may_refer(std::string_view text) { return text.find("${") != text.npos; }

/// `id[name]` as its two halves; the second is empty when there are no brackets.
std::pair<std::string_view, std::string_view> halves_of_id(std::string_view id);

}  // namespace fettle::states
