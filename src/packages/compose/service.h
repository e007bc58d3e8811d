#pragma once
/// One service of a compose project, as a struct. `read_service` checks what the project says of it
/// and notes what has no effect here.

#include <map>
#include <optional>

#include "packages/compose/load.h"

namespace fettle::compose {

struct Texts {
  std::vector<std::string> items{};
  bool is_given = false;
};

struct PublishedPort {
  int target = 0;
  std::optional<int> published{};
  std::string protocol = "tcp";
  Where where{};
};

struct VolumeMount {
  enum class Type : uint8_t { bind, volume, tmpfs };
  Type type = Type::volume;
  std::string source{};  ///< a path, or the name of a volume; empty: one without a name
  std::string target{};
  Where where{};
};

/// A config or a secret as a file of a service.
struct Grant {
  std::string source{}, target{};
  bool is_secret = false;
  Where where{};
};

struct Dependency {
  enum class Condition : uint8_t { started, healthy, completed };
  std::string service{};
  Condition condition = Condition::started;
  bool is_required = true;
  Where where{};
};

struct HealthCheck {
  std::vector<std::string> command{};
  int64_t interval_ms = 30'000, timeout_ms = 30'000, start_period_ms = 0;
  int64_t retries = 3;
};

/// What a name in a Dockerfile means: a folder of the project, an image (`docker-image://…`), or the
/// image of a service.
struct NamedContext {
  std::string name{}, folder{}, image{}, service{};
  Where where{};
};

/// A secret of the project as commands of a build know it.
struct BuildSecret {
  std::string source{}, id{};
  Where where{};
};

struct Build {
  std::string context = ".", dockerfile{}, dockerfile_inline{}, target{};
  std::map<std::string, std::string> args{};
  std::vector<NamedContext> contexts{};
  std::vector<BuildSecret> secrets{};
};

struct Gpus {
  int64_t count = 0;  ///< -1: all
  std::vector<std::string> device_ids{};
  std::string driver{};
};

struct EnvFile {
  std::string path{};
  bool is_required = true, is_raw = false;
  Where where{};
};

struct Service {
  std::string name{};  ///< as the project calls it
  Where where{};
  std::string image{}, container_name{}, hostname{}, user{}, working_dir{};
  std::optional<Build> build{};
  Texts command{}, entrypoint{};
  std::vector<PublishedPort> ports{};
  std::vector<VolumeMount> volumes{};
  std::vector<Grant> grants{};
  std::vector<Dependency> depends_on{};
  std::vector<std::string> profiles{}, aliases{}, tmpfs{};
  std::map<std::string, std::optional<std::string>> environment{};
  std::vector<EnvFile> env_files{};
  std::map<std::string, std::string> labels{}, extra_hosts{};
  Where labels_where{};
  std::optional<HealthCheck> healthcheck{};
  int64_t cpu_min = 0, cpu_max = 0;        ///< thousandths
  int64_t memory_min = 0, memory_max = 0;  ///< bytes
  int64_t shm_size = 0;                    ///< bytes
  std::map<std::string, int64_t> ulimits{};
  std::optional<Gpus> gpus{};
  std::optional<bool> init{};
  bool tty = false;
  bool is_privileged = false, sees_processes = false;
  Where privileged_where{}, pid_where{};
  std::vector<std::pair<std::string, Where>> capabilities{}, devices{};
};

/// Errors have file, line and column.
Result<Service> read_service(const std::string& name, const Node& node, Notes& notes);

}  // namespace fettle::compose
