#include <filesystem>

#include "base/archive.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/print.h"

namespace fettle {
namespace {

struct Chosen {
  Workplace* place;
  Name name;
  RecordPointer record;
};

Result<Chosen> choose(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(environment_of(face, 0));
  const std::string wanted = face.parsed.argument(face.parsed.has("enclave") ? 0 : 1);
  if (wanted.empty())
    return user_error(
        cat("name the files artifact: `fettle files ls ", environment.name, "` lists them"));
  std::vector<std::string> names;
  for (const auto& [key, record] : TRY(place->store->known(environment.name))) {
    if (key.kind != "artifact" || !record->applied)
      continue;
    if (key.name == wanted ||
        (wanted.size() >= 4 && record->outputs.text_at("uuid").starts_with(wanted)))
      return Chosen{place, key.name, record};
    names.push_back(key.name.str());
  }
  return user_error(cat("there is no files artifact `", wanted, "` in `", environment.name, "`",
                        suggestion(wanted, names)));
}

Result<ByteSource> content_of(const Chosen& chosen) {
  return source_of_file(TRY(chosen.place->blobs->path(chosen.record->outputs.text_at("digest"))));
}

Result<int> ls(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(environment_of(face, 0));
  std::map<std::string, RecordPointer> artifacts;
  for (const auto& [key, record] : TRY(place->store->known(environment.name)))
    if (key.kind == "artifact" && record->applied)
      artifacts[key.name.str()] = record;
  std::vector<std::vector<std::string>> rows{{"UUID", "Name", "Digest"}};
  std::vector<Value> values;
  for (const auto& [name, record] : artifacts) {
    rows.push_back({std::string(record->outputs.text_at("uuid").substr(0, 12)), name,
                    std::string(record->outputs.text_at("digest").substr(0, 12))});
    values.push_back(Value::dict({{"name", name},
                                  {"uuid", record->outputs.at("uuid")},
                                  {"digest", record->outputs.at("digest")}}));
  }
  if (face.json)
    print_json(Value::list(std::move(values)));
  else
    print(table(rows));
  return 0;
}

Result<int> inspect(Face& face) {
  const Chosen chosen = TRY(choose(face));
  const std::string wanted = face.parsed.argument(face.parsed.has("enclave") ? 1 : 2);
  ArchiveReader reader(TRY(content_of(chosen)), {.links_may_leave = true});
  std::vector<Value> values;
  bool found = wanted.empty();
  while (std::optional<ArchiveEntry> entry = TRY(reader.next())) {
    if (!wanted.empty()) {
      if (entry->path != wanted || entry->type != ArchiveEntry::Type::file)
        continue;
      found = true;
      std::string piece(64 << 10, '\0');
      for (size_t got = TRY(reader.read(piece)); got > 0; got = TRY(reader.read(piece)))
        std::fwrite(piece.data(), 1, got, stdout);
      continue;
    }
    const bool folder = entry->type == ArchiveEntry::Type::directory;
    values.push_back(
        Value::dict({{"path", entry->path}, {"size", entry->size}, {"directory", folder}}));
    if (!face.json)
      print(cat(entry->path, folder ? "/" : cat("  ", entry->size, " bytes")));
  }
  if (!found)
    return user_error(cat("the files artifact `", chosen.name, "` has no file `", wanted, "`"));
  if (face.json && wanted.empty())
    print_json(Value::list(std::move(values)));
  return 0;
}

Result<int> download(Face& face) {
  const Chosen chosen = TRY(choose(face));
  const std::string given = face.parsed.argument(face.parsed.has("enclave") ? 1 : 2);
  if (face.parsed.flag("no-extract")) {
    const std::string file = given.empty() ? chosen.name.str() + ".tar" : given;
    TRY(write_file(file, TRY(read_all(TRY(content_of(chosen)), size_t{1} << 34))));
    print(file);
    return 0;
  }
  const std::string folder = given.empty() ? chosen.name.str() : given;
  TRY(unpack(TRY(content_of(chosen)), folder));
  print(folder);
  return 0;
}

}  // namespace

std::vector<Command> files_commands() {
  const CommandGroup group{"files", {environment_option()}};
  return {
      group.make("files ls", "ENCLAVE", 0, 1, "Lists the files artifacts of an environment.",
                 {"fettle files ls shop", "fettle files ls shop --output json"}, ls),
      group.make(
          "files inspect", "ENCLAVE ARTIFACT [FILE]", 1, 3,
          "Lists what is in a files artifact, or shows one file of it.",
          {"fettle files inspect shop config", "fettle files inspect shop config nginx.conf"},
          inspect),
      group.make("files download", "ENCLAVE ARTIFACT [FOLDER]", 1, 3,
                 "Writes a files artifact to this machine.",
                 {"fettle files download shop config",
                  "fettle files download shop config out.tar --no-extract"},
                 download, {{{"--no-extract"}, "", "as a tar"}}),
  };
}

}  // namespace fettle
