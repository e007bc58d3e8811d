#include "kubernetes/config.h"

#include <array>
#include <map>

#include "base/base64.h"
#include "base/text.h"
#include "value/yaml_tree.h"

namespace fettle::kubernetes {
namespace {

constexpr size_t largest_kubeconfig = 16 << 20;
constexpr std::string_view exec_v1 = "client.authentication.k8s.io/v1";
constexpr std::string_view exec_v1beta1 = "client.authentication.k8s.io/v1beta1";

struct KubeconfigFile {
  Path path;
  std::string text;
  Tree tree;

  /// Without an excerpt: the line may hold a key or a token.
  Error error(std::string message, const TreeNode& at) const {
    return user_error(std::move(message), {path.string(), static_cast<int>(at.place().line),
                                           static_cast<int>(at.place().column)});
  }
};

std::string article(const TreeNode& node) {
  return node.is_list()   ? "a list"
         : node.is_dict() ? "a dict"
                          : cat("a ", to_string(node.scalar().type()));
}

/// A dict of a kubeconfig whose members are read by name.
class Section {
 public:
  Section(const KubeconfigFile& file, const TreeNode& node, std::string name)
      : file_(&file), node_(&node), name_(std::move(name)) {}

  const KubeconfigFile& file() const { return *file_; }
  const TreeNode& node() const { return *node_; }
  const TreeNode* find(std::string_view key) const {
    const TreeNode* const found = node_->find(key);
    return found == nullptr || found->is_null() ? nullptr : found;
  }
  Error error(std::string_view key, std::string message) const {
    const TreeNode* const found = find(key);
    return file_->error(cat(name_, ": ", message), found == nullptr ? *node_ : *found);
  }
  /// Empty: it is not there.
  Result<std::string> text(std::string_view key) const {
    const TreeNode* const found = find(key);
    if (found == nullptr)
      return std::string();
    if (!found->is_text())
      return error(key, cat("`", key, "` must be a text, not ", article(*found)));
    return std::string(found->text());
  }
  Result<bool> boolean(std::string_view key) const {
    const TreeNode* const found = find(key);
    if (found == nullptr)
      return false;
    if (!found->is_scalar() || !found->scalar().is_bool())
      return error(key, cat("`", key, "` must be `true` or `false`"));
    return found->scalar().boolean();
  }
  Result<std::string> needed(std::string_view key, std::string_view example) const {
    std::string value = TRY(text(key));
    if (value.empty())
      return error(key, cat("`", key, "` is missing, such as `", example, "`"));
    return value;
  }
  /// No member is one that differs from a known one by a slip.
  Status check(std::span<const std::string_view> known) const {
    for (const TreeMember& member : node_->entries()) {
      const std::string key(member.key->text());
      if (std::ranges::find(known, key) != known.end())
        continue;
      if (const std::string meant = suggestion(key, known); !meant.empty())
        return file_->error(cat(name_, ": unknown member `", printable(key), "`", meant),
                            *member.key);
    }
    return {};
  }
  /// The path that a member names, from the folder of the file.
  Result<Path> path(std::string_view key) const {
    const std::string given = TRY(text(key));
    return given.empty() ? Path() : file_->path.parent_path() / given;
  }
  /// A PEM text: the member `NAME-data`, else the file that the member `NAME` names.
  Result<std::string> pem(const std::string& key) const {
    const std::string data = TRY(text(key + "-data"));
    if (!data.empty()) {
      Result<std::string> decoded = base64_decode_strictly(data);
      if (!decoded)
        return error(key + "-data", cat("`", key, "-data` is not base64"));
      return decoded;
    }
    const Path file = TRY(path(key));
    if (file.empty())
      return std::string();
    Result<std::string> read = read_file(file);
    if (!read)
      return error(key, cat("`", key, "`: ", read.error().message));
    return read;
  }

 private:
  const KubeconfigFile* file_;
  const TreeNode* node_;
  std::string name_;
};

Result<KubeconfigFile> read_one(const Path& path) {
  KubeconfigFile file{path, TRY(read_file(path)), {}};
  if (file.text.size() > largest_kubeconfig)
    return user_error("a kubeconfig has at most 16 MB", {path.string()});
  Result<Tree> tree = read_yaml_tree(file.text, path.string(), {});
  if (!tree) {
    Error error = std::move(tree).error();
    error.blame = Blame::user;
    error.excerpt.clear();  // it may show a secret
    return error;
  }
  file.tree = *tree;
  const TreeNode& root = file.tree.root();
  if (!root.is_dict() && !root.is_null())
    return file.error(cat("a kubeconfig is a dict, not ", article(root)), root);
  static constexpr std::array<std::string_view, 8> known{
      "apiVersion",      "kind",        "clusters",  "users", "contexts",
      "current-context", "preferences", "extensions"};
  if (root.is_dict())
    TRY(Section(file, root, "kubeconfig").check(known));
  return file;
}

/// What all files define together.
struct Definitions {
  std::map<std::string, Section> clusters, users, contexts;
  std::string current;
};

Status define(const KubeconfigFile& file, std::string_view list, const std::string& one,
              std::map<std::string, Section>& into) {
  const TreeNode* const all = file.tree.root().find(list);
  if (all == nullptr || all->is_null())
    return {};
  if (!all->is_list())
    return file.error(cat("`", list, "` must be a list, not ", article(*all)), *all);
  for (const TreeNode* const item : all->items()) {
    if (!item->is_dict())
      return file.error(cat("an item of `", list, "` must be a dict with `name` and `", one, "`"),
                        *item);
    const Section entry(file, *item, cat("`", list, "`"));
    const std::string name = TRY(entry.needed("name", "main"));
    const TreeNode* const inside = entry.find(one);
    if (inside == nullptr || !inside->is_dict())
      return entry.error(one, cat("`", printable(name), "` must have a dict `", one, "`"));
    into.emplace(name, Section(file, *inside, cat(one, " `", printable(name), "`")));
  }
  return {};
}

std::string suggest(std::string_view name, const std::map<std::string, Section>& among) {
  std::vector<std::string> names;
  for (const auto& [each, section] : among)
    names.push_back(each);
  const std::string near = suggestion(name, names);
  if (!near.empty() || names.empty() || names.size() > 20)
    return near;
  return cat("; there are `", join(names, "`, `"), "`");
}

Status read_cluster(const Section& cluster, Config& config) {
  static constexpr std::array<std::string_view, 8> known{"server",
                                                         "tls-server-name",
                                                         "insecure-skip-tls-verify",
                                                         "certificate-authority",
                                                         "certificate-authority-data",
                                                         "proxy-url",
                                                         "disable-compression",
                                                         "extensions"};
  TRY(cluster.check(known));
  config.server = TRY(cluster.needed("server", "https://10.0.0.1:6443"));
  if (!config.server.starts_with("https://") && !config.server.starts_with("http://"))
    config.server =
        config.server.find("://") == std::string::npos ? "https://" + config.server : "";
  if (config.server.empty())
    return cluster.error("server", "`server` must begin with `https://` or `http://`");
  while (config.server.ends_with('/'))
    config.server.pop_back();
  if (cluster.find("proxy-url") != nullptr)
    return cluster.error("proxy-url",
                         "`proxy-url` is not supported; the variable `HTTPS_PROXY` is");
  config.tls.server_name = TRY(cluster.text("tls-server-name"));
  config.tls.trusts_anybody = TRY(cluster.boolean("insecure-skip-tls-verify"));
  config.tls.authorities_text = TRY(cluster.pem("certificate-authority"));
  if (config.tls.trusts_anybody && !config.tls.authorities_text.empty())
    return cluster.error(
        "insecure-skip-tls-verify",
        "either `insecure-skip-tls-verify` or a `certificate-authority`, not both");
  return {};
}

Result<std::vector<std::string>> read_texts(const Section& section, std::string_view key) {
  std::vector<std::string> texts;
  const TreeNode* const list = section.find(key);
  if (list == nullptr)
    return texts;
  if (!list->is_list())
    return section.error(key, cat("`", key, "` must be a list of texts, not ", article(*list)));
  for (const TreeNode* const item : list->items()) {
    if (!item->is_text())
      return section.file().error(cat("`", key, "` is a list of texts"), *item);
    texts.emplace_back(item->text());
  }
  return texts;
}

Result<ExecPlugin> read_plugin(const Section& exec) {
  static constexpr std::array<std::string_view, 7> known{
      "command",        "args", "env", "apiVersion", "installHint", "provideClusterInfo",
      "interactiveMode"};
  TRY(exec.check(known));
  ExecPlugin plugin;
  plugin.command = TRY(exec.needed("command", "aws"));
  if (plugin.command.find('/') != std::string::npos)
    plugin.command = exec.file().path.parent_path() / plugin.command;
  plugin.arguments = TRY(read_texts(exec, "args"));
  plugin.api_version = TRY(exec.needed("apiVersion", exec_v1));
  if (plugin.api_version != exec_v1 && plugin.api_version != exec_v1beta1)
    return exec.error("apiVersion", cat("`apiVersion` must be `", exec_v1, "` or `", exec_v1beta1,
                                        "`, not `", printable(plugin.api_version), "`"));
  plugin.install_hint = TRY(exec.text("installHint"));
  plugin.gets_cluster_info = TRY(exec.boolean("provideClusterInfo"));
  const std::string mode = TRY(exec.text("interactiveMode"));
  if (mode == "Always")
    return exec.error("interactiveMode",
                      "a plugin with `interactiveMode: Always` cannot be used: "
                      "nobody is there whom it could ask");
  if (!mode.empty() && mode != "Never" && mode != "IfAvailable")
    return exec.error("interactiveMode",
                      "`interactiveMode` must be `Never`, `IfAvailable` or `Always`");
  const TreeNode* const variables = exec.find("env");
  if (variables != nullptr && !variables->is_list())
    return exec.error("env", "`env` must be a list of `name` and `value`");
  if (variables != nullptr)
    for (const TreeNode* const each : variables->items()) {
      if (!each->is_dict())
        return exec.file().error("an item of `env` must be a dict with `name` and `value`", *each);
      const Section variable(exec.file(), *each, "`env`");
      plugin.environment.emplace_back(TRY(variable.needed("name", "AWS_PROFILE")),
                                      TRY(variable.text("value")));
    }
  return plugin;
}

Status read_impersonation(const Section& user, Identity& identity) {
  const std::string as = TRY(user.text("as"));
  if (!as.empty())
    identity.impersonation.push_back({"Impersonate-User", as});
  if (const std::string uid = TRY(user.text("as-uid")); !uid.empty())
    identity.impersonation.push_back({"Impersonate-Uid", uid});
  for (std::string& group : TRY(read_texts(user, "as-groups")))
    identity.impersonation.push_back({"Impersonate-Group", std::move(group)});
  for (const HttpHeader& header : identity.impersonation)
    if (header.value.find_first_of("\r\n") != std::string::npos)
      return user.error("as", "a name may not have more than one line");
  if (as.empty() && !identity.impersonation.empty())
    return user.error("as-groups", "`as-groups` and `as-uid` need `as`");
  if (user.find("as-user-extra") != nullptr)
    return user.error("as-user-extra", "`as-user-extra` is not supported");
  return {};
}

/// What cannot be a header; a token from a file is judged where it is read.
bool has_breaks(std::string_view text) { return text.find_first_of("\r\n") != text.npos; }

Status read_user(const Section& user, Config& config) {
  static constexpr std::array<std::string_view, 16> known{"client-certificate",
                                                          "client-certificate-data",
                                                          "client-key",
                                                          "client-key-data",
                                                          "token",
                                                          "tokenFile",
                                                          "username",
                                                          "password",
                                                          "exec",
                                                          "auth-provider",
                                                          "as",
                                                          "as-uid",
                                                          "as-groups",
                                                          "as-user-extra",
                                                          "extensions",
                                                          "name"};
  TRY(user.check(known));
  config.tls.certificate_text = TRY(user.pem("client-certificate"));
  config.tls.key_text = TRY(user.pem("client-key"));
  if (config.tls.certificate_text.empty() != config.tls.key_text.empty())
    return user.error(config.tls.key_text.empty() ? "client-certificate" : "client-key",
                      "`client-certificate` and `client-key` (or both with `-data`) go together");
  Identity& identity = config.identity;
  identity.token = std::string(trim(TRY(user.text("token"))));
  identity.token_file = TRY(user.path("tokenFile"));
  identity.user = TRY(user.text("username"));
  identity.password = TRY(user.text("password"));
  if (has_breaks(identity.token))
    return user.error("token", "`token` must be one line");
  if (!identity.user.empty() && (!identity.token.empty() || !identity.token_file.empty()))
    return user.error("username", "either `username` or `token`, not both");
  if (user.find("auth-provider") != nullptr)
    return user.error("auth-provider",
                      "`auth-provider` is gone since Kubernetes 1.26: use an `exec` plugin");
  if (const TreeNode* const exec = user.find("exec")) {
    if (!exec->is_dict())
      return user.error("exec", "`exec` must be a dict with `command` and `apiVersion`");
    identity.plugin = TRY(read_plugin(Section(user.file(), *exec, "`exec`")));
  }
  return read_impersonation(user, identity);
}

Result<const Section*> find_named(const std::map<std::string, Section>& among,
                                  std::string_view what, const std::string& name,
                                  const Section& by) {
  const auto found = among.find(name);
  if (found == among.end())
    return by.error(what,
                    cat("there is no ", what, " `", printable(name), "`", suggest(name, among)));
  return &found->second;
}

Result<Config> choose(const Definitions& defined, std::string_view wanted, const Path& first) {
  const std::string name = wanted.empty() ? defined.current : std::string(wanted);
  if (name.empty())
    return user_error(
        cat("no context is chosen: `current-context` is missing", suggest("", defined.contexts)),
        {first.string()});
  const auto context = defined.contexts.find(name);
  if (context == defined.contexts.end())
    return user_error(
        cat("there is no context `", printable(name), "`", suggest(name, defined.contexts)),
        {first.string()});
  static constexpr std::array<std::string_view, 4> known{"cluster", "user", "namespace",
                                                         "extensions"};
  const Section& chosen = context->second;
  TRY(chosen.check(known));
  Config config;
  config.context = name;
  if (std::string space = TRY(chosen.text("namespace")); !space.empty())
    config.space = std::move(space);
  const std::string cluster = TRY(chosen.needed("cluster", "main"));
  TRY(read_cluster(*TRY(find_named(defined.clusters, "cluster", cluster, chosen)), config));
  if (const std::string user = TRY(chosen.text("user")); !user.empty())
    TRY(read_user(*TRY(find_named(defined.users, "user", user, chosen)), config));
  return config;
}

}  // namespace

Result<Config> read_kubeconfig(const std::vector<Path>& files, std::string_view context) {
  std::vector<std::unique_ptr<KubeconfigFile>> read;
  for (const Path& path : files)
    if (files.size() == 1 || file_exists(path))
      read.push_back(std::make_unique<KubeconfigFile>(TRY(read_one(path))));
  if (read.empty())
    return user_error("there is no kubeconfig file",
                      {files.empty() ? std::string() : files[0].string()});
  Definitions defined;
  for (const auto& file : read) {
    TRY(define(*file, "clusters", "cluster", defined.clusters));
    TRY(define(*file, "users", "user", defined.users));
    TRY(define(*file, "contexts", "context", defined.contexts));
    if (defined.current.empty())
      defined.current =
          TRY(Section(*file, file->tree.root(), "kubeconfig").text("current-context"));
  }
  return choose(defined, context, read[0]->path);
}

bool is_in_cluster(const Variables& variables) {
  return variables("KUBERNETES_SERVICE_HOST").value_or("") != "" &&
         variables("KUBERNETES_SERVICE_PORT").value_or("") != "";
}

Result<Config> read_in_cluster(const Variables& variables, const Path& folder) {
  const std::string host = variables("KUBERNETES_SERVICE_HOST").value_or("");
  const std::string port = variables("KUBERNETES_SERVICE_PORT").value_or("");
  if (host.empty() || port.empty())
    return user_error(
        "this is no pod: `$KUBERNETES_SERVICE_HOST` and `$KUBERNETES_SERVICE_PORT` "
        "are not set");
  Config config;
  const bool is_v6 = host.find(':') != std::string::npos;
  config.server = cat("https://", is_v6 ? "[" : "", host, is_v6 ? "]" : "", ":", port);
  config.tls.authorities_text =
      TRY(read_file(folder / "ca.crt").context("reading the authority of the service account"));
  config.identity.token_file = folder / "token";
  if (!file_exists(config.identity.token_file))
    return user_error("this pod has no token (`automountServiceAccountToken: false`?)",
                      {config.identity.token_file.string()});
  if (file_exists(folder / "namespace"))
    config.space = std::string(trim(TRY(read_file(folder / "namespace"))));
  return config;
}

}  // namespace fettle::kubernetes
