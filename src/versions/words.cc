#include "versions/words.h"

#include "base/text.h"

namespace fettle {

std::string CommitWords::no_base() const {
  return "a partial push needs an earlier version, but nothing has been pushed yet";
}
std::string CommitWords::unsuitable_base(uint64_t base, std::string_view why) const {
  return cat("version ", base, " cannot be a base: ", why);
}
std::string CommitWords::removed_by_full_push() const {
  return "a full push replaces all sets, so it cannot remove single ones";
}
std::string CommitWords::number_taken(uint64_t number) const {
  return cat("version ", number, " exists already");
}
std::string CommitWords::removed_and_pushed(std::string_view sets) const {
  return cat("these sets are both removed and pushed: ", sets);
}
std::string CommitWords::pushed_twice(const Name& id) const {
  return cat("`", id, "` is pushed twice");
}
std::string CommitWords::sets_of_strangers(std::string_view ids) const {
  return cat("sets are named for resources that are not pushed: ", ids);
}
std::string CommitWords::dangling_needs(std::string_view ids) const {
  return cat("needed but not pushed: ", ids);
}
std::string CommitWords::shared_changed(const Name& id, std::string_view hint) const {
  return cat("`", id, "` belongs to no set, so a partial push cannot change it", hint);
}
std::string CommitWords::shared_taken(const Name& id, const Name& set,
                                      std::string_view hint) const {
  return cat("`", id, "` belongs to no set, so a partial push cannot move it to set `",
             printable(set), "`", hint);
}
std::string CommitWords::moved(std::string_view lines) const {
  return cat("a partial push cannot move resources between sets; push everything:", lines);
}
std::string CommitWords::need_between_sets(const Name& id, const Name& need) const {
  return cat("`", id, "` needs `", need, "` of another set");
}
std::string CommitWords::code_changed(std::string_view modules) const {
  return cat("a partial push cannot change code: ", modules);
}
std::string CommitWords::stale(uint64_t base, uint64_t newest, std::string_view names) const {
  return cat("the push is based on version ", base,
             ", and others have changed the same since (up to ", "version ", newest, "): ", names);
}
std::string CommitWords::contradiction(std::string_view one, std::string_view other) const {
  return cat(one, " and ", other, " contradict each other");
}

const CommitWords& plain_words() {
  static const CommitWords words;
  return words;
}

}  // namespace fettle
