#pragma once
/// Random intents and random edits of them. The generator keeps what it made as a small
/// description, so that an edit changes one thing and leaves the rest as it was.

#include <set>

#include "base/prng.h"
#include "core/resource.h"

namespace fettle::sim {

struct Sketch {
  struct Item {
    std::string kind, name;
    int variant = 0;      ///< part of the attributes
    std::string host;     ///< of what happens inside one, and of what uses one as it was
    std::string listens;  ///< `kind/name` of an item before that refreshes it; may be empty
    std::string embeds;   ///< `kind/name` of an item before whose output it embeds; may be empty
    std::string awaits;   ///< `kind/name` of an item before without whose change it is not due
    bool noisy = false;   ///< a value that is another one each time
    bool secret = false;  ///< an attribute that must never be shown
    bool slow = false;    ///< acts in the pool of that name
    bool in_q = false;    ///< wanted by the set `q`, else by `p`
  };
  std::vector<Item> items;
  bool script_order = false;
  Leftover leftover = Leftover::keep;
  int next = 0;
};

constexpr int slow_depth = 2;  ///< of the pool `slow`

Sketch make_sketch(Prng& prng);
/// One to three random changes: an item more, less, another variant, another place.
void edit(Sketch& sketch, Prng& prng);

/// The intent of a sketch, as far as it speaks for some sets. `shuffled`: resources stand in
/// another order, insiders of one host apart, whose order means something.
Intent intent_of(const Sketch& sketch, const std::set<std::string>& sets = {"p", "q"},
                 Prng* shuffled = nullptr);

/// What an intent wants, of all sets, in the order of the sketch.
std::vector<const Resource*> wanted_of(const Intent& intent);

constexpr std::string_view secret_text = "hunter2-the-secret";

}  // namespace fettle::sim
