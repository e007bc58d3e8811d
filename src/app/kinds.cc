#include "app/kinds.h"

#include <algorithm>

#include "kinds/kinds.h"

namespace fettle {

namespace {

/// A kind, and whether a thing of it is on the machine on which the program runs, and not in an
/// engine or the store.
struct KindRow {
  const TypedKind* kind;
  bool is_of_machine = false;
};

const std::vector<KindRow>& rows() {
  static const std::vector<KindRow> all{
      {&network_kind()},       {&image_kind()},         {&build_kind()},
      {&directory_kind()},     {&artifact_kind()},      {&service_kind()},
      {&exec_kind()},          {&request_kind()},       {&wait_kind()},
      {&verify_kind()},        {&print_kind()},         {&task_kind()},
      {&start_kind()},         {&stop_kind()},          {&remove_kind()},
      {&file_kind(), true},    {&folder_kind(), true},  {&link_kind(), true},
      {&command_kind(), true}, {&handled_kind(), true}, {&state_kind(), true},
      {&mark_kind()},          {&pod_kind()},           {&claim_kind()},
      {&revision_kind()},      {&pull_job_kind()},      {&notice_kind()}};
  return all;
}

}  // namespace

std::vector<const TypedKind*> listed_kinds() {
  std::vector<const TypedKind*> kinds;
  for (const KindRow& row : rows())
    kinds.push_back(row.kind);
  return kinds;
}

bool is_kind_of_machine(std::string_view name) {
  return std::ranges::any_of(
      rows(), [&](const KindRow& row) { return row.is_of_machine && row.kind->name() == name; });
}

namespace {

class Table : public Kinds {
 public:
  Table() {
    for (const TypedKind* kind : listed_kinds())
      by_name_[kind->name()] = kind;
  }
  const Kind* find(const Name& name) const override {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<Name, const Kind*> by_name_;
};

}  // namespace

const Kinds& all_kinds() {
  static const Table table;
  return table;
}

}  // namespace fettle
