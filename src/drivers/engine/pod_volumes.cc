#include "base/text.h"
#include "drivers/engine/pod_body.h"
#include "drivers/engine/pod_values.h"
#include "kinds/pod.h"

namespace fettle {
namespace {

constexpr unsigned default_mode = 0644;

/// Checks that a path in a volume does not lead out of it.
Status check_inner(std::string_view path) {
  for (const std::string_view part : split(path, '/'))
    if (part == ".." || part.empty())
      return user_error(cat("`", path, "` is not a path inside a volume"));
  return {};
}

/// Fills a volume from the attributes of a pod.
class Files {
 public:
  Files(const PodValues& values, PodVolume& volume) : values_(values), volume_(volume) {}

  Status add_config(std::string_view kind, const Value& source, std::string_view name) {
    const Value* const texts = values_.config(kind, name);
    if (texts == nullptr) {
      if (source.bool_at("optional"))
        return {};
      return user_error(
          cat("volume `", volume_.name, "`: there is no ", kind, " `", name, "` in the namespace"));
    }
    const auto mode = static_cast<unsigned>(source.integer_at("defaultMode", default_mode));
    if (items_of(source.at("items")).empty()) {
      for (const Entry& entry : texts->entries())
        TRY(add(entry.key, to_text(entry.value), mode));
      return {};
    }
    for (const Value& item : items_of(source.at("items"))) {
      const std::string_view key = item.text_at("key");
      if (const Value* const text = texts->find(key))
        TRY(add(item.text_at("path", key), to_text(*text), mode_of(item, mode)));
      else if (!source.bool_at("optional"))
        return user_error(
            cat("volume `", volume_.name, "`: the ", kind, " `", name, "` has no key `", key, "`"));
    }
    return {};
  }

  Status add_fields(const Value& source) {
    const auto mode = static_cast<unsigned>(source.integer_at("defaultMode", default_mode));
    const auto lines_of = [](const Value& dict) {
      std::string lines;
      for (const Entry& entry : dict.entries())
        lines += cat(entry.key, "=\"", replace_all(to_text(entry.value), "\"", "\\\""), "\"\n");
      return lines;
    };
    for (const Value& item : items_of(source.at("items"))) {
      const std::string_view path = item.at("fieldRef").text_at("fieldPath");
      std::string text;
      if (path == "metadata.labels")
        text = lines_of(pod_labels(values_.attributes()));
      else if (path == "metadata.annotations")
        text = lines_of(pod_annotations(values_.attributes()));
      else
        text = TRY(values_.field(path));
      TRY(add(item.text_at("path"), std::move(text), mode_of(item, mode)));
    }
    return {};
  }

 private:
  static unsigned mode_of(const Value& item, unsigned otherwise) {
    return static_cast<unsigned>(item.integer_at("mode", otherwise));
  }
  Status add(std::string_view path, std::string text, unsigned mode) {
    TRY(check_inner(path));
    volume_.files[std::string(path)] = std::move(text);
    volume_.modes[std::string(path)] = mode & 07777;
    return {};
  }
  const PodValues& values_;
  PodVolume& volume_;
};

Status fill_from(Files& files, const Value& source) {
  if (const Value& config = source.at("configMap"); config.is_dict())
    TRY(files.add_config("ConfigMap", config, config.text_at("name")));
  if (const Value& secret = source.at("secret"); secret.is_dict())
    TRY(files.add_config("Secret", secret, secret.text_at("secretName", secret.text_at("name"))));
  if (const Value& fields = source.at("downwardAPI"); fields.is_dict())
    TRY(files.add_fields(fields));
  return {};
}

Status fill(const PodValues& values, const Value& source, PodVolume& volume) {
  Files files(values, volume);
  TRY(fill_from(files, source));
  for (const Value& part : items_of(source.at("projected").at("sources")))
    TRY(fill_from(files, part));
  return {};
}

/// Takes a folder of the machine: only one that is there already, or one that may be made.
Status take_folder(const Value& source, PodVolume& volume) {
  volume.there = source.text_at("path");
  const std::string_view type = source.text_at("type");
  volume.makes_folder = type.empty() || type == "DirectoryOrCreate";
  if (!volume.there.starts_with('/'))
    return user_error(
        cat("volume `", volume.name, "`: `", volume.there, "` is not an absolute path"));
  if (volume.there.find(':') != std::string::npos)
    volume.makes_folder = false;  // engines would read it as the end of the path
  if (type == "FileOrCreate")
    return user_error(
        cat("volume `", volume.name, "`: engines create folders for a `hostPath`, not files"));
  return {};
}

bool has_files(const Value& source) {
  for (const char* field : {"configMap", "secret", "downwardAPI", "projected"})
    if (source.at(field).is_dict())
      return true;
  return false;
}

}  // namespace

Result<std::vector<PodVolume>> pod_volumes(const Key& key, const Attributes& attributes,
                                           const PodPlace& place) {
  std::vector<PodVolume> volumes;
  const PodValues values(attributes, place);
  const Value spec = pod_spec(attributes);
  const NodeAddress address = node_address(key.name);
  const auto claim_volume = [&](std::string_view claim) {
    return volume_name(
        {key.environment, "claim", node_name_of(address.node, address.space, claim)});
  };
  const Dict claims = read_one<&Pod::claims>(attributes);
  std::vector<std::string> by_claim;
  for (const Entry& entry : claims.entries()) {
    volumes.push_back({.name = entry.key.str(),
                       .there = claim_volume(to_text(entry.value)),
                       .sort = PodVolume::Sort::claim});
    by_claim.push_back(entry.key.str());
  }
  for (const Value& source : items_of(spec.at("volumes"))) {
    PodVolume volume{.name = std::string(source.text_at("name")), .there = {}};
    if (std::ranges::find(by_claim, volume.name) != by_claim.end())
      continue;
    volume.there = volume_name({key.environment, "pod", cat(key.name, "/", volume.name)});
    if (const Value& claim = source.at("persistentVolumeClaim"); claim.is_dict()) {
      volume.sort = PodVolume::Sort::claim;
      volume.there = claim_volume(claim.text_at("claimName"));
    } else if (const Value& folder = source.at("hostPath"); folder.is_dict()) {
      volume.sort = PodVolume::Sort::folder;
      TRY(take_folder(folder, volume));
    } else if (has_files(source)) {
      volume.sort = PodVolume::Sort::files;
      TRY(fill(values, source, volume));
    } else if (const Value& empty = source.at("emptyDir");
               empty.is_dict() || source.entries().size() == 1) {
      volume.sort =
          empty.text_at("medium") == "Memory" ? PodVolume::Sort::memory : PodVolume::Sort::empty;
    } else {
      return user_error(cat("volume `", volume.name,
                            "`: engines support emptyDir, hostPath, configMap, secret, "
                            "downwardAPI, projected and persistentVolumeClaim"));
    }
    volumes.push_back(std::move(volume));
  }
  return volumes;
}

}  // namespace fettle
