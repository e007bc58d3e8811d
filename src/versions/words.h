#pragma once
/// The words of a commit's refusals. The words here are plain. A front end whose users and scripts
/// know other sentences overrides them (`src/model/export/commit_words.h`).

#include <cstdint>
#include <string>

#include "value/name.h"

namespace fettle {

/// Lists of names come quoted and joined: `a`, `b` and 3 more.
class CommitWords {
 public:
  virtual ~CommitWords() = default;
  virtual std::string no_base() const;
  virtual std::string unsuitable_base(uint64_t base, std::string_view why) const;
  virtual std::string removed_by_full_push() const;
  virtual std::string number_taken(uint64_t number) const;
  virtual std::string removed_and_pushed(std::string_view sets) const;
  virtual std::string pushed_twice(const Name& id) const;
  virtual std::string sets_of_strangers(std::string_view ids) const;
  virtual std::string dangling_needs(std::string_view ids) const;
  /// A partial push says something else about what another set shares; `hint` says which.
  virtual std::string shared_changed(const Name& id, std::string_view hint) const;
  /// A partial push gives a set what was shared.
  virtual std::string shared_taken(const Name& id, const Name& set, std::string_view hint) const;
  /// Lines `id moved from set to set`, each after a line break.
  virtual std::string moved(std::string_view lines) const;
  virtual std::string need_between_sets(const Name& id, const Name& need) const;
  virtual std::string code_changed(std::string_view modules) const;
  virtual std::string stale(uint64_t base, uint64_t newest, std::string_view names) const;
  /// The words in front of two sets that contradict each other.
  virtual std::string contradiction(std::string_view one, std::string_view other) const;
};

const CommitWords& plain_words();

}  // namespace fettle
