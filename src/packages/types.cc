#include "packages/types.h"

#include <arpa/inet.h>

#include <array>
#include <filesystem>

#include "base/text.h"
#include "base/time.h"
#include "jq/extract.h"
#include "kinds/recipe.h"
#include "packages/names.h"
#include "packages/reference.h"

namespace fettle::types {
namespace {

using starlark::Call;
using starlark::NamedValue;
using starlark::Parameter;
using starlark::RecordType;
using starlark::Signature;
using starlark::Value;
using starlark::Want;

std::optional<int64_t> integer(Value record, std::string_view field) {
  const auto value = starlark::field_of(record, field);
  return value ? starlark::integer_of(*value) : std::nullopt;
}

std::string text(Value record, std::string_view field) {
  const auto value = starlark::field_of(record, field);
  return value && starlark::type_of(*value) == starlark::Type::text ? starlark::text_of(*value)
                                                                    : std::string();
}

bool is_set(Value record, std::string_view field) {
  const auto value = starlark::field_of(record, field);
  return value && starlark::type_of(*value) != starlark::Type::none;
}

Status check_duration_field(Value record, std::string_view field) {
  if (is_set(record, field))
    TRY(parse_waiting(text(record, field)).context(cat("`", field, "`")));
  return {};
}

Status check_port(Value port) {
  const int64_t number = integer(port, "number").value_or(-1);
  if (number < 1 || number > 65535)
    return user_error(cat("port number ", starlark::brief_of(*starlark::field_of(port, "number")),
                          " is out of range, expected 1 to 65535"));
  const std::string transport = text(port, "transport_protocol");
  const std::vector<std::string_view> known{"TCP", "UDP", "SCTP"};
  if (!transport.empty() && std::find(known.begin(), known.end(), transport) == known.end())
    return user_error(
        cat("unknown transport protocol `", transport, "`, expected `TCP`, `UDP` or `SCTP`"));
  if (is_set(port, "wait") && text(port, "wait").empty())
    return user_error("`wait` is empty, expected a duration like `15s`, or None to skip the wait");
  return check_duration_field(port, "wait");
}

Status check_text_list(std::string_view field, Value list) {
  for (size_t i = 0; i < starlark::length_of(list); ++i)
    if (const Value item = starlark::item_of(list, i);
        starlark::type_of(item) != starlark::Type::text)
      return user_error(cat("`", field, "` must be a list of strings, item ", i, " is ",
                            starlark::type_name(item)));
  return {};
}

/// A field that is given and not None.
std::optional<Value> given_field(Value record, std::string_view field) {
  return is_set(record, field) ? starlark::field_of(record, field) : std::nullopt;
}

/// A container is made with the text as it is: what another instruction gives is not known then.
Status check_known(std::string_view field, const std::string& given) {
  if (!has_reference(given))
    return {};
  return user_error(cat("`", field,
                        "` has the result of another instruction, which is not known before the "
                        "run; it can stand in `cmd`, `entrypoint` and `env_vars`"));
}

Status check_path_inside(std::string_view field, std::string_view what, const std::string& path) {
  TRY(check_known(field, path));
  if (path.starts_with('/') && (what != "file" || path.size() > 1))
    return {};
  return user_error(
      cat("`", field, "`: `", printable(path), "` is not an absolute path of a ", what));
}

Status check_host_address(const std::string& address) {
  std::string plain = address;
  if (plain.starts_with('[') && plain.ends_with(']'))
    plain = plain.substr(1, plain.size() - 2);
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (address == "host-gateway" || inet_pton(AF_INET, plain.c_str(), bytes.data()) == 1 ||
      inet_pton(AF_INET6, plain.c_str(), bytes.data()) == 1)
    return {};
  return user_error(cat("`extra_hosts`: `", printable(address),
                        "` is not an IP address, such as `10.0.0.1`, and not `host-gateway`"));
}

/// Where a container works and what it is called. An engine would find most of it wrong, too, but
/// in the middle of a run.
Status check_surroundings(Value config) {
  if (const auto moved = given_field(config, "files_to_be_moved"))
    for (const auto& [from, to] : starlark::entries_of(*moved))
      TRY(check_path_inside("files_to_be_moved", "file", starlark::text_of(to)));
  if (const std::string path = text(config, "working_dir"); !path.empty())
    TRY(check_path_inside("working_dir", "folder", path));
  if (const auto paths = given_field(config, "tmpfs"))
    for (size_t i = 0; i < starlark::length_of(*paths); ++i) {
      const std::string path = starlark::text_of(starlark::item_of(*paths, i));
      TRY(check_path_inside("tmpfs", "folder", path));
      if (std::filesystem::path(path).lexically_normal().relative_path().empty())
        return user_error("`tmpfs`: the root of a container cannot be kept in memory");
    }
  if (const auto names = given_field(config, "aliases"))
    for (size_t i = 0; i < starlark::length_of(*names); ++i) {
      const std::string name = starlark::text_of(starlark::item_of(*names, i));
      TRY(check_known("aliases", name));
      TRY(check_network_name("alias", name));
    }
  if (const auto hosts = given_field(config, "extra_hosts"))
    for (const auto& [name, address] : starlark::entries_of(*hosts)) {
      TRY(check_known("extra_hosts", starlark::text_of(name)));
      TRY(check_known("extra_hosts", starlark::text_of(address)));
      TRY(check_network_name("host name", starlark::text_of(name)));
      TRY(check_host_address(starlark::text_of(address)));
    }
  return {};
}

/// Lists and dicts of texts hold texts only.
Status check_texts(Value config) {
  for (const auto* field : {"entrypoint", "cmd", "devices", "capabilities", "tmpfs", "aliases"})
    if (const auto list = given_field(config, field))
      TRY(check_text_list(field, *list));
  for (const auto* field : {"node_selectors", "bind_mounts", "files_to_be_moved", "extra_hosts"})
    if (const auto dict = given_field(config, field))
      TRY(check_text_dict(field, *dict));
  TRY(check_surroundings(config));
  const auto variables = given_field(config, "env_vars");
  return variables ? check_variables(*variables) : Status();
}

Status check_image(Value image) {
  const RecordType* type = starlark::record_type_of(image);
  const bool fits = starlark::type_of(image) == starlark::Type::text || type == &image_spec ||
                    type == &image_build_spec || type == &nix_build_spec;
  return fits ? Status()
              : user_error(cat("`image` must be a string, an ImageSpec, an ImageBuildSpec or a "
                               "NixBuildSpec, got ",
                               starlark::type_name(image)));
}

Status check_labels(Value labels);

Status check_service_config(Value config) {
  TRY(check_image(*starlark::field_of(config, "image")));
  for (const auto* limits : {"cpu", "memory"}) {
    const auto least = integer(config, cat("min_", limits)),
               most = integer(config, cat("max_", limits));
    if (least && most && *least > *most)
      return user_error(
          cat("`min_", limits, "` (", *least, ") is larger than `max_", limits, "` (", *most, ")"));
  }
  for (const auto* field :
       {"min_cpu", "max_cpu", "cpu_allocation", "min_memory", "max_memory", "memory_allocation"})
    if (is_set(config, field)) {
      const auto number = integer(config, field);
      if (!number)
        return user_error(cat("`", field, "` is too large"));
      if (*number < 0)
        return user_error(cat("`", field, "` must not be negative"));
    }
  for (const auto* field : {"min_memory", "max_memory", "memory_allocation"})
    if (const auto number = integer(config, field); number && *number != 0 && *number < 6)
      return user_error(cat("`", field, "` must be at least 6 megabytes, got ", *number));
  for (const auto* field : {"ports", "public_ports"})
    if (const auto ports = starlark::field_of(config, field);
        ports && starlark::type_of(*ports) == starlark::Type::dict)
      for (const auto& [id, port] : starlark::entries_of(*ports)) {
        if (starlark::type_of(id) != starlark::Type::text ||
            starlark::record_type_of(port) != &port_spec)
          return user_error(cat("`", field, "` must map port ids to PortSpec values"));
        TRY(check_port_id(starlark::text_of(id)));
      }
  if (const auto files = given_field(config, "files"))
    TRY(check_files(*files));
  if (const auto tolerations = given_field(config, "tolerations"))
    TRY(check_tolerations(*tolerations));
  TRY(check_texts(config));
  if (const auto labels = starlark::field_of(config, "labels");
      labels && starlark::type_of(*labels) == starlark::Type::dict)
    return check_labels(*labels);
  return {};
}

/// Kurtosis: a label's key has at most 63 lower case letters, digits, `-`, `_` and `.`, begins with
/// a letter and ends with a letter or digit; its value may be empty and have capital letters, too.
Status check_labels(Value labels) {
  for (const auto& [key, value] : starlark::entries_of(labels)) {
    if (starlark::type_of(key) != starlark::Type::text ||
        starlark::type_of(value) != starlark::Type::text)
      return user_error("`labels` must map strings to strings");
    TRY(check_label_key(starlark::text_of(key)));
    TRY(check_label_value(starlark::text_of(value)));
  }
  return {};
}

/// The driver by the sort of engine; of the two, only Docker's counts here.
Status check_gpu_driver(Value driver) {
  if (starlark::type_of(driver) != starlark::Type::dict)
    return {};
  TRY(check_text_dict("driver", driver));
  for (const auto& [key, value] : starlark::entries_of(driver))
    if (const std::string name = starlark::text_of(key); name != "docker" && name != "kubernetes")
      return user_error(
          cat("unknown key `", name, "` of `driver`, expected `docker` or `kubernetes`"));
  return {};
}

Status check_gpu(Value gpu) {
  const int64_t count = integer(gpu, "count").value_or(0);
  if (count < -1)
    return user_error(cat("`count` must be a number of GPUs, or -1 for all, got ", count));
  if (integer(gpu, "shm_size").value_or(0) < 0)
    return user_error("`shm_size` must not be negative");
  const auto ids = given_field(gpu, "device_ids");
  if (ids)
    TRY(check_text_list("device_ids", *ids));
  if (ids && starlark::length_of(*ids) > 0 && count != 0)
    return user_error("`count` and `device_ids` cannot be used together");
  if (const auto limits = given_field(gpu, "ulimits"))
    for (const auto& [key, value] : starlark::entries_of(*limits))
      if (starlark::type_of(key) != starlark::Type::text || !starlark::integer_of(value))
        return user_error("`ulimits` must map names of limits to whole numbers");
  if (const auto driver = given_field(gpu, "driver"))
    return check_gpu_driver(*driver);
  return {};
}

/// Kubernetes' words; an empty one stands for its default.
Status check_toleration(Value toleration) {
  struct Row {
    const char* field;
    std::vector<std::string> known;
  };
  static const std::vector<Row> rows{
      {"operator", {"Equal", "Exists"}},
      {"effect", {"NoSchedule", "PreferNoSchedule", "NoExecute"}},
  };
  for (const Row& row : rows)
    if (const std::string given = text(toleration, row.field);
        !given.empty() && std::find(row.known.begin(), row.known.end(), given) == row.known.end())
      return user_error(
          cat("unknown `", row.field, "` `", given, "`, expected one of ", join(row.known, ", ")));
  return {};
}

Status check_user(Value made) {
  constexpr int64_t largest = 4'294'967'294;
  for (const auto* field : {"uid", "gid"}) {
    if (const std::string name = text(made, field); !name.empty()) {
      TRY(check_known(field, name));
      if (name.find_first_of(": \t\n") != name.npos)
        return user_error(cat("`", field, "` is not a name or a number: `", printable(name), "`"));
      continue;
    }
    const int64_t number = integer(made, field).value_or(is_set(made, field) ? largest + 1 : 0);
    if (number < 0)
      return user_error(cat("`", field, "` must not be negative"));
    if (number > largest)
      return user_error(cat("`", field, "` is too large; the maximum is ", largest));
  }
  return {};
}

Status check_image_build(Value image) {
  if (text(image, "image_name").empty())
    return user_error("`image_name` is empty");
  if (!text(image, "build_file").empty() && !text(image, "dockerfile_inline").empty())
    return user_error("give either `build_file` or `dockerfile_inline`");
  for (const std::string_view field : {"additional_contexts", "secrets"})
    if (const auto given = given_field(image, field))
      TRY(check_text_dict(field, *given));
  return {};
}

Status check_expressions(Value extract) {
  for (const auto& [key, value] : starlark::entries_of(extract))
    TRY(jq::check(starlark::text_of(value))
            .context(cat("`extract` of `", starlark::text_of(key), "`")));
  return {};
}

/// `extract` maps names to jq expressions.
Status check_recipe_fields(Value recipe) {
  for (const auto* field : {"extract", "headers"})
    if (const auto dict = given_field(recipe, field))
      TRY(check_text_dict(field, *dict));
  if (const auto extract = given_field(recipe, "extract"))
    TRY(check_expressions(*extract));
  if (const auto command = starlark::field_of(recipe, "command")) {
    TRY(check_text_list("command", *command));
    if (starlark::length_of(*command) == 0)
      return user_error("`command` is empty");
  }
  return {};
}

Status check_directory(Value made) {
  const auto artifacts = given_field(made, "artifact_names");
  const bool persistent = is_set(made, "persistent_key");
  if (artifacts && persistent)
    return user_error(
        "a Directory has either `artifact_names` or `persistent_key`, found both: mount the files "
        "artifacts at a separate path, from which the service copies the files to keep");
  if (!artifacts && !persistent)
    return user_error("a Directory needs either `artifact_names` or `persistent_key`");
  if (artifacts)
    TRY(check_text_list("artifact_names", *artifacts));
  if (integer(made, "size").value_or(0) < 0)
    return user_error("`size` must not be negative");
  if (persistent)
    TRY(check_persistent_key(text(made, "persistent_key")));
  return {};
}

Status check_ready(Value condition) {
  const auto field = [&](std::string_view name) { return *starlark::field_of(condition, name); };
  TRY(check_condition(field("recipe"), text(condition, "field"), text(condition, "assertion"),
                      field("target_value")));
  TRY(check_duration_field(condition, "interval"));
  return check_duration_field(condition, "timeout");
}

struct Row {
  const RecordType& type;
  std::vector<Parameter> parameters;
  Status (*check)(Value) = nullptr;
};

std::vector<Row> rows() {
  constexpr Want t = Want::text, i = Want::integer, d = Want::dict, l = Want::list,
                 b = Want::boolean;
  constexpr Want record = Want::record, none = Want::none, any = Want::any;
  return {
      {service_config,
       {{"image", any},
        {"ports?", d},
        {"public_ports?", d},
        {"files?", d},
        {"entrypoint?", l},
        {"cmd?", l},
        {"env_vars?", d},
        {"private_ip_address_placeholder?", t},
        {"max_cpu?", i},
        {"min_cpu?", i},
        {"max_memory?", i},
        {"min_memory?", i},
        {"cpu_allocation?", i},
        {"memory_allocation?", i},
        {"ready_conditions??", record, &ready_condition},
        {"labels?", d},
        {"user??", record, &user},
        {"tolerations?", l},
        {"node_selectors?", d},
        {"files_to_be_moved?", d},
        {"tini_enabled?", b},
        {"tty_enabled?", b},
        {"devices?", l},
        {"publish_udp?", b},
        {"capabilities?", l},
        {"gpu??", record, &gpu_config},
        {"privileged?", b},
        {"host_pid_namespace?", b},
        {"bind_mounts?", d},
        {"working_dir?", t},
        {"extra_hosts?", d},
        {"tmpfs?", l},
        {"aliases?", l}},
       check_service_config},
      {port_spec,
       {{"number", i},
        {"transport_protocol?", t},
        {"application_protocol??", t},
        {"wait?", t | none},
        {"url??", t}},
       check_port},
      {directory,
       {{"artifact_names??", l}, {"persistent_key??", t}, {"size?", i}},
       check_directory},
      {ready_condition,
       {{"recipe", any},
        {"field", t},
        {"assertion", t},
        {"target_value", any},
        {"interval?", t},
        {"timeout?", t}},
       check_ready},
      {exec_recipe, {{"command", l}, {"extract?", d}}, check_recipe_fields},
      {exit_recipe, {}},
      {get_recipe,
       {{"port_id", t}, {"endpoint", t}, {"extract?", d}, {"headers?", d}},
       check_recipe_fields},
      {post_recipe,
       {{"port_id", t},
        {"endpoint", t},
        {"body?", t},
        {"content_type?", t},
        {"extract?", d},
        {"headers?", d}},
       check_recipe_fields},
      {store_spec, {{"src", t}, {"name?", t}}},
      {image_build_spec,
       {{"image_name", t},
        {"build_context_dir", t},
        {"build_file?", t},
        {"target_stage?", t},
        {"build_args?", d},
        {"dockerfile_inline?", t},
        {"additional_contexts?", d},
        {"secrets?", d}},
       check_image_build},
      {image_spec, {{"image", t}, {"registry?", t}, {"username?", t}, {"password?", t}}},
      {nix_build_spec,
       {{"image_name", t},
        {"flake_location_dir", t},
        {"build_context_dir", t},
        {"flake_output?", t}},
       check_image_build},
      {user, {{"uid", i | t}, {"gid?", i | t}}, check_user},
      {toleration,
       {{"key?", t}, {"operator?", t}, {"value?", t}, {"effect?", t}, {"toleration_seconds?", i}},
       check_toleration},
      {gpu_config,
       {{"count?", i}, {"device_ids?", l}, {"shm_size?", i}, {"ulimits?", d}, {"driver?", t | d}},
       check_gpu},
  };
}

RecordType make(std::string name, std::vector<std::string> fields) {
  return {std::move(name), std::move(fields), {}};
}

}  // namespace

const RecordType service_config = make("ServiceConfig", {"image",
                                                         "ports",
                                                         "public_ports",
                                                         "files",
                                                         "entrypoint",
                                                         "cmd",
                                                         "env_vars",
                                                         "private_ip_address_placeholder",
                                                         "max_cpu",
                                                         "min_cpu",
                                                         "max_memory",
                                                         "min_memory",
                                                         "cpu_allocation",
                                                         "memory_allocation",
                                                         "ready_conditions",
                                                         "labels",
                                                         "user",
                                                         "tolerations",
                                                         "node_selectors",
                                                         "files_to_be_moved",
                                                         "tini_enabled",
                                                         "tty_enabled",
                                                         "devices",
                                                         "publish_udp",
                                                         "capabilities",
                                                         "gpu",
                                                         "privileged",
                                                         "host_pid_namespace",
                                                         "bind_mounts",
                                                         "working_dir",
                                                         "extra_hosts",
                                                         "tmpfs",
                                                         "aliases"});
const RecordType port_spec =
    make("PortSpec", {"number", "transport_protocol", "application_protocol", "wait", "url"});
const RecordType directory = make("Directory", {"artifact_names", "persistent_key", "size"});
const RecordType ready_condition =
    make("ReadyCondition", {"recipe", "field", "assertion", "target_value", "interval", "timeout"});
const RecordType exec_recipe = make("ExecRecipe", {"command", "extract"});
const RecordType exit_recipe = make("ExitRecipe", {});
const RecordType get_recipe =
    make("GetHttpRequestRecipe", {"port_id", "endpoint", "extract", "headers"});
const RecordType post_recipe = make(
    "PostHttpRequestRecipe", {"port_id", "endpoint", "body", "content_type", "extract", "headers"});
const RecordType store_spec = make("StoreSpec", {"src", "name"});
const RecordType image_build_spec =
    make("ImageBuildSpec", {"image_name", "build_context_dir", "build_file", "target_stage",
                            "build_args", "dockerfile_inline", "additional_contexts", "secrets"});
const RecordType image_spec = make("ImageSpec", {"image", "registry", "username", "password"});
const RecordType nix_build_spec =
    make("NixBuildSpec", {"image_name", "flake_location_dir", "build_context_dir", "flake_output"});
const RecordType user = make("User", {"uid", "gid"});
const RecordType toleration =
    make("Toleration", {"key", "operator", "value", "effect", "toleration_seconds"});
const RecordType gpu_config =
    make("GpuConfig", {"count", "device_ids", "shm_size", "ulimits", "driver"});
const RecordType service = make("Service", {"name", "hostname", "ip_address", "ports"});

Status check_text_dict(std::string_view field, Value dict) {
  for (const auto& [key, value] : starlark::entries_of(dict)) {
    if (starlark::type_of(key) != starlark::Type::text)
      return user_error(cat("`", field, "` must map strings to strings, the key ",
                            starlark::brief_of(key), " is ", starlark::type_name(key)));
    if (starlark::type_of(value) != starlark::Type::text)
      return user_error(cat("`", field, "` must map strings to strings, the value of ",
                            starlark::brief_of(key), " is ", starlark::type_name(value)));
  }
  return {};
}

Status check_variables(Value variables) {
  TRY(check_text_dict("env_vars", variables));
  for (const auto& [key, value] : starlark::entries_of(variables))
    if (const std::string name = starlark::text_of(key);
        name.empty() || name.find('=') != name.npos || name.find('\0') != name.npos)
      return user_error(
          cat("`env_vars`: ", starlark::brief_of(key), " is not a valid name for a variable"));
  return {};
}

Status check_files(Value files) {
  for (const auto& [path, content] : starlark::entries_of(files))
    if (starlark::type_of(path) != starlark::Type::text ||
        (starlark::type_of(content) != starlark::Type::text &&
         starlark::record_type_of(content) != &directory))
      return user_error("`files` must map paths to files artifact names or Directory values");
  return {};
}

Status check_tolerations(Value tolerations) {
  for (size_t i = 0; i < starlark::length_of(tolerations); ++i)
    if (const Value item = starlark::item_of(tolerations, i);
        starlark::record_type_of(item) != &toleration)
      return user_error(cat("`tolerations` must be a list of Toleration values, item ", i, " is ",
                            starlark::type_name(item)));
  return {};
}

Status check_condition(Value recipe, const std::string& field, const std::string& assertion,
                       Value target) {
  const RecordType* type = starlark::record_type_of(recipe);
  if (type == &exit_recipe && field != "code")
    return user_error(cat("the result has no field `", field, "`, expected `code`"));
  if (type != &exec_recipe && type != &exit_recipe && type != &get_recipe && type != &post_recipe)
    return user_error(cat(
        "`recipe` must be an ExecRecipe, a GetHttpRequestRecipe or a PostHttpRequestRecipe, got ",
        starlark::type_name(recipe)));
  const std::string_view answer = type == &exec_recipe ? "output" : "body";
  const auto extract = given_field(recipe, "extract");
  const bool is_known =
      field == "code" || field == answer ||
      (field.starts_with("extract.") && extract && starlark::find_in(*extract, field.substr(8)));
  if (!is_known)
    return user_error(cat("the result has no field `", field, "`, expected `code`, `", answer,
                          "` or `extract.` and a key of the recipe's `extract`"));
  TRY(check_assertion_name(assertion));
  if ((assertion == "IN" || assertion == "NOT_IN") &&
      starlark::type_of(target) != starlark::Type::list)
    return user_error(cat("`", assertion, "` needs a list as its target value, got ",
                          starlark::type_name(target)));
  return {};
}

starlark::Parameter may_be_none(starlark::Parameter parameter) {
  if (!parameter.name.ends_with('?'))
    return parameter;
  while (parameter.name.ends_with("??"))
    parameter.name.remove_suffix(1);
  if (parameter.want != Want::any)
    parameter.want = parameter.want | Want::none;
  return parameter;
}

void predeclare(starlark::Session& session) {
  for (Row& row : rows()) {
    // Kurtosis: everything takes one, and only instructions show it.
    row.parameters.push_back({"description?", Want::text});
    for (Parameter& parameter : row.parameters)
      parameter = may_be_none(parameter);
    auto signature = std::make_shared<const Signature>(row.type.name, std::move(row.parameters));
    const auto construct = [signature, &type = row.type,
                            check = row.check](Call& call) -> Result<Value> {
      const std::vector<Value> given = TRY(signature->bind(call));
      std::vector<NamedValue> fields;
      for (size_t i = 0; i < type.fields.size(); ++i)
        if (!given[i].is_unset())
          fields.push_back({type.fields[i], given[i]});
      const Value made = call.thread.heap().record(type, fields);
      if (check != nullptr) {
        if (Status checked = check(made); !checked)
          return user_error(cat(type.name, ": ", to_string(checked.error())));
      }
      return made;
    };
    session.predeclare(row.type.name, session.native(row.type.name, construct));
  }
}

}  // namespace fettle::types
