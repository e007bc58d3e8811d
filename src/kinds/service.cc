#include "kinds/service.h"

#include "base/text.h"
#include "kinds/kind_of.h"
#include "kinds/kinds.h"

namespace fettle {
namespace {

/// A container that ended with code 0 by itself has done its work. An engine does not tell who
/// ended it, and a server ends with 0 when it is told to stop: so it counts if we saw it end, or if
/// nobody expects it to answer.
bool is_done(const Record& known, const ServiceSeen& state, bool is_server) {
  if (state.exit_code != 0 || known.by_hand == ByHand::stopped || !known.applied)
    return false;
  return read<ServiceOutputs>(known.outputs).has_ended ||
         (!is_server && read<Service>(known.applied->attributes).ports.empty());
}

class ServiceKind : public KindOf<Service, ServiceOutputs, ServiceSeen> {
 public:
  ServiceKind() : KindOf("service", Sort::observable) {}

  std::vector<std::string> holds(const Attributes& attributes) const override {
    std::vector<std::string> ports;
    const Dict all = read_one<&Service::public_ports>(attributes);
    for (const Entry& pinned : all.entries())
      if (const Port port = read<Port>(pinned.value); port.number.get() > 0)
        ports.push_back(cat(port.number.get(), "/", port.transport));
    return ports;
  }

  Comparison compare(const Record& known, const Observation& seen,
                     Presence expected) const override {
    if (known.applied && read<Service>(known.applied->attributes).purged.get())
      expected = Presence::absent;
    if (!seen.state)
      return expected == Presence::absent ? Comparison{}
                                          : Comparison{Verb::create, {}, "its container is gone"};
    if (expected == Presence::absent)
      return {Verb::remove, {}, "its container exists again after it was removed"};
    const ServiceSeen state = read<ServiceSeen>(*seen.state);
    if (state.container != known.remote_id)
      return {Verb::replace, {}, "its container was replaced outside fettle"};
    if (state.status == "unattached" && fettle::runs(expected))
      return {Verb::replace, {}, "its network is gone"};
    const bool runs = state.status == "running";
    if (runs && state.is_cut_off && fettle::runs(expected))
      return {Verb::replace, {}, "it is cut off from its network"};
    if (expected == Presence::stopped)
      return runs ? Comparison{Verb::stop, {}, "it is running, although it was stopped"}
                  : Comparison{};
    const bool is_server = expected == Presence::serving;
    const bool has_exited = state.status == "exited";
    if (runs || (has_exited && is_done(known, state, is_server)))
      return {};
    if (known.by_hand == ByHand::stopped)
      return {Verb::start, {}, "it was stopped"};
    if (has_exited)
      return {Verb::start, {}, cat("it stopped with exit code ", state.exit_code.value_or(-1))};
    return {Verb::start, {}, cat("it is ", state.status)};
  }
};

}  // namespace

const Members& Service::members() {
  static const Members all{
      required<&Service::image>("image", "reference"),
      member<&Service::image_id>("image_id",
                                 "hole on the image's id, so that a moved tag is a change"),
      member<&Service::ports>("ports", "{id: port}"),
      member<&Service::public_ports>("public_ports",
                                     "{id: port}: the number is the port of this machine"),
      member<&Service::files>("files", "{path: [mounted artifact, …] or mounted directory}"),
      member<&Service::entrypoint>("entrypoint", "[text]; empty: the image's"),
      member<&Service::cmd>("cmd", "[text]; empty: the image's"),
      member<&Service::env>("env", "{name: text}"),
      member<&Service::address_placeholder>(
          "address_placeholder",
          "replaced by the service's own address in entrypoint, cmd and env"),
      member<&Service::cpu_min>("cpu_min", "millicores; 0: none"),
      member<&Service::cpu_max>("cpu_max", "millicores; 0: no limit"),
      member<&Service::memory_min>("memory_min", "MB; 0: none"),
      member<&Service::memory_max>("memory_max", "MB; 0: no limit"),
      member<&Service::labels>("labels", "{key: text}"),
      member<&Service::user>("user", "{\"uid\", \"gid\"}, numbers or names; empty: the image's"),
      member<&Service::tini>("tini", "an init process reaps what ends"),
      member<&Service::tty>("tty", "it has a terminal"),
      member<&Service::devices>("devices", "[HOST[:INSIDE[:RIGHTS]]]"),
      member<&Service::capabilities>("capabilities", "[text]"),
      member<&Service::privileged>("privileged", "it may do all that the machine may"),
      member<&Service::host_pid>("host_pid", "it sees the processes of the machine"),
      member<&Service::publish_udp>("publish_udp", "UDP ports are published, too"),
      member<&Service::bind_mounts>("bind_mounts", "{path inside: path of the machine}"),
      member<&Service::gpu>("gpu", "devices, shared memory and limits; empty: none"),
      member<&Service::restart>("restart", "`no` or `always`"),
      member<&Service::node_selectors>("node_selectors", "kept for engines that know nodes"),
      member<&Service::tolerations>("tolerations", "kept for engines that know nodes"),
      extra<&Service::purged>("purged", "it should be absent"),
      extra<&Service::moved_files>("moved_files",
                                   "{path below `files`: path}: a file that is put there instead"),
      extra<&Service::working_dir>("working_dir", "path; empty: the image's"),
      extra<&Service::extra_hosts>("extra_hosts", "{name: address}"),
      extra<&Service::tmpfs>("tmpfs", "[path]: kept in memory, and lost with the container"),
      extra<&Service::aliases>("aliases", "[text]: other names in the network")};
  return all;
}

const Members& Port::members() {
  static const Members all{
      required<&Port::number>("number", "1 to 65535"),
      member<&Port::transport>("transport", "`TCP`, `UDP` or `SCTP`"),
      anything<&Port::application>("application", "`http` or another protocol; null: not said"),
      anything<&Port::wait>("wait", "how long it may take to answer; null: it is not awaited"),
      anything<&Port::url>("url", "text or null"),
      extra<&Port::is_awaited>("awaited", "a UDP port whose `wait` was asked for")};
  return all;
}

const Members& ContainerUser::members() {
  static const Members all{required<&ContainerUser::uid>("uid", "number or name"),
                           member<&ContainerUser::gid>("gid", "number, name or null")};
  return all;
}

const Members& Gpu::members() {
  static const Members all{
      member<&Gpu::driver>("driver", "text, or {\"docker\": text}; null: `nvidia`"),
      member<&Gpu::count>("count", "how many; -1: all"),
      member<&Gpu::shm_size>("shm_size", "MB; 0: the engine's"),
      member<&Gpu::device_ids>("device_ids", "[text]: these and no others"),
      member<&Gpu::ulimits>("ulimits", "{name: number}")};
  return all;
}

const Members& ArtifactMount::members() {
  static const Members all{required<&ArtifactMount::artifact>("artifact", "name of an artifact"),
                           required<&ArtifactMount::digest>("digest", "hole on its digest")};
  return all;
}

const Members& DirectoryMount::members() {
  static const Members all{required<&DirectoryMount::directory>("directory", "name of a directory"),
                           required<&DirectoryMount::volume>("volume", "hole on its volume")};
  return all;
}

const Members& PortOutputs::members() {
  static const Members all{
      member<&PortOutputs::number>("number", "inside"),
      member<&PortOutputs::transport>("transport", "`TCP`, `UDP` or `SCTP`"),
      member<&PortOutputs::public_port>("public", "port of this machine, or null")};
  return all;
}

const Members& ServiceOutputs::members() {
  static const Members all{
      member<&ServiceOutputs::uuid>("uuid", "32 hex digits"),
      member<&ServiceOutputs::ip_address>("ip_address", "within the network of the environment"),
      member<&ServiceOutputs::hostname>("hostname", "its name"),
      member<&ServiceOutputs::ports>("ports", "{id: {\"number\", \"transport\", \"public\"}}"),
      member<&ServiceOutputs::container>("container", "id of its container"),
      member<&ServiceOutputs::started>("started", "how often it was started"),
      extra<&ServiceOutputs::has_ended>(
          "ended", "it ended by itself with exit code 0 when it was made or started"),
      extra<&ServiceOutputs::digest>("digest", "if found by its marks: digest of its attributes")};
  return all;
}

const Members& ServiceSeen::members() {
  static const Members all{
      member<&ServiceSeen::status>(
          "status", "as engines say it, or `unattached`: it does not run and its network is gone"),
      member<&ServiceSeen::exit_code>("exit_code", "of one that ended, else null"),
      member<&ServiceSeen::container>("container", "id of its container"),
      member<&ServiceSeen::digest>("digest", "hex digest of the attributes it was made with"),
      extra<&ServiceSeen::is_cut_off>("cut_off",
                                      "it runs and somebody disconnected it from its network")};
  return all;
}

DirectoryMount mounted_directory(std::string_view name) {
  return {Hole<Name>(Value(name)),
          Hole<Name>(Value::deferred({Part(Output{"directory", name, "volume"})}))};
}

std::string_view service_name(const Key& key) {
  const std::string_view name = key.name;
  return name.substr(0, name.find('~'));
}

const TypedKind& service_kind() {
  static const ServiceKind kind;
  return kind;
}

}  // namespace fettle
