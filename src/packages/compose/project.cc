#include "packages/compose/project.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "packages/compose/fields.h"
#include "packages/compose/order.h"

namespace fettle::compose {
namespace {

class ProjectReader {
 public:
  ProjectReader(const ProjectRequest& request, LoadedProject loaded, Notes& notes)
      : request_(request), loaded_(std::move(loaded)), notes_(notes) {}

  Result<Project> read() {
    TRY(top());
    TRY(services());
    for (const Service& service : project_.services)
      names_.insert(service.name);
    for (Service& service : project_.services)
      TRY(check(service));
    project_.services = TRY(in_order(std::move(project_.services)));
    return std::move(project_);
  }

 private:
  Status top() {
    const Node& document = loaded_.document;
    if (const Node* const name = given(document, "name"))
      TRY(text_of(*name, "name"));
    for (size_t i = 0; i < document.keys.size(); ++i)
      if (document.keys[i].text == "networks" && !document.items[i].is_null() &&
          !is_only_default(document.items[i]))
        notes_.add(document.where_of(document.keys[i]),
                   "networks have no effect: all services of an environment share one network, in "
                   "which each is found by its name");
    if (const Node* const volumes = given(document, "volumes"))
      for (size_t i = 0; i < volumes->keys.size(); ++i)
        TRY(volume(volumes->keys[i], volumes->items[i]));
    TRY(contents("configs", project_.configs));
    return contents("secrets", project_.secrets);
  }

  static bool is_only_default(const Node& networks) {
    return networks.keys.empty() ||
           (networks.keys.size() == 1 && networks.keys[0].text == "default" &&
            networks.items[0].is_null());
  }

  Status volume(const NodeKey& key, const Node& node) {
    std::string& name = project_.volumes[key.text];
    name = key.text;
    if (node.is_null())
      return {};
    if (!node.is_dict())
      return error_at(node, cat("the volume `", printable(key.text), "` must be a mapping"));
    if (const Node* const given_name = given(node, "name"))
      name = TRY(text_of(*given_name, "name"));
    if (const Node* const external = given(node, "external");
        external != nullptr && external->text() != "false")
      notes_.add(external->where(),
                 "a volume from outside is not taken: the environment has one of its own");
    for (const std::string_view option : {"driver", "driver_opts"})
      if (const Node* const found = given(node, option);
          found != nullptr && found->text() != "local")
        notes_.add(found->where(),
                   cat("`", option, "` has no effect: volumes are the engine's own"));
    return {};
  }

  Status contents(std::string_view section, std::map<std::string, Content>& into) {
    const Node* const all = given(loaded_.document, section);
    if (all == nullptr)
      return {};
    for (size_t i = 0; i < all->keys.size(); ++i) {
      const Node& node = all->items[i];
      Content content;
      content.where = all->where_of(all->keys[i]);
      if (const Node* const file = given(node, "file")) {
        content.source = Content::Source::file;
        content.file = TRY(text_of(*file, "file"));
      } else if (const Node* const text = given(node, "content")) {
        content.source = Content::Source::text;
        content.text = TRY(text_of(*text, "content"));
      } else if (const Node* const variable = given(node, "environment")) {
        const std::string name = TRY(text_of(*variable, "environment"));
        const auto value = loaded_.variables.find(name);
        if (value == loaded_.variables.end())
          return error_at(*variable, cat("the variable `", printable(name), "` is not set"));
        content.source = Content::Source::text;
        content.text = value->second;
      } else if (given(node, "external") == nullptr) {
        return user_error(
            cat("`", printable(all->keys[i].text), "` needs `file`, `content` or `environment`"),
            content.where);
      }
      into[all->keys[i].text] = std::move(content);
    }
    return {};
  }

  /// Kurtosis and compose take a service with profiles only when one of them is asked for.
  bool runs(const Service& service) const {
    const std::vector<std::string>& asked = request_.profiles;
    return service.profiles.empty() || std::ranges::find(asked, "*") != asked.end() ||
           std::ranges::any_of(service.profiles, [&](const std::string& profile) {
             return std::ranges::find(asked, profile) != asked.end();
           });
  }

  Status services() {
    const Node* const all = given(loaded_.document, "services");
    if (all == nullptr || all->keys.empty())
      return error_at(loaded_.document, "the project has no services");
    for (size_t i = 0; i < all->keys.size(); ++i) {
      if (!all->items[i].is_dict())
        return user_error(cat("the service `", printable(all->keys[i].text), "` says nothing"),
                          all->where_of(all->keys[i]));
      Notes own;
      Notes& notes = is_asked(all->items[i]) ? notes_ : own;
      Service service = TRY(read_service(all->keys[i].text, all->items[i], notes));
      service.where = all->where_of(all->keys[i]);
      if (!runs(service)) {
        idle_[service.name] = service.profiles;
        continue;
      }
      TRY(environment(service));
      project_.services.push_back(std::move(service));
    }
    return project_.services.empty()
               ? Status(error_at(*all, cat("every service has a profile: name one by `--profile`")))
               : Status();
  }

  bool is_asked(const Node& node) const {
    Service only;
    if (const Node* const profiles = given(node, "profiles"))
      for (const Node& profile : profiles->items)
        only.profiles.push_back(profile.text());
    return runs(only);
  }

  /// What a variable of a service is: what `environment` says, else its files, the last one first.
  Status environment(Service& service) {
    for (auto& [name, value] : service.environment)
      if (const auto found = loaded_.variables.find(name);
          !value && found != loaded_.variables.end())
        value = found->second;
    Variables from_files;
    for (const EnvFile& file : service.env_files) {
      if (!file.is_required && !request_.folder.has_file(path_in_folder(request_, file.path)))
        continue;
      Result<std::string> text = read_project_file(request_, file.path);
      if (!text)
        return user_error(
            cat("`env_file`: ", to_string(text.error()),
                file.is_required ? "; one that may be missing has `required: false`" : ""),
            file.where);
      const auto lookup = [&](std::string_view name) -> std::optional<std::string> {
        if (const auto outside = loaded_.variables.find(name); outside != loaded_.variables.end())
          return outside->second;
        const auto own = service.environment.find(std::string(name));
        if (own != service.environment.end() && own->second)
          return own->second;
        const auto earlier = from_files.find(name);
        return earlier == from_files.end() ? std::nullopt : std::optional(earlier->second);
      };
      const std::string shown = shown_file(request_, file.path);
      TRY(charge(text->size(), file.where));
      Variables found = TRY(file.is_raw ? read_raw_env_file(*text, shown, lookup)
                                        : read_env_file(*text, shown, lookup));
      for (auto& [name, value] : found)
        from_files[name] = std::move(value);
    }
    for (const auto& [name, value] : from_files) {
      TRY(charge(name.size() + value.size(), service.where));
      service.environment.try_emplace(name, value);
    }
    return {};
  }

  /// Each service may read the same large file.
  Status charge(size_t bytes, const Where& where) {
    constexpr size_t most = 256 << 20;
    text_ += bytes;
    return text_ > most ? Status(user_error("the files of variables are too large in sum", where))
                        : Status();
  }

  Status check(Service& service) {
    if (service.image.empty() && !service.build)
      return user_error(
          cat("the service `", printable(service.name), "` has neither an `image` nor a `build`"),
          service.where);
    std::vector<Dependency> needed;
    for (Dependency& one : service.depends_on) {
      if (names_.contains(one.service))
        needed.push_back(std::move(one));
      else if (one.is_required)
        return user_error(no_service(service, one.service), one.where);
    }
    service.depends_on = std::move(needed);
    for (const VolumeMount& mount : service.volumes)
      if (mount.type == VolumeMount::Type::volume && !mount.source.empty() &&
          !project_.volumes.contains(mount.source))
        return missing("volume", mount.source, project_.volumes, mount.where);
    for (const Grant& grant : service.grants) {
      const auto& all = grant.is_secret ? project_.secrets : project_.configs;
      if (!all.contains(grant.source))
        return missing(grant.is_secret ? "secret" : "config", grant.source, all, grant.where);
    }
    if (service.build)
      TRY(check_build(service, *service.build));
    return check_targets(service);
  }

  Status check_build(const Service& service, const Build& build) const {
    const std::vector<std::string> names(names_.begin(), names_.end());
    for (const NamedContext& context : build.contexts) {
      const std::string& needed = context.service;
      if (needed.empty() || names_.contains(needed))
        continue;
      const auto idle = idle_.find(needed);
      return user_error(
          idle != idle_.end()
              ? cat("`", printable(service.name), "` is built with the image of `",
                    printable(needed), "`, which only runs with `--profile ", idle->second.front(),
                    "`")
              : cat("there is no service `", printable(needed), "`", suggestion(needed, names)),
          context.where);
    }
    for (const BuildSecret& secret : build.secrets) {
      const auto found = project_.secrets.find(secret.source);
      if (found == project_.secrets.end())
        return missing("secret", secret.source, project_.secrets, secret.where);
      if (found->second.source == Content::Source::outside)
        return user_error(cat("the secret `", printable(secret.source),
                              "` comes from outside of the project; a build needs its `file`, "
                              "`content` or `environment`"),
                          secret.where);
    }
    return {};
  }

  static Status check_targets(const Service& service) {
    std::set<std::string> targets(service.tmpfs.begin(), service.tmpfs.end());
    for (const VolumeMount& mount : service.volumes)
      if (!targets.insert(mount.target).second)
        return user_error(cat("`", printable(mount.target), "` is mounted twice"), mount.where);
    return {};
  }

  std::string no_service(const Service& service, const std::string& wanted) const {
    if (const auto idle = idle_.find(wanted); idle != idle_.end())
      return cat("`", printable(service.name), "` needs `", printable(wanted),
                 "`, which only runs with `--profile ", idle->second.front(),
                 "`; `required: false` does without it");
    const std::vector<std::string> names(names_.begin(), names_.end());
    return cat("there is no service `", printable(wanted), "`", suggestion(wanted, names));
  }

  template <typename Map>
  static Status missing(std::string_view what, const std::string& name, const Map& known,
                        const Where& where) {
    std::vector<std::string> names;
    for (const auto& [key, value] : known)
      names.push_back(key);
    return user_error(
        cat("the project has no ", what, " `", printable(name), "`",
            names.empty() ? cat("; it is listed in `", what, "s:`") : suggestion(name, names)),
        where);
  }

  const ProjectRequest& request_;
  LoadedProject loaded_;
  Notes& notes_;
  Project project_;
  std::set<std::string> names_;  ///< of the services
  size_t text_ = 0;              ///< how many bytes of variables were read and are kept
  std::map<std::string, std::vector<std::string>> idle_;  ///< profiles of what does not run
};

}  // namespace

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : lower_case(trim(name))) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (fits)
      plain += c;
    else if (!plain.empty() && plain.back() != '-')
      plain += '-';
  }
  if (plain.ends_with('-'))
    plain.pop_back();
  return plain;
}

std::string environment_name(const Service& service) {
  return plain_name(service.container_name.empty() ? service.name : service.container_name);
}

Result<Project> read_project(const ProjectRequest& request, Notes& notes) {
  LoadedProject loaded = TRY(load_project(request, notes));
  return ProjectReader(request, std::move(loaded), notes).read();
}

}  // namespace fettle::compose
