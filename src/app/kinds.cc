#include "app/kinds.h"

#include "kinds/kinds.h"

namespace fettle {

std::vector<const TypedKind*> listed_kinds() {
  return {&network_kind(),  &image_kind(),  &build_kind(),   &directory_kind(), &artifact_kind(),
          &service_kind(),  &exec_kind(),   &request_kind(), &wait_kind(),      &verify_kind(),
          &print_kind(),    &task_kind(),   &start_kind(),   &stop_kind(),      &remove_kind(),
          &file_kind(),     &folder_kind(), &link_kind(),    &command_kind(),   &handled_kind(),
          &state_kind(),    &mark_kind(),   &pod_kind(),     &claim_kind(),     &revision_kind(),
          &pull_job_kind(), &notice_kind()};
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
