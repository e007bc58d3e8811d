#include "packages/compose/load.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "packages/compose/forms.h"
#include "packages/compose/merge.h"

namespace fettle::compose {
namespace {

constexpr size_t largest_file = 4 << 20, most_text = 64 << 20;
constexpr size_t most_project_files = 200, most_parts = 300'000;
constexpr size_t longest_chain = 100, deepest_include = 50;

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash);
}

/// `name` from `folder`, without `./` in front.
std::string project_path(std::string_view path) {
  const std::string based = rebased(path, "");
  return based.starts_with("./") ? based.substr(2) : based;
}

size_t count_of(const Node& node) {
  size_t count = 1;
  for (const Node& item : node.items)
    count += count_of(item);
  return count;
}

class Loader {
 public:
  Loader(const ProjectRequest& request, Notes& notes) : request_(request), notes_(notes) {}

  /// The files of a project, or of one that it includes.
  Result<Node> load(const std::vector<ProjectFile>& files, const std::string& base,
                    const Variables& variables) {
    const size_t outer = scope_;
    scope_ = ++scopes_;
    Node whole;
    for (const ProjectFile& file : files)
      for (Node& document : TRY(documents(file, base, variables))) {
        TRY(include(document, file.path, base, variables));
        TRY(extend_all(document, file.path, variables));
        if (whole.is_null())
          whole = std::move(document);
        else
          TRY(merge_projects(whole, std::move(document)));
      }
    settle(whole);
    scope_ = outer;
    return whole;
  }

 private:
  using Chain = std::vector<std::pair<std::string, std::string>>;  ///< file and service

  Status charge(const Node& near, size_t parts) {
    parts_ += parts;
    if (parts_ > most_parts)
      return error_at(near, cat("the project has more than ", most_parts, " parts"));
    return {};
  }

  /// One file: its documents, interpolated and in the long form.
  Result<std::vector<Node>> documents(const ProjectFile& file, const std::string& base,
                                      const Variables& variables) {
    const std::string name = shown_file(request_, file.path);
    if (++files_ > most_project_files)
      return user_error(cat("the project has more than ", most_project_files, " files"),
                        {name, 0, 0});
    const std::string text = file.text ? *file.text : TRY(read_project_file(request_, file.path));
    std::vector<Node> found = TRY(with_excerpt(read_nodes(text, name), text));
    const auto lookup = [&](std::string_view wanted) -> std::optional<std::string> {
      const auto there = variables.find(wanted);
      return there == variables.end() ? std::nullopt : std::optional(there->second);
    };
    const auto on_missing = [&](const Node& node, std::string_view missing) {
      notes_.add(node.where(),
                 cat("the variable `", missing, "` is not set, so it is an empty text"));
    };
    for (Node& document : found) {
      TRY(with_excerpt(interpolate(document, lookup, on_missing, text_left_), text));
      TRY(with_excerpt(bring_into_form(document, base), text));
      TRY(charge(document, count_of(document)));
    }
    return found;
  }

  template <typename T>
  static Result<T> with_excerpt(Result<T> result, const std::string& text) {
    if (!result && result.error().excerpt.empty() && result.error().where.line > 0)
      result.error().excerpt =
          excerpt(text, result.error().where.line, result.error().where.column);
    return result;
  }

  /// A file that cannot be read has no line of its own, so it is told where it is named.
  static Error placed(Error error, const Node& near, std::string_view key) {
    return error.where.line > 0 ? std::move(error)
                                : error_at(near, cat("`", key, "`: ", to_string(error)));
  }

  Status include(Node& document, const std::string& file, const std::string& base,
                 const Variables& variables) {
    const Node* const found = document.find("include");
    if (found == nullptr || found->is_null())
      return {};
    const Node list = *found;
    document.erase("include");
    if (!list.is_list())
      return error_at(list, cat("`include` must be a list, it is ", kind_of(list)));
    including_.push_back(project_path(file));
    for (const Node& one : list.items)
      TRY(include_one(one, document, base, variables));
    including_.pop_back();
    return {};
  }

  Status include_one(const Node& one, Node& document, const std::string& base,
                     const Variables& variables) {
    std::vector<ProjectFile> files;
    const Node* const path = one.is_dict() ? one.find("path") : &one;
    for (const std::string& text : TRY(texts_of(path, one, "path")))
      files.push_back({project_path(rebased(text, base)), {}});
    if (files.empty())
      return error_at(one, "`include` needs a path, or a mapping with `path`");
    for (const ProjectFile& file : files)
      if (std::ranges::find(including_, file.path) != including_.end())
        return error_at(one, cat("`", printable(file.path),
                                 "` includes itself: ", join(including_, " includes "),
                                 " includes ", printable(file.path)));
    if (including_.size() > deepest_include)
      return error_at(one, cat("files include each other more than ", deepest_include, " deep"));
    const Node* const directory = one.is_dict() ? one.find("project_directory") : nullptr;
    const std::string inner = directory != nullptr && directory->is_scalar()
                                  ? project_path(rebased(directory->text(), base))
                                  : folder_of(files.front().path);
    const Variables own = TRY(variables_of_include(one, base, inner, variables));
    Result<Node> included = load(files, inner == "." ? "" : inner, own);
    if (!included)
      return placed(std::move(included).error(), one, "include");
    return take_in(document, *std::move(included), one);
  }

  Result<Variables> variables_of_include(const Node& one, const std::string& base,
                                         const std::string& inner, const Variables& outside) {
    Variables own = outside;
    const Node* const given = one.is_dict() ? one.find("env_file") : nullptr;
    const Node* const place = given != nullptr && !given->is_null() ? given : nullptr;
    if (place == nullptr) {
      TRY(add_env_file(request_, cat(inner, inner.empty() ? "" : "/", ".env"), false, own));
      return own;
    }
    for (const std::string& text : TRY(texts_of(place, one, "env_file")))
      if (text != "/dev/null")
        if (Status added = add_env_file(request_, project_path(rebased(text, base)), true, own);
            !added)
          return placed(std::move(added).error(), *place, "env_file");
    return own;
  }

  static Result<std::vector<std::string>> texts_of(const Node* node, const Node& owner,
                                                   std::string_view key) {
    std::vector<std::string> texts;
    if (node != nullptr && node->is_scalar())
      texts.push_back(node->text());
    else if (node != nullptr && node->is_list())
      for (const Node& item : node->items)
        texts.push_back(item.text());
    else if (node != nullptr)
      return error_at(owner, cat("`", key, "` must be a path or a list of paths"));
    if (std::ranges::any_of(texts, &std::string::empty))
      return error_at(owner, cat("`", key, "` has an empty path"));
    return texts;
  }

  /// What the document itself says counts before what it includes.
  Status take_in(Node& document, Node included, const Node& place) {
    for (size_t i = 0; i < included.keys.size(); ++i) {
      const std::string section = included.keys[i].text;
      Node& from = included.items[i];
      if (!from.is_dict() || section == "models" || section.starts_with("x-"))
        continue;
      Node* own = document.find(section);
      if (own == nullptr || own->is_null())
        own = &document.put(included.keys[i], dict_node(place));
      if (!own->is_dict())
        return error_at(*own, cat("`", section, "` must be a mapping"));
      for (size_t k = 0; k < from.keys.size(); ++k) {
        Node* const there = own->find(from.keys[k].text);
        if (there == nullptr) {
          own->put(from.keys[k], std::move(from.items[k]));
        } else if (!says_the_same(*there, from.items[k])) {
          Node mine = std::move(*there);
          *there = std::move(from.items[k]);
          TRY(merge_entries(section, *there, std::move(mine)));
        }
      }
    }
    return {};
  }

  Status extend_all(Node& document, const std::string& file, const Variables& variables) {
    Node* const services = document.find("services");
    if (services == nullptr || !services->is_dict())
      return {};
    for (size_t i = 0; i < services->keys.size(); ++i) {
      Chain chain;
      TRY(extend(*services, services->keys[i].text, project_path(file), variables, chain));
    }
    return {};
  }

  /// Makes a service of `services` whole, in place.
  Status extend(Node& services, const std::string& name, const std::string& file,
                const Variables& variables, Chain& chain) {
    Node* const service = services.find(name);
    const Node* const found = service->is_dict() ? service->find("extends") : nullptr;
    if (found == nullptr || found->is_null())
      return {};
    const Node extends = *found;
    if (std::ranges::find(chain, std::pair(file, name)) != chain.end())
      return error_at(extends, cat("`", printable(name), "` extends itself", way(chain, name)));
    chain.emplace_back(file, name);
    if (chain.size() > longest_chain)
      return error_at(extends,
                      cat("services extend each other more than ", longest_chain, " deep"));
    const std::string wanted = extends.find("service")->text();
    const Node* const elsewhere = extends.find("file");
    Node* from = &services;
    std::string from_file = file;
    if (elsewhere != nullptr && elsewhere->is_scalar()) {
      from_file = project_path(elsewhere->text());
      from = TRY(services_of(from_file, variables, extends));
    }
    if (from->find(wanted) == nullptr) {
      std::vector<std::string> names;
      for (const NodeKey& key : from->keys)
        names.push_back(key.text);
      return error_at(extends, cat("there is no service `", printable(wanted), "` in `",
                                   printable(from_file), "`", suggestion(wanted, names)));
    }
    TRY(extend(*from, wanted, from_file, variables, chain));
    chain.pop_back();
    Node whole = *from->find(wanted);
    TRY(charge(extends, count_of(whole)));
    Node* const own = services.find(name);
    own->erase("extends");
    if (!whole.is_dict())
      return {};
    whole.merge = Node::Merge::usual;
    TRY(merge_services(whole, std::move(*own)));
    *services.find(name) = std::move(whole);
    return {};
  }

  static std::string way(const Chain& chain, const std::string& last) {
    std::string text;
    for (const auto& [file, name] : chain)
      text += cat(text.empty() ? ": " : " extends ", "`", printable(name), "`");
    return cat(text, " extends `", printable(last), "`");
  }

  /// The services of a file that only lends them.
  Result<Node*> services_of(const std::string& file, const Variables& variables, const Node& near) {
    // Variables of a file are those of who extends it.
    const auto [lent, is_new] = lent_.try_emplace(std::pair(file, scope_));
    if (is_new) {
      Result<std::vector<Node>> found = documents({file, {}}, folder_of(file), variables);
      if (!found)
        return placed(std::move(found).error(), near, "extends");
      for (Node& document : *found)
        if (Node* const services = document.find("services");
            services != nullptr && services->is_dict()) {
          if (lent->second.is_null())
            lent->second = std::move(*services);
          else
            TRY(merge_entries("", lent->second, std::move(*services)));
        }
    }
    if (!lent->second.is_dict())
      return error_at(near, cat("`", printable(file), "` has no services"));
    return &lent->second;
  }

  const ProjectRequest& request_;
  Notes& notes_;
  size_t files_ = 0, parts_ = 0, text_left_ = most_text;
  size_t scope_ = 0, scopes_ = 0;       ///< which project it is of all that are included
  std::vector<std::string> including_;  ///< files, the outermost first
  std::map<std::pair<std::string, size_t>, Node> lent_;

 public:
  /// Adds the variables of a file that are not there yet. `must_exist`: else nothing is added when
  /// there is none.
  static Status add_env_file(const ProjectRequest& request, const std::string& path,
                             bool must_exist, Variables& variables) {
    const std::string inside = path_in_folder(request, path);
    if (!must_exist && !request.folder.has_file(inside))
      return {};
    const std::string text = TRY(read_project_file(request, path));
    const Variables found =
        TRY(with_excerpt(read_env_file(text, shown_file(request, path),
                                       [&](std::string_view name) -> std::optional<std::string> {
                                         const auto there = variables.find(name);
                                         return there == variables.end()
                                                    ? std::nullopt
                                                    : std::optional(there->second);
                                       }),
                         text));
    variables.insert(found.begin(), found.end());
    return {};
  }
};

}  // namespace

void Notes::add(const Where& where, std::string message) {
  constexpr size_t most_notes = 500;
  if (!told_.insert(cat(to_string(where), " ", message)).second)
    return;
  const auto [found, is_new] = by_message_.try_emplace(message, notes_.size());
  if (!is_new)
    notes_[found->second].places.push_back(where);
  else if (notes_.size() < most_notes)
    notes_.push_back({std::move(message), {where}});
  else
    by_message_.erase(found);
}

std::vector<std::string> Notes::texts() const {
  constexpr size_t most_places = 20;
  std::vector<std::string> made;
  for (const auto& [message, places] : notes_) {
    std::string also;
    for (size_t i = 1; i < std::min(places.size(), most_places); ++i)
      also += cat(i == 1 ? "" : ", ",
                  places[i].file == places[0].file ? std::string() : cat(places[i].file, ":"),
                  places[i].line);
    if (places.size() > most_places)
      also += cat(" and ", places.size() - most_places, " more");
    made.push_back(cat(to_string(places[0]), ": ", message,
                       also.empty() ? "" : cat(" (also in line ", also, ")")));
  }
  return made;
}

std::string path_in_folder(const ProjectRequest& request, const std::string& path) {
  return project_path(rebased(path, request.inside));
}

std::string shown_file(const ProjectRequest& request, const std::string& path) {
  return is_relative_path(path) && request.shown
             ? request.shown((request.folder.path() / path_in_folder(request, path)).string())
             : path;
}

Result<std::string> read_project_file(const ProjectRequest& request, const std::string& path) {
  Result<std::string> text = request.folder.read(path_in_folder(request, path), largest_file);
  if (!text)
    return Error(std::move(text).error()).context(cat("reading `", printable(path), "`"));
  return text;
}

Result<LoadedProject> load_project(const ProjectRequest& request, Notes& notes) {
  LoadedProject loaded;
  loaded.variables = request.outside;
  if (!request.has_env_file)
    TRY(Loader::add_env_file(request, ".env", false, loaded.variables));
  if (!request.name.empty())
    loaded.variables.try_emplace("COMPOSE_PROJECT_NAME", request.name);
  loaded.document = TRY(Loader(request, notes).load(request.files, "", loaded.variables));
  if (loaded.document.keys.empty())
    return user_error("the compose file is empty",
                      {shown_file(request, request.files[0].path), 0, 0});
  return loaded;
}

}  // namespace fettle::compose
