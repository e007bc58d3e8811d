/// The program: finds the command, opens what it asks for, and turns errors into exit codes.

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "app/acts.h"
#include "app/cluster.h"
#include "app/command_rights.h"
#include "app/commands.h"
#include "app/engine_life.h"
#include "app/front_end.h"
#include "app/home.h"
#include "app/kinds.h"
#include "app/libraries.h"
#include "app/machine_choice.h"
#include "app/node_daemon.h"
#include "app/scheduled_command.h"
#include "app/signals.h"
#include "base/http.h"
#include "base/node_name.h"
#include "base/out_of_memory.h"
#include "base/process.h"
#include "base/scratch_folder.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "base/user_path.h"
#include "base/user_variables.h"
#include "cli/commands/commands.h"
#include "cli/formats.h"
#include "cli/limits.h"
#include "cli/live.h"
#include "cli/named_files.h"
#include "cli/print.h"
#include "cli/server_choice.h"
#include "cli/store_choice.h"
#include "controller/cluster_access.h"
#include "controller/cluster_look.h"
#include "controller/node_specs.h"
#include "documents/errors.h"
#include "drivers/agent/agent_machine.h"
#include "drivers/engine/address.h"
#include "drivers/engine/driver.h"
#include "drivers/engine/logins.h"
#include "drivers/engine/private_podman.h"
#include "drivers/handler/handler_driver.h"
#include "drivers/host/host_driver.h"
#include "remote/agents.h"
#include "remote/notices.h"
#include "remote/session.h"
#include "store/blobs.h"
#include "store/key_command.h"
#include "store/limited_store.h"
#include "store/reserve.h"
#include "store/store_opening.h"
#include "workplace/engines.h"

namespace fettle {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

uint64_t random_bits() {
  uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
    bits = static_cast<uint64_t>(now_from_clock().time_since_epoch().count());
  return bits;
}

/// A command that somebody else's program asks for.
struct ServedCommand {
  const CommandRequest& request;
  std::string root;                 ///< stands for `/` of the client
  std::string store;                ///< where the server keeps its state
  Permit permit;                    ///< of whoever asks
  std::optional<std::string> zone;  ///< `TZ` of the server
};

int run(std::vector<std::string> words, bool is_kurtosis, const ServedCommand* served = nullptr);
Result<CommandLook> look_at(const CommandRequest& request);

/// The threads that wait for signals and for a closed output outlive everything else.
Interrupt& the_interrupt() {
  static Interrupt& one = *new Interrupt;
  return one;
}

class Program : public Face {
 public:
  Result<Workplace*> workplace() override {
    if (kept_.store != nullptr)
      return &place_;
    const auto variable_named = [](const char* name) { return variable(name); };
    place_.limits = TRY(limits_asked(parsed, variable_named));
    // An invalid address is reported even if nothing needs an engine.
    if (const std::string engine = parsed.text("engine"); !engine.empty())
      TRY(find_engines(engine, variable_named));
    const Home found = TRY(open_state());
    if (!found.warning.empty())
      tell(cat("warning: ", found.warning));
    const std::string& home = found.folder;
    blobs_ = std::make_unique<FileBlobs>(*kept_.disk, *kept_.index, kept_.blobs);
    http_ = std::make_unique<HttpClient>();
    EngineDriverOptions& options = engine_options_;
    options.limits = place_.limits;
    options.home = kept_.id.empty() ? found.id : kept_.id;
    options.login = [](std::string_view registry) {
      return stored_login(registry, process_variable);
    };
    engine_ = std::make_unique<EngineDriver>(
        *http_, *blobs_,
        [this, home](bool may_start, std::stop_token stop) {
          return connect_engine(*http_, connect_options(home, may_start, stop), stop);
        },
        options);
    machine_.host = std::make_unique<HostDriver>(*http_, *blobs_, random_bits, place_.limits);
    machine_.handler = std::make_unique<HandlerDriver>(*http_, *blobs_, home);
    machine_.host_somewhere = std::make_unique<MachineChoice>(*machine_.host, place_);
    machine_.handler_somewhere = std::make_unique<MachineChoice>(*machine_.handler, place_);
    TRY(name_machines(home));
    place_.home = home;
    place_.store = store_for_all_or_some();
    place_.blobs = blobs_.get();
    place_.kinds = &all_kinds();
    place_.driver = [this](const Name& name) -> Driver* {
      return name == own_engine  ? static_cast<Driver*>(engine_.get())
             : name == "host"    ? machine_.host_somewhere.get()
             : name == "handler" ? machine_.handler_somewhere.get()
             : name == "kubernetes" && clusters_.kept.link != nullptr
                 ? static_cast<Driver*>(&clusters_.kept.link->driver())
             : !machine_of_driver(name).empty() ? driver_of_machine(machine_.known, name)
                                                : node_driver(name);
    };
    place_.nodes = [this]() -> Result<std::vector<std::string>> {
      std::vector<std::string> names;
      for (NodeSpec& node : TRY(nodes_of(*kept_.store)))
        names.push_back(std::move(node.name));
      return names;
    };
    place_.check_engine = [](const std::string& address) -> Status {
      TRY(parse_engine_address(address, process_variable));
      return {};
    };
    place_.clock = now_from_clock;
    place_.random = random_bits;
    place_.interrupt = &interrupt_;
    place_.notice = [this](const std::string& text) { tell(text); };
    place_.command = command;
    place_.spectator = live_.get();
    place_.doing = doing;
    place_.shows_secrets = parsed.flag("show-secrets");
    if (!place_.shows_secrets)
      hide_in_output(place_.mask);
    signals_ = std::make_unique<Signals>(interrupt_);
    output_ = std::make_unique<OutputWatch>(interrupt_, ends_with_reader);
    return &place_;
  }

  std::pair<std::vector<Diagnosis>, bool> diagnosis() override {
    std::vector<Diagnosis> lines;
    bool well = true;
    const auto say = [&](bool good, std::string text) {
      lines.push_back({good, std::move(text)});
      well &= good;
    };
    const Result<Workplace*> opened = workplace();
    const Status usable = opened ? check_writable(place_.home) : Status(opened.error());
    const std::string shared = store_address();
    const std::string where = cat(
        shared.empty() ? std::string() : cat("store at ", shown_url(shared), ", the rest of the "),
        "state in ", place_.home);
    say(usable.has_value(), usable ? where : to_string(usable.error()));
    if (!opened)
      return {lines, well};
    for (Diagnosis& line :
         diagnose_engines(*http_, connect_options(place_.home, false, interrupt_.acts_token()),
                          interrupt_.acts_token()))
      say(line.good, std::move(line.text));
    return {lines, well};
  }

  Result<EngineState> engine(EngineVerb verb) override {
    TRY(workplace());
    const std::stop_token stop = interrupt_.acts_token();
    const ConnectOptions options = connect_options(place_.home, false, stop);
    switch (verb) {
      case EngineVerb::look:
        return look_at_engines(*http_, options, stop);
      case EngineVerb::start:
        return start_engine(*http_, options, stop);
      case EngineVerb::stop:
      case EngineVerb::remove:
        break;
    }
    return end_engine(*http_, options, verb == EngineVerb::remove, stop);
  }

  Result<EngineDoor> engine_door() override {
    TRY(workplace());
    const std::stop_token stop = interrupt_.acts_token();
    return open_engine_door(*http_, connect_options(place_.home, true, stop), stop);
  }

  Result<ClusterAccess> cluster(const ClusterRequest& request) override {
    clusters_.kept = TRY(link_cluster(request, *TRY(workplace()), build()));
    ClusterLink& link = *clusters_.kept.link;
    return ClusterAccess{link.client(), link.objects(), link.owners(), link.policy_version(),
                         &link.copies()};
  }

  /// Opens no folder: the daemon of a node keeps nothing.
  Result<PullTally> serve_node(const NodeRequest& request) override {
    signals_ = std::make_unique<Signals>(interrupt_);
    interrupt_.expect();
    return serve_node_until(
        request, [this](const std::string& text) { tell(text); }, interrupt_.acts_token());
  }

  Result<ClusterReach> reach_cluster(const ClusterRequest& request) override {
    clusters_.asked = TRY(fettle::reach_cluster(request));
    return ClusterReach{*clusters_.asked.client, clusters_.asked.space};
  }

  Build build() const override { return {FETTLE_VERSION, built_from(), library_versions()}; }

  Result<std::string> home_folder() override { return TRY(find_home()).folder; }

  CommandHost command_host() const override {
    const char* const given = std::getenv("TZ");
    const auto zone = given == nullptr ? std::nullopt : std::optional<std::string>(given);
    return {look_at,
            [store = store_address(), zone](const CommandRequest& request, const std::string& root,
                                            const Permit& permit) {
              before_output({});
              // For the commands that answer for the page.
              if (permit.page != nullptr && !store.empty())
                setenv("FETTLE_STORE", store.c_str(), 1);
              const ServedCommand served{request, root, store, permit, zone};
              return run(request.words, request.is_kurtosis, &served);
            }};
  }

  std::optional<ServedCaller> served() const override {
    if (served_ == nullptr)
      return std::nullopt;
    return ServedCaller{served_->request, served_->root, served_->permit.grant, served_->zone,
                        served_->permit.page};
  }

  Result<CommandRequest> scheduled_request() const override {
    if (served_ == nullptr)
      return Face::scheduled_request();
    return request_of_schedule(parsed, served_->request, served_->root);
  }

  void show_work(const std::string& title) override {
    if (live_ != nullptr)
      live_->open(title);
  }

  /// From now on, shows on standard error what takes long.
  Status watch(bool can_move) {
    // `state` takes Idem's switch of that name, which asks for nothing.
    const std::string asked = parsed.text("progress");
    const LiveMode mode = TRY(live_mode(asked == "true" ? "" : asked, quiet, can_move));
    // The reader of a pipe may want the terminal for itself, as a pager does.
    struct stat about{};
    const bool is_pipe = fstat(STDOUT_FILENO, &about) == 0 && S_ISFIFO(about.st_mode);
    if (mode == LiveMode::none || (asked.empty() && is_pipe))
      return {};
    live_ = std::make_unique<Live>(mode, interrupt_);
    is_live = mode == LiveMode::live;
    doing = [this](const std::string& what) { live_->doing(what); };
    return {};
  }

  /// It works for somebody else, who does not mean this machine, and within his rights.
  void serve(const ServedCommand& served) {
    served_ = &served;
    machine_.known.is_here_refused = true;
    permit_ = served.permit;
    if (served.permit.grant.right >= Right::act)
      return;
    variables_of_user() = served.permit.variables;
    why_only_own_programs() =
        cat("programs of others are run for tokens with the right `act`, and the token `",
            served.permit.grant.token, "` has `", to_string(served.permit.grant.right), "`");
  }

  bool is_interrupted() const { return interrupt_.asked() > 0; }
  /// Whether output was lost. A command that only reports has then not reported everything. A
  /// command that changes something says itself how far it came.
  bool was_cut_off() const {
    return is_interrupted() && ends_with_reader &&
           !(interrupt_.is_expected() && Signals::is_ended());
  }

  std::string command;
  bool ends_with_reader = false;
  bool is_state_optional = false;  ///< a command that only reads files can do without our folder

 private:
  /// Those of the nodes that were asked for, from any thread.
  struct NodeDrivers {
    std::mutex mutex;
    std::map<Name, std::unique_ptr<EngineDriver>> drivers;
  };

  /// Those that act on this machine, and what stands before them: it finds the machine that is meant.
  struct MachineDrivers {
    std::unique_ptr<HostDriver> host;
    std::unique_ptr<HandlerDriver> handler;
    std::unique_ptr<MachineChoice> host_somewhere, handler_somewhere;
    std::mutex mutex;  ///< guards those of the agents that were asked for
    std::map<std::string, std::unique_ptr<AgentMachine>> agents;
    Machines known;
  };

  /// The one that it keeps, and the one about which it asks.
  struct Clusters {
    ClusterConnection kept;
    ReachedCluster asked;
  };

  Result<Home> find_home() const {
    // `--root-dir`, where Idem keeps everything, counts as a variable that names our folder in it.
    return open_home([&](const char* name) {
      const std::string root = parsed.text("root-dir");
      return !root.empty() && std::string_view(name) == "FETTLE_HOME"
                 ? cat(std::filesystem::absolute(root).string(), "/fettle")
                 : variable(name);
    });
  }

  /// Says how the machines of agents are found.
  Status name_machines(const std::string& home) {
    machine_.known.asked = parsed.text("on");
    if (!machine_.known.asked.empty())
      TRY(check_node_name(machine_.known.asked, "an agent"));
    machine_.known.is_of_machine = &is_kind_of_machine;
    machine_.known.find = [this, home](const std::string& name) -> Result<Machine*> {
      const std::lock_guard lock(machine_.mutex);
      std::unique_ptr<AgentMachine>& machine = machine_.agents[name];
      const auto connect = [home, name]() -> Result<Descriptor> {
        return connect_socket(TRY(socket_of_agent(home, name, StreamGoal::acts)));
      };
      const auto say = [this](const std::string& text) { tell(text); };
      if (machine == nullptr)
        machine = std::make_unique<AgentMachine>(
            name, AgentMachine::Place{connect, say, why_only_own_programs()}, *blobs_);
      return machine.get();
    };
    place_.machines = &machine_.known;
    return {};
  }

  /// Opens the folder of our state, and the store. If none can be used and none is needed, makes a
  /// new one that goes away with the program.
  Result<Home> open_state() {
    Result<Home> home = find_home();
    const Status opened =
        home ? open_store_of(home->folder, store_address()) : Status(home.error());
    if (opened)
      return home;
    if (!is_state_optional)
      return opened.error();
    std::error_code failure;
    scratch_.emplace(
        TRY(ScratchFolder::make(std::filesystem::temp_directory_path(failure).string())));
    TRY(open_store_of(scratch_->path(), {}));
    return Home{scratch_->path(), {}, {}};
  }

  Status open_store_of(const std::string& home, const std::string& address) {
    // A mistyped schema must not look like an empty store.
    kept_ = TRY(open_store(address, home, place_.mask,
                           {.may_make = !ends_with_reader, .silence = place_.limits.silence}));
    if (!kept_.made.empty())
      tell(cat("made a new store in ", kept_.made));
    if (address.empty())
      keep_reserve(home);
    return {};
  }

  /// The store, within the rights of whoever a server works for.
  Store* store_for_all_or_some() {
    if (!permit_ || !permit_->grant.is_confined())
      return kept_.store.get();
    StoreLimits limits;
    limits.may_write = permit_->grant.right >= Right::act;
    if (permit_->grant.is_limited()) {
      limits.reaches = [this](const Name& name) { return permit_->grant.reaches(name.str()); };
      limits.hides_others = permit_->needed == Right::read;
    }
    limited_ = limited_store(*kept_.store, std::move(limits));
    return limited_.get();
  }

  /// Empty: a file in the folder of our state.
  std::string store_address() const {
    return served_ != nullptr ? served_->store : store_meant(parsed);
  }

  ConnectOptions connect_options(const std::string& home, bool may_start,
                                 const std::stop_token& stop) {
    ConnectOptions options;
    options.limits = place_.limits;
    options.may_start = may_start;
    options.given = parsed.text("engine");
    options.private_root = home + "/podman";
    options.agents = agents(home);
    // Reported when it is started, not each time it is used.
    if (!PrivatePodman({options.private_root}).is_running(stop))
      options.notice = [this](const std::string& text) { tell(text); };
    return options;
  }

  /// The driver of a node's engine, made when it is first asked for. Null: there is no such node,
  /// or the store does not say.
  Driver* node_driver(const Name& name) {
    const std::string_view node = node_of_engine(name);
    if (node.empty())
      return nullptr;
    const std::lock_guard lock(nodes_.mutex);
    if (const auto found = nodes_.drivers.find(name); found != nodes_.drivers.end())
      return found->second.get();
    const auto known = node_of(*kept_.store, node);
    if (!known || !*known)
      return nullptr;
    EngineDriverOptions options = engine_options_;
    options.name = name;
    const auto locate = [this, address = (*known)->engine](bool, std::stop_token stop) {
      return link_node(address, stop);
    };
    nodes_.drivers[name] = std::make_unique<EngineDriver>(*http_, *blobs_, locate, options);
    return nodes_.drivers[name].get();
  }

  Result<EngineLink> link_node(const std::string& address, const std::stop_token& stop) const {
    const EngineAddress parsed_address = TRY(parse_engine_address(address, process_variable));
    return link_engine(*http_, parsed_address, place_.limits, stop, agents(place_.home))
        .context(cat("no engine answers at `", address, "`"));
  }

  /// Those of the server of our folder.
  static AgentSockets agents(const std::string& home) {
    return [home](const std::string& name) { return socket_of_agent(home, name); };
  }

  void tell(const std::string& text) const {
    if (!quiet)
      print_error(text);
  }

  Interrupt& interrupt_ = the_interrupt();
  std::optional<ScratchFolder> scratch_;  ///< instead of the folder of our state
  OpenedStore kept_;
  const ServedCommand* served_ = nullptr;  ///< what a server works on; null: it runs here
  std::optional<Permit> permit_;           ///< of whoever a server works for
  std::unique_ptr<Store> limited_;         ///< the same store within it
  std::unique_ptr<FileBlobs> blobs_;
  std::unique_ptr<HttpClient> http_;
  EngineDriverOptions engine_options_;
  std::unique_ptr<EngineDriver> engine_;
  NodeDrivers nodes_;
  MachineDrivers machine_;
  std::unique_ptr<Live> live_;
  std::unique_ptr<Signals> signals_;
  std::unique_ptr<OutputWatch> output_;
  Workplace place_;
  Clusters clusters_;  ///< ends first: it uses the workplace
};

int exit_code_of(const Error& error) { return error.blame == Blame::user ? 2 : 1; }

/// The exit code of a command that came to its end, or another one if its output was lost.
int code_after_output(int code) {
  if (OutputWatch::is_closed())
    return code_of_closed_output;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
    return code;
  if (errno == EPIPE || OutputWatch::is_closed())
    return code_of_closed_output;
  print_error(cat("error: ", output_error("standard output").message));
  return 1;
}

/// Prints an error and returns its exit code.
int tell_error(const Program& program, const Error& error) {
  if (OutputWatch::is_closed())
    return code_of_closed_output;
  Error told = error;
  if (program.is_interrupted() && is_cancelled(error))
    told = world_error("interrupted");
  if (program.json || program.json_lines)
    print_json(document_of(told));
  print_error(error_text(told, program.terminal));
  if (OutputWatch::is_closed())
    return code_of_closed_output;
  return program.is_interrupted() ? code_of_interruption : exit_code_of(told);
}

/// The output format that words ask for, if they could not be parsed.
std::string output_asked(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i)
    for (const std::string_view flag : {"-o", "--output"}) {
      if (words[i] == flag && i + 1 < words.size())
        return words[i + 1];
      if (words[i].starts_with(cat(flag, "=")))
        return words[i].substr(flag.size() + 1);
      if (flag == "-o" && words[i].starts_with(flag) && words[i].size() > flag.size())
        return words[i].substr(flag.size());
    }
  return "text";
}

/// Runs a command. A uuid behind `-e` stands for the name, even where an environment may be made.
Result<int> run_named(const Command& command, Program& program) {
  const std::string given = program.parsed.text("enclave");
  if (may_be_uuid(given))
    program.parsed.options["enclave"] = {
        TRY(name_of_environment(*TRY(program.workplace()), given))};
  return command.run(program);
}

/// `service --help`
std::vector<std::string> with_help_of_group(std::vector<std::string> words) {
  words[1] = "help";
  std::swap(words[0], words[1]);
  return words;
}

/// A command line as it is meant.
std::vector<std::string> meant_words(std::vector<std::string> words, bool is_kurtosis) {
  words = with_front_end(std::move(words));
  return is_kurtosis ? with_help_of_bare_group(std::move(words)) : words;
}

constexpr size_t longest_shown = 200;

std::string shown_command(const std::vector<std::string>& words) {
  std::string shown = cat("fettle ", mask_command(words));
  return shown.size() > 200 ? shown.substr(0, 197) + "..." : shown;
}

/// The same for others at a server: a receiver of notices may have its key in its URL.
std::string shown_request(std::vector<std::string> words, const CommandLine& parsed) {
  if (const std::string url = parsed.text("notify"); !url.empty())
    for (std::string& word : words)
      word = replace_all(word, url, origin_of(url));
  // As somebody may paste them into a shell.
  std::string shown = "fettle";
  for (const std::string& word : words)
    shown += cat(" ", quoted_for_shell(mask_command({word})));
  return clipped(shown, longest_shown);
}

/// Before a command is run for somebody else, in a process that talks with him.
Result<CommandLook> look_at(const CommandRequest& request) {
  if (!request.words.empty() && request.words[0] == "__complete")
    return CommandLook{
        true, "fettle __complete", {Right::read, Reach::shown, {}, "fettle __complete"}};
  CommandLine parsed;
  const Command* const command = TRY(parse_command(all_commands(), request.words, parsed));
  if (std::optional<Error> refusal = refusal_at_server(*command, parsed))
    return *std::move(refusal);
  if (command->words == "schedule add")
    TRY(scheduled_command(parsed));
  return CommandLook{command->ends_with_reader, shown_request(request.words, parsed),
                     needs_of(*command, parsed), watch_of(*command, parsed),
                     parsed.has("detailed-exitcode") && parsed.flag("detailed-exitcode")};
}

/// Runs a command here, or where a server is meant; its exit code.
int run_somewhere(const Command& command, const std::vector<std::string>& words, Program& program,
                  const ServedCommand* served) {
  if (served != nullptr) {
    root_of_copies() = served->root;
    relocate(program.parsed, served->request.paths, served->root);
    if (served->permit.grant.is_confined()) {
      remove_links_outside(served->request.files, served->root);
      if (const std::optional<Error> outside =
              file_outside(named_files(command, program.parsed), served->root))
        return tell_error(program, *outside);
    }
  } else {
    const Result<std::optional<ClientEnd>> there = run_elsewhere(command, words, program);
    if (!there)
      return tell_error(program, there.error());
    if (*there)
      return (*there)->lost_reader ? code_of_closed_output : (*there)->code;
  }
  if (const Status watched =
          program.watch(variable("TERM") != "dumb" && isatty(STDERR_FILENO) == 1);
      !watched)
    return tell_error(program, watched.error());
  const Result<int> code = run_named(command, program);
  if (!code)
    return tell_error(program, code.error());
  return code_after_output(program.was_cut_off() ? code_of_interruption : *code);
}

int run(std::vector<std::string> words, bool is_kurtosis, const ServedCommand* served) {
  if (served == nullptr)
    words = meant_words(std::move(words), is_kurtosis);
  Program program;
  if (served != nullptr)
    program.serve(*served);
  program.is_kurtosis = is_kurtosis;
  program.command = shown_command(words);
  end_when_out_of_memory(program.command, false);
  const bool is_dumb = variable("TERM") == "dumb";
  const bool colours = variable("NO_COLOR").empty() && !is_dumb;
  program.colour = colours && isatty(STDOUT_FILENO) == 1;
  program.terminal = colours && isatty(STDERR_FILENO) == 1;
  // Shells ask this at each key: it answers or is silent.
  if (!words.empty() && words[0] == "__complete") {
    program.quiet = true;
    if (served == nullptr && complete_elsewhere(words, program))
      return 0;
    return complete(program, all_commands(), std::span<const std::string>(words).subspan(1));
  }
  if (!words.empty() && words[0] == "__acts" && served == nullptr) {
    program.quiet = true;
    const Result<int> code =
        act_for_server(program, std::span<const std::string>(words).subspan(1));
    return code ? *code : tell_error(program, code.error());
  }
  if (words.empty())
    words = {"help"};
  if (words[0] == "--help" || words[0] == "-h")
    words[0] = "help";
  else if (words[0] == "--version")
    words[0] = "version";
  else if (words.size() >= 2 && (words[1] == "--help" || words[1] == "-h") &&
           !help_of_group(all_commands(), words[0]).empty())
    words = with_help_of_group(std::move(words));
  const Result<const Command*> command = parse_command(all_commands(), words, program.parsed);
  if (!command) {
    const Format::Kind asked = format_of(output_asked(words)).kind;
    program.json = asked == Format::Kind::json || asked == Format::Kind::json_lines;
    if (asked == Format::Kind::json_lines)
      print_json_in_lines();
    return tell_error(program, command.error());
  }
  const std::string output = program.parsed.text("output", "text");
  std::vector<std::string> known = common_formats();
  known.insert(known.end(), (*command)->outputs.begin(), (*command)->outputs.end());
  if (std::find(known.begin(), known.end(), output) == known.end()) {
    const std::string near = suggestion(output, known);
    print_error(cat("error: unknown output `", output, "`",
                    near.empty() ? cat("; known are ", join(known, ", ")) : near));
    return 2;
  }
  const Format::Kind kind = format_of(output).kind;
  program.output = output;
  program.json_lines = kind == Format::Kind::json_lines;
  program.json = kind == Format::Kind::json || (program.json_lines && !(*command)->tells_lines);
  end_when_out_of_memory(program.command, program.json || program.json_lines);
  if (program.json_lines)
    print_json_in_lines();
  // `starlark` reads its words itself and has a help page of its own, as text.
  const bool asks_for_document =
      (*command)->words == "starlark" && output != "text" &&
      std::ranges::any_of(program.parsed.arguments,
                          [](const std::string& word) { return word == "--help" || word == "-h"; });
  if (program.parsed.has("help") || asks_for_document) {
    print_help(program, **command);
    return code_after_output(0);
  }
  program.quiet = program.parsed.flag("quiet");
  program.ends_with_reader = (*command)->ends_with_reader;
  program.is_state_optional =
      (*command)->needs_no_state != nullptr && (*command)->needs_no_state(program.parsed);
  return run_somewhere(**command, words, program, served);
}

/// Makes sure that the standard streams exist, so that no file of ours takes the place of one.
/// Writing to an output that was not there fails as it would otherwise (EBADF).
void open_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(number, F_GETFD) >= 0)
      continue;
    static_cast<void>(!::open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY));
  }
}

}  // namespace
}  // namespace fettle

int main(int argc, char** argv) {
  fettle::open_standard_streams();
  umask(022);
  signal(SIGPIPE, SIG_IGN);
  fettle::key_command() = fettle::variable("FETTLE_KEY_COMMAND");
  const bool is_kurtosis = argc > 0 && fettle::is_kurtosis_name(argv[0]);
  const int code = fettle::run({argv + std::min(argc, 1), argv + argc}, is_kurtosis);
  return is_kurtosis ? fettle::code_of_kurtosis(code) : code;
}
