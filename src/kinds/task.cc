/// A command in a throw-away container, and the files that it leaves.
///
/// attributes  {"image", "image_id": hole, "command": [text], "env": {}, "files": as a service's,
///             "store": [{"path": absolute path or pattern}], "timeout": duration or null for none,
///             "acceptable_codes", "skip_code_check", "privileged", "host_pid", "bind_mounts",
///             "node_selectors", "tolerations"}
/// outputs     {"code", "output", "files": {"0": digest of the first stored tar, …}}

#include "base/text.h"
#include "kinds/kinds.h"
#include "kinds/schema.h"

namespace fettle {
namespace {

class TaskKind : public Kind {
 public:
  Name name() const override { return "task"; }
  Sort sort() const override { return Sort::action; }
  /// The container, when nobody saw its end.
  bool leaves_remains() const override { return true; }
  std::vector<Name> contents(const Value& outputs) const override {
    std::vector<Name> digests;
    if (const Value& files = outputs.at("files"); files.is_dict())
      for (const Entry& file : files.entries())
        digests.emplace_back(to_text(file.value));
    return digests;
  }
  Result<Value> normalise(const Value& attributes) const override {
    static const Value none = Value::dict({}), nothing = Value::list({});
    static const Schema schema{{"image", Field::text, {}},
                               {"image_id", Field::text, ""},
                               {"command", Field::list, {}},
                               {"env", Field::dict, none},
                               {"files", Field::dict, none},
                               {"store", Field::list, nothing},
                               {"timeout", Field::any, Value("180s")},
                               {"acceptable_codes", Field::list, Value::list({0})},
                               {"skip_code_check", Field::boolean, false},
                               {"privileged", Field::boolean, false},
                               {"host_pid", Field::boolean, false},
                               {"bind_mounts", Field::dict, none},
                               {"node_selectors", Field::dict, none},
                               {"tolerations", Field::list, nothing}};
    return schema.normalise(attributes);
  }
};

}  // namespace

const Kind& task_kind() {
  static const TaskKind kind;
  return kind;
}

}  // namespace fettle
