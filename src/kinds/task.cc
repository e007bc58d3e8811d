#include "kinds/task.h"

#include "base/text.h"
#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

class TaskKind : public KindOf<ContainerTask, TaskOutputs> {
 public:
  TaskKind() : KindOf("task", Sort::action) {}
  /// The container, if its end was not seen.
  bool leaves_remains() const override { return true; }
  std::vector<Name> contents(const Outputs& outputs) const override {
    std::vector<Name> digests;
    const Dict files = read_one<&TaskOutputs::files>(outputs);
    for (const Entry& file : files.entries())
      digests.emplace_back(to_text(file.value));
    return digests;
  }
};

}  // namespace

const Members& ContainerTask::members() {
  static const Members all{
      required<&ContainerTask::image>("image", "reference"),
      member<&ContainerTask::image_id>("image_id", "hole on the image's id"),
      required<&ContainerTask::command>("command", "[text]"),
      member<&ContainerTask::env>("env", "{name: text}"),
      member<&ContainerTask::files>("files", "as a service's"),
      member<&ContainerTask::store>("store", "[{\"path\": absolute path or pattern}]"),
      anything<&ContainerTask::timeout>("timeout", "duration; null: none"),
      member<&ContainerTask::acceptable_codes>("acceptable_codes", "[integer]"),
      member<&ContainerTask::skip_code_check>("skip_code_check", "every exit code is good"),
      member<&ContainerTask::privileged>("privileged", "it may do all that the machine may"),
      member<&ContainerTask::host_pid>("host_pid", "it sees the processes of the machine"),
      member<&ContainerTask::bind_mounts>("bind_mounts", "{path inside: path of the machine}"),
      member<&ContainerTask::node_selectors>("node_selectors", "kept for engines that know nodes"),
      member<&ContainerTask::tolerations>("tolerations", "kept for engines that know nodes")};
  return all;
}

const Members& StoredPath::members() {
  static const Members all{required<&StoredPath::path>("path", "absolute path or pattern")};
  return all;
}

const Members& TaskOutputs::members() {
  static const Members all{
      member<&TaskOutputs::code>("code", "exit code"),
      member<&TaskOutputs::output>("output", "its output"),
      member<&TaskOutputs::files>("files", "{\"0\": digest of the first stored tar, …}")};
  return all;
}

const TypedKind& task_kind() {
  static const TaskKind kind;
  return kind;
}

}  // namespace fettle
