#pragma once
/// Random intents and random edits of them. The generator keeps what it made as a small
/// description, so that an edit changes one thing and leaves the rest as it was.

#include "base/prng.h"
#include "core/resource.h"

namespace fettle::sim {

struct Sketch {
  struct Item {
    std::string kind, name;
    int variant = 0;   ///< part of the attributes
    std::string host;  ///< of what happens inside one
    std::string
        listens;         ///< of a file or a config: `kind/name` of an item before that refreshes it
    std::string embeds;  ///< `kind/name` of an item before whose output it embeds; may be empty
    bool noisy = false;  ///< a value that is another one each time
    bool secret = false;  ///< an attribute that must never be shown
  };
  std::vector<Item> items;
  bool script_order = false;
  Leftover leftover = Leftover::keep;
  int next = 0;
};

Sketch make_sketch(Prng& prng);
/// One to three random changes: an item more, less, another variant, another place.
void edit(Sketch& sketch, Prng& prng);
/// The intent of a sketch. `shuffled`: resources stand in another order, insiders of one host
/// apart, whose order means something.
Intent intent_of(const Sketch& sketch, Prng* shuffled = nullptr);

constexpr std::string_view secret_text = "hunter2-the-secret";

}  // namespace fettle::sim
