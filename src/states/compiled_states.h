#pragma once
/// The result of a compile of states: low data, one chunk for each call of a function, with
/// everything that the engine, a driver and the outputs need to know about it.
///
/// A chunk is known by its tag. The thing that it manages is known by the tag without the function,
/// so that `absent` finds what `present` left (`core/state_tag.h`).

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/state_tag.h"
#include "states/gather.h"
#include "states/globals.h"
#include "states/position.h"
#include "states/settings.h"
#include "value/value.h"

namespace fettle::states {

/// One entry of a requisite. All entries of one requisite of a chunk have to hold, or with `any`
/// one of them.
struct Need {
  Requisite requisite = Requisite::require;
  bool any = false;
  bool is_implied = false;     ///< nobody wrote it: it comes from a profile, or from a function
  bool is_remembered = false;  ///< not in this run; `memory` names what a former run left
  Name state;                  ///< as written, for comments: `require test:a`
  Name target;
  Position at;
  uint32_t begin = 0;  ///< the chunks that it names, in `CompiledStates::targets`
  uint32_t count = 0;
  Name memory;  ///< the key of the remembered thing
};

struct Chunk {
  Name state;
  Name function;
  Name id;
  Name name;    ///< as written, perhaps with references
  Name entry;   ///< the entry of `names` that it comes from; empty: there are none
  Name sls;     ///< the ref of its file
  Name prefix;  ///< of the IDs in its file, which its own requisites leave out
  Position at;
  double order = 0;
  uint32_t rank = 0;         ///< its place when states run one after another, as in Idem
  bool is_listener = false;  ///< it calls `mod_watch` of another chunk when all others have ended
  /// It removes what its first target, another chunk, has replaced, once all that use that have
  /// gone on.
  bool is_remover = false;
  bool is_swapped = false;  ///< `--invert` undoes it: its function differs from that in the file
  /// `--invert` should undo it, and its module has no function for that.
  bool has_nothing_to_undo = false;
  /// Whether `--invert` applies to it; needs between two such chunks are turned round.
  bool has_inverse() const { return is_swapped || has_nothing_to_undo; }
  bool is_delayed = false;  ///< something that it names may come with a block that still waits
  /// The arguments by parameter, in the order of the file, without `name`. References are deferred
  /// values: their kind is `arg_bind`, with the key of the other thing and the path as written
  /// (`reference.h`). Sensitive values are marked as secrets.
  std::vector<std::pair<Name, Value>> arguments;
  Value bound_name;  ///< the name with its references; null: it has none
  /// Of a `source` of `file.managed`; null: it has none.
  std::shared_ptr<const SourceContent> content;
  std::vector<Need> needs;
  std::shared_ptr<const Settings> settings;  ///< null: there are none
  Name pool;                                 ///< one call at a time of all in it; empty: none
  Name failure;  ///< the comment of a result that is known already: it fails without a call
};

/// The kind of the outputs that references name.
inline constexpr std::string_view bound_kind = "arg_bind";

StateTag state_tag(const Chunk& chunk);
/// The name of its key.
Name key_of(const Chunk& chunk);
/// The whole tag of a chunk.
std::string tag_of(const Chunk& chunk);

struct CompiledStates {
  std::vector<Chunk> chunks;       ///< in the order of low data
  std::vector<uint32_t> targets;   ///< indices of chunks, for `Need`
  std::vector<std::string> files;  ///< those to which `Position` refers
  std::vector<DelayedBlock>
      delayed;  ///< blocks that wait: compile again when one of their states ran
  bool waits_for_additions = false;       ///< states that have not run may add others
  std::map<Name, Value> file_metas;       ///< by ref
  std::map<std::string, Value> id_metas;  ///< by `ref.ID`
  std::map<Name, int> pools;
  bool is_inverted = false;
  std::vector<Error> errors;  ///< reported together; if there is one, nothing runs
  std::vector<Error> warnings;

  /// `file:line:column`
  std::string place_of(Position position) const;
};

}  // namespace fettle::states
