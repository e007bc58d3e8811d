#include "model/export/commit_words.h"

#include "base/text.h"

namespace fettle::model {
namespace {

class ExportWords : public CommitWords {
 public:
  std::string no_base() const override {
    return "A partial export requires a base model but no versions have been exported yet.";
  }
  std::string unsuitable_base(uint64_t base, std::string_view why) const override {
    return cat("Base version ", base, " is not suitable for partial compiles. ", why);
  }
  std::string removed_by_full_push() const override {
    return "Cannot remove resource sets when a full compile was done";
  }
  std::string number_taken(uint64_t) const override {
    return "The given version is already defined. Versions should be unique.";
  }
  std::string removed_and_pushed(std::string_view sets) const override {
    return cat(
        "Invalid request: the following resource sets are present in the removed resource "
        "sets and in the resources that are exported: ",
        sets);
  }
  std::string pushed_twice(const fettle::Name& id) const override {
    return cat("Resource ", id, " exists more than once in the configuration model");
  }
  std::string sets_of_strangers(std::string_view ids) const override {
    return cat(
        "The following resource ids provided in the resource_sets parameter are not present "
        "in the resources list: ",
        ids);
  }
  std::string dangling_needs(std::string_view ids) const override {
    return cat(
        "The model should have a dependency graph that is closed and no dangling "
        "dependencies: ",
        ids);
  }
  std::string shared_changed(const fettle::Name& id, std::string_view hint) const override {
    return cat("Resource (", id, ") without a resource set cannot be updated via a partial compile",
               hint);
  }
  std::string shared_taken(const fettle::Name& id, const fettle::Name& set,
                           std::string_view hint) const override {
    return cat(
        "A partial compile only migrate resources between resource set that are pushed "
        "together. Trying to move ",
        id, " from no resource set to resource set ", set, hint);
  }
  std::string moved(std::string_view lines) const override {
    return cat(
        "The following Resource(s) cannot be migrated to a different resource set using a "
        "partial compile, a full compile is necessary for this process:",
        lines);
  }
  std::string need_between_sets(const fettle::Name& id, const fettle::Name& need) const override {
    return cat("A dependency exists between resources ", id, " and ", need,
               ", but they belong to different resource sets.");
  }
  std::string code_changed(std::string_view modules) const override {
    return cat("Cannot perform partial export because of version mismatch for modules: ", modules,
               "; export everything, or give --allow-handler-code-update");
  }
  std::string stale(uint64_t base, uint64_t newest, std::string_view names) const override {
    return cat("the export was compiled against version ", base, ", and since then (up to version ",
               newest, ") others changed the same things: ", names, "; compile again");
  }
  std::string contradiction(std::string_view one, std::string_view other) const override {
    return cat("Could not combine ", one, " with ", other);
  }
};

}  // namespace

const CommitWords& export_words() {
  static const ExportWords words;
  return words;
}

}  // namespace fettle::model
