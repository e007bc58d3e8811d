#include <filesystem>

#include <unistd.h>

#include "base/archive.h"
#include "base/file.h"
#include "base/gzip.h"
#include "base/printable.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/named_files.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "documents/files.h"
#include "kinds/artifact.h"
#include "kinds/kinds.h"
#include "kinds/service.h"
#include "packages/names.h"
#include "value/json.h"
#include "value/yaml.h"
#include "verbs/environments/files.h"
#include "verbs/environments/services.h"
#include "verbs/packages/artifact_digest.h"

namespace fettle {
namespace {

struct ChosenFile {
  Workplace* place;
  Name name;
  RecordPointer record;
};

Result<RecordPointer> artifact_of(const Face& face, const Workplace& place,
                                  const Environment& environment) {
  const std::string wanted = face.parsed.argument(face.parsed.has("enclave") ? 0 : 1);
  if (wanted.empty())
    return user_error(
        cat("name the files artifact: `fettle files ls ", environment.name, "` lists them"));
  std::vector<std::string> names;
  for (const auto& [name, record] : files_artifacts(TRY(place.store->known(environment.name)))) {
    if (name == wanted || begins_uuid(read_one<&ArtifactOutputs::uuid>(record->outputs), wanted))
      return record;
    names.push_back(name);
  }
  return user_error(cat("there is no files artifact `", wanted, "` in `", environment.name, "`",
                        suggestion(wanted, names)));
}

Result<ChosenFile> choose(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(environment_of(face, 0));
  RecordPointer record = TRY(artifact_of(face, *place, environment));
  return ChosenFile{place, Name(artifact_name(record->applied->key)), std::move(record)};
}

Result<ByteSource> content_of(const ChosenFile& chosen) {
  return TRY(chosen.place->blobs->open(read_one<&ArtifactOutputs::digest>(chosen.record->outputs)))
      .source;
}

Result<int> files_ls(Face& face) {
  Workplace* place = TRY(face.workplace());
  const Environment environment = TRY(environment_of(face, 0));
  const std::map<std::string, RecordPointer> artifacts =
      files_artifacts(TRY(place->store->known(environment.name)));
  if (face.json) {
    print_json(document_of(artifacts));
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"UUID", "Name", "Digest"}};
  for (const auto& [name, record] : artifacts) {
    const ArtifactOutputs made = read<ArtifactOutputs>(record->outputs);
    rows.push_back({made.uuid.str().substr(0, 12), name, made.digest.str().substr(0, 12)});
  }
  print(table(rows));
  return 0;
}

/// All that is left of an entry.
Status read_entry(ArchiveReader& reader, const std::function<void(std::string_view)>& take) {
  std::string piece(64 << 10, '\0');
  for (size_t got = TRY(reader.read(piece)); got > 0; got = TRY(reader.read(piece)))
    take(std::string_view(piece).substr(0, got));
  return {};
}

/// Prints one file: unchanged but harmless for a terminal, or in a document.
Status tell_file(const Face& face, const ArchiveEntry& entry, ArchiveReader& reader) {
  if (!face.json) {
    if (isatty(STDOUT_FILENO) != 1)
      return read_entry(reader, print_part);
    std::string rest;
    TRY(read_entry(reader, [&](std::string_view piece) {
      rest += piece;
      const size_t whole = whole_code_points(rest);
      print_part(printable_lines(std::string_view(rest).substr(0, whole)));
      rest.erase(0, whole);
    }));
    print_part(printable_lines(rest));
    return {};
  }
  std::string content;
  TRY(read_entry(reader, [&](std::string_view piece) { content += piece; }));
  print_json(document_of(entry, content));
  return {};
}

Result<int> files_inspect(Face& face) {
  const ChosenFile chosen = TRY(choose(face));
  const std::string wanted = face.parsed.argument(face.parsed.has("enclave") ? 1 : 2);
  ArchiveReader reader(TRY(content_of(chosen)), {.links_may_leave = true});
  std::vector<ArchiveEntry> entries;
  bool found = wanted.empty();
  while (std::optional<ArchiveEntry> entry = TRY(reader.next())) {
    if (!wanted.empty()) {
      if (entry->path != wanted || entry->type != ArchiveEntry::Type::file)
        continue;
      found = true;
      TRY(tell_file(face, *entry, reader));
      break;
    }
    const bool folder = entry->type == ArchiveEntry::Type::directory;
    if (face.json)
      entries.push_back(std::move(*entry));
    else
      print(cat(printable(entry->path), folder ? "/" : cat("  ", entry->size, " bytes")));
  }
  if (!found)
    return user_error(cat("the files artifact `", chosen.name, "` has no file `", wanted, "`"));
  if (face.json && wanted.empty())
    print_json(document_of(entries));
  return 0;
}

void tell_place(const Face& face, const Name& name, const std::string& path) {
  if (face.json)
    print_json(download_document(name, path));
  else
    print(path);
}

/// A folder that is not there yet is there when all of it could be unpacked.
Status unpack_whole(const ByteSource& content, const Path& folder) {
  std::error_code failure;
  if (std::filesystem::exists(folder, failure))
    return unpack(content, folder);
  const Path parent = folder.has_parent_path() ? folder.parent_path() : Path(".");
  TRY(make_directories(parent));
  const ScratchFolder scratch = TRY(ScratchFolder::make(parent.string()));
  const Path whole = Path(scratch.path()) / "whole";
  TRY(unpack(content, whole));
  std::filesystem::rename(whole, folder, failure);
  if (failure)
    return world_error(cat("cannot write `", folder.string(), "`: ", failure.message()));
  return {};
}

/// `FOLDER/NAME.tgz`, where Kurtosis writes it.
Result<std::string> save_packed(const ChosenFile& chosen, const Path& folder) {
  const ByteSource content = TRY(content_of(chosen));
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure)
    return world_error(cat("cannot write `", folder.string(), "`: ", failure.message()));
  const std::string file = (folder / (chosen.name.str() + ".tgz")).string();
  TRY(write_output(file, [&](const ByteSink& sink) { return pump_gzipped(content, sink); }));
  return file;
}

Result<int> download(Face& face) {
  const ChosenFile chosen = TRY(choose(face));
  const std::string given = face.parsed.argument(face.parsed.has("enclave") ? 1 : 2);
  if (is_standard_output(given)) {
    const ByteSource content = TRY(content_of(chosen));
    TRY(write_output(given, [&](const ByteSink& sink) { return pump(content, sink); }));
    return 0;
  }
  const std::string folder = given.empty() ? chosen.name.str() : given;
  if (face.parsed.flag("no-extract")) {
    tell_place(face, chosen.name, TRY(save_packed(chosen, folder)));
    return 0;
  }
  TRY(unpack_whole(TRY(content_of(chosen)), folder));
  tell_place(face, chosen.name, folder);
  return 0;
}

/// The name that was asked for, else one after the last element of a path.
Result<std::string> artifact_name(const Face& face, std::string_view path) {
  std::string name = face.parsed.text("name");
  if (name.empty()) {
    while (path.ends_with('/'))
      path.remove_suffix(1);
    name = path.substr(path.rfind('/') + 1);
    for (char& c : name)
      if (!check_artifact_name(std::string(1, c)) && c != '-' && c != '.')
        c = '-';
    name.erase(0, name.find_first_not_of("-."));
  }
  TRY(check_artifact_name(name));
  return name;
}

std::string json_of(std::string_view text) { return write_json(Value(text)); }

/// Makes an artifact from `attributes`, as the instruction of a package would, and says so.
Result<int> make(Face& face, const EditSession& editing, const std::string& name,
                 const Value& attributes, const std::string& instruction) {
  const EditResult edited =
      TRY(put_files_artifact(*editing.place, *editing.edit, name, attributes, instruction));
  const auto all = files_artifacts(edited.known);
  const auto found = all.find(name);
  const RecordPointer made = found == all.end() ? nullptr : found->second;
  // After wrong input nothing was made, and nothing is remembered.
  if (!edited.summary.failures.empty() && made == nullptr &&
      edited.summary.failures[0].error.blame == Blame::user)
    return edited.summary.failures[0].error;
  if (!edited.summary.good() || made == nullptr)
    return std::max(1, tell_failed(face, edited.summary));
  if (face.json)
    print_json(document_of(name, *made));
  else
    print(face.quiet ? name
                     : cat("Files with artifact name '", name, "' uploaded with artifact UUID '",
                           read_one<&ArtifactOutputs::uuid>(made->outputs), "'"));
  return 0;
}

/// The arguments behind the environment.
std::string argument_of(const Face& face, size_t i) {
  return face.parsed.argument(i + (face.parsed.has("enclave") ? 0 : 1));
}

Status need_arguments(const Face& face, size_t count, std::string_view usage) {
  if (argument_of(face, count - 1).empty())
    return user_error(cat("more arguments are needed: `", usage, "`"));
  return {};
}

/// The content of an upload, ready to be packed: the given path, standard input as a file with the
/// artifact's name, or the contents of a tar archive.
class Upload {
 public:
  static Result<Upload> prepare(const Face& face, const std::string& given,
                                const std::string& name) {
    const bool is_piped = given == "-", extracts = face.parsed.flag("extract");
    if (!is_piped && !file_exists(given))
      return user_error(cat("`", given, "` does not exist"));
    if (!is_piped && !extracts)
      return Upload(given, std::nullopt);
    std::error_code failure;
    ScratchFolder scratch =
        TRY(ScratchFolder::make(std::filesystem::temp_directory_path(failure).string()));
    const std::string path = cat(scratch.path(), "/", name);
    const ByteSource content = TRY(source_of_file(is_piped ? "/dev/stdin" : given));
    if (extracts)
      TRY(as_input(unpack_some(content, path)));
    else
      TRY(write_file(path, [&](const ByteSink& sink) { return pump(content, sink); }));
    return Upload(path, std::move(scratch));
  }
  const std::string& path() const { return path_; }

 private:
  Upload(std::string path, std::optional<ScratchFolder> scratch)
      : path_(std::move(path)), scratch_(std::move(scratch)) {}
  /// An empty input is no archive: the program that should have written it has failed.
  static Status unpack_some(const ByteSource& content, const std::string& path) {
    bool is_empty = true;
    const ByteSource counted = [&](std::span<char> into) -> Result<size_t> {
      const size_t count = TRY(content(into));
      is_empty &= count == 0;
      return count;
    };
    TRY(unpack(counted, path));
    return is_empty ? user_error("the archive is empty") : Status();
  }
  /// An archive that cannot be read is wrong input.
  static Status as_input(Status unpacked) {
    if (!unpacked)
      unpacked.error().blame = Blame::user;
    return std::move(unpacked).context("unpacking the archive");
  }

  std::string path_;
  std::optional<ScratchFolder> scratch_;
};

Result<int> upload(Face& face) {
  TRY(need_arguments(face, 1, "fettle files upload ENCLAVE PATH"));
  const std::string path = argument_of(face, 0);
  if (path == "-" && !face.parsed.has("name"))
    return user_error("standard input has no name: name the files artifact with `--name`");
  const EditSession editing = TRY(begin_editing(face));
  const std::string name = TRY(artifact_name(face, path));
  const Upload upload = TRY(Upload::prepare(face, path, name));
  const std::string digest =
      TRY(put_artifact(*editing.place, upload.path()).context(cat("uploading `", path, "`")));
  return make(face, editing, name, Value::dict({{"source", "upload"}, {"digest", digest}}),
              cat("upload_files(src=", json_of(path), ", name=", json_of(name), ")"));
}

Result<int> store_web(Face& face) {
  TRY(need_arguments(face, 1, "fettle files storeweb ENCLAVE URL"));
  const EditSession editing = TRY(begin_editing(face));
  const std::string url = argument_of(face, 0);
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return user_error(cat("`", url, "` is not an address that begins with http:// or https://"));
  const std::string name =
      TRY(artifact_name(face, std::string_view(url).substr(0, url.find_first_of("?#"))));
  return make(face, editing, name, write(downloaded_artifact("web", url)),
              cat("upload_files(src=", json_of(url), ", name=", json_of(name), ")"));
}

Result<int> store_service(Face& face) {
  TRY(need_arguments(face, 2, "fettle files storeservice ENCLAVE SERVICE PATH"));
  const EditSession editing = TRY(begin_editing(face));
  const RecordPointer service =
      TRY(find_service(*editing.place, editing.environment.name, argument_of(face, 0)));
  const std::string path = argument_of(face, 1), name = TRY(artifact_name(face, path));
  return make(
      face, editing, name,
      Value::dict({{"source", "service"}, {"service", service->applied->key.name}, {"path", path}}),
      cat("store_service_files(service_name=", json_of(service_name(service->applied->key)),
          ", src=", json_of(path), ", name=", json_of(name), ")"));
}

Result<int> render(Face& face) {
  TRY(need_arguments(face, 3, "fettle files rendertemplate ENCLAVE TEMPLATE DATA DESTINATION"));
  const std::string file = argument_of(face, 1), destination = argument_of(face, 2);
  if (argument_of(face, 0) == "-" && file == "-")
    return user_error("only one of the template and its data can be `-`");
  const EditSession editing = TRY(begin_editing(face));
  const std::string source = TRY(read_given(argument_of(face, 0)));
  const std::string text = TRY(read_given(file));
  Result<Value> data = read_json(text, file);
  if (!data && !file.ends_with(".json"))
    data = read_yaml(text, file, YamlSchema::go_yaml_v2);
  if (!data)
    return Error(data.error()).context("reading the data");
  const std::string name = TRY(artifact_name(face, destination));
  const Value one = Value::dict({{"template", source}, {"data", *data}});
  return make(
      face, editing, name,
      Value::dict({{"source", "render"}, {"templates", Value::dict({{destination, one}})}}),
      cat("render_templates(config={", json_of(destination), ": struct(data=", write_json(*data),
          ", template=", json_of(source), ")}, name=", json_of(name), ")"));
}

Result<int> files_remove(Face& face) {
  const EditSession editing = TRY(begin_editing(face));
  const RecordPointer artifact = TRY(artifact_of(face, *editing.place, editing.environment));
  const std::string_view name = artifact_name(artifact->applied->key);
  const Summary summary =
      TRY(remove_files_artifact(*editing.place, *editing.edit, artifact->applied->key));
  if (!summary.good())
    return tell_failed(face, summary);
  if (face.json)
    print_json(status_document(name, "removed"));
  else if (!face.quiet)
    print_error(cat("files artifact `", name, "` removed"));
  return 0;
}

}  // namespace

std::vector<Command> files_commands() {
  const CommandOption named{{"--name"}, "NAME", "its name (default: the last part of the path)"};
  const CommandGroup group{"files", {environment_option()}};
  return {
      group.reader("files ls", "ENCLAVE", 0, 1, "Lists the files artifacts of an environment.",
                   {"fettle files ls shop", "fettle files ls shop --output json"}, files_ls),
      group.reader(
          "files inspect", "ENCLAVE ARTIFACT [FILE]", 1, 3,
          "Lists what is in a files artifact, or shows one file of it.",
          {"fettle files inspect shop config", "fettle files inspect shop config nginx.conf"},
          files_inspect),
      with_files(
          group.make(
              "files download", "ENCLAVE ARTIFACT [FOLDER]", 1, 3,
              "Writes a files artifact to this machine; `-` is standard output, as a tar archive.",
              {"fettle files download shop config",
               "fettle files download shop config out --no-extract"},
              download, {{{"--no-extract"}, "", "write `FOLDER/ARTIFACT.tgz`"}}),
          [](const CommandLine& parsed, NamedFiles& files) { name_written(parsed, 2, files); }),
      with_files(
          group.make(
              "files upload", "ENCLAVE PATH", 1, 2,
              "Creates a files artifact from a file or folder of this machine; `-` is standard "
              "input, a file.",
              {"fettle files upload shop ./site --name page",
               "tar -c site | fettle files upload shop - --extract --name site"},
              upload, {named, {{"--extract"}, "", "unpack it: it is a tar archive"}}),
          [](const CommandLine& parsed, NamedFiles& files) { name_read(parsed, 1, files); }),
      group.make("files storeservice", "ENCLAVE SERVICE PATH", 2, 3,
                 "Creates a files artifact from a path in a service.",
                 {"fettle files storeservice shop web /etc/nginx",
                  "fettle files storeservice shop web /etc/nginx --name config"},
                 store_service, {named}),
      group.make("files storeweb", "ENCLAVE URL", 1, 2, "Creates a files artifact from a URL.",
                 {"fettle files storeweb shop http://127.0.0.1:8000/data.csv",
                  "fettle files storeweb shop http://127.0.0.1:8000/data.csv --name data"},
                 store_web, {named}),
      with_files(
          group.make("files rendertemplate", "ENCLAVE TEMPLATE DATA DESTINATION", 3, 4,
                     "Creates a files artifact from a Go template and its data, JSON or YAML.",
                     {"fettle files rendertemplate shop page.tmpl data.json index.html",
                      "fettle files rendertemplate shop page.tmpl data.yml index.html --name page"},
                     render, {named}),
          [](const CommandLine& parsed, NamedFiles& files) {
            name_read(parsed, 1, files);
            name_read(parsed, 2, files);
          }),
      group.make("files rm", "ENCLAVE ARTIFACT", 1, 2, "Removes a files artifact.",
                 {"fettle files rm shop config", "fettle files rm -e shop config"}, files_remove),
  };
}

}  // namespace fettle
