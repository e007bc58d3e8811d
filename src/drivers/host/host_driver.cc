#include "drivers/host/host_driver.h"

#include "base/archive.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "drivers/host/commands.h"
#include "drivers/host/files.h"
#include "kinds/artifact.h"
#include "kinds/command.h"
#include "kinds/file.h"
#include "kinds/mark.h"
#include "kinds/notice.h"
#include "kinds/print.h"
#include "kinds/recipe.h"
#include "kinds/verify.h"
#include "template/go/template.h"
#include "value/json.h"
#include "value/mask.h"

namespace fettle {
namespace {

/// Kurtosis takes `/a/b` for `a/b`.
std::string_view without_leading_slashes(std::string_view path) {
  return path.substr(std::min(path.find_first_not_of('/'), path.size()));
}

/// The artifact of templates: each rendered with its data.
Result<std::string> rendered(const Dict& templates) {
  std::map<std::string, std::string> files;
  for (const Entry& entry : templates.entries()) {
    const std::string path =
        TRY(inner_path(without_leading_slashes(entry.key)).context("render_templates"));
    const FileTemplate wanted = read<FileTemplate>(entry.value);
    const auto made = go_template::Template::parse(path, wanted.text.get().str());
    const auto text = made ? made->render(wanted.data) : made.error();
    // The message itself says where in the template.
    if (!text)
      return user_error(text.error().message);
    files[path] = *text;
  }
  return pack_files(files);
}

/// The last part of an address, as a file name.
std::string name_of_download(std::string_view url) {
  const std::string_view path = url.substr(0, url.find_first_of("?#"));
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.empty() || name == "." || name == ".." ? "download" : std::string(name);
}

/// As an artifact: a file, or what is in an archive that is to be unpacked.
Status pack_download(const Artifact& wanted, const Path& body, const ByteSink& sink) {
  if (wanted.source.view() == "web" && begins_archive(TRY(source_of_file(body)))) {
    TRY(repack(gunzip_if_compressed(TRY(source_of_file(body))), sink)
            .context(cat("unpacking `", wanted.url.view(), "`")));
    return {};
  }
  ArchiveWriter writer(sink);
  TRY(writer.add({.path = name_of_download(wanted.url.view()), .size = TRY(size_of_file(body))},
                 TRY(source_of_file(body))));
  return writer.finish();
}

/// Of what a download would be as an artifact.
Result<std::string> digest_of_download(const Artifact& wanted, const Path& body) {
  Sha256 hash;
  TRY(pack_download(wanted, body, [&](std::string_view bytes) -> Status {
    hash.add(bytes);
    return {};
  }));
  return hash.hex();
}

Error bad_answer(const Artifact& wanted, int status) {
  return world_error(cat("downloading `", wanted.url.view(), "`: the server answered ", status));
}

bool has_path(const Name& kind) { return kind == "file" || kind == "folder" || kind == "link"; }

/// What is wanted, else what was applied.
const Attributes& attributes_of(const Subject& subject) {
  static const Attributes none;
  if (subject.wanted != nullptr)
    return subject.wanted->attributes;
  const Resource* then = subject.known == nullptr ? nullptr : resource_of_then(*subject.known);
  return then == nullptr ? none : then->attributes;
}

constexpr uintmax_t longest_content = 64 << 10;

/// What a file says that is not as wanted, so that people see what differs. What has a secret in it
/// is not told.
void add_content(PathSeen& seen, const File& wanted) {
  const Path path(wanted.path.view());
  std::error_code error;
  if (seen.type != "file" || wanted.digest.value() == seen.digest || !wanted.content.is_text() ||
      std::filesystem::file_size(path, error) > longest_content)
    return;
  Result<std::string> content = read_file(path);
  if (content && is_valid_utf8(*content))
    seen.content = *std::move(content);
}

/// Folders and links have no content.
std::optional<State> look_at_file(const Attributes& attributes, const std::stop_token& stop) {
  const File wanted = read<File>(attributes);
  std::optional<PathSeen> seen = look_at_path(wanted.path.get().str(), stop);
  if (!seen)
    return std::nullopt;
  add_content(*seen, wanted);
  return State(write(*seen));
}

}  // namespace

Result<std::vector<Observation>> HostDriver::observe(std::span<const Subject> subjects,
                                                     std::stop_token stop) {
  std::vector<Observation> seen(subjects.size());
  const DigestSet stored = TRY(blobs_.find_all(digests_of_artifacts(subjects)));
  for (size_t i = 0; i < subjects.size() && !stop.stop_requested(); ++i) {
    const Name& kind = subjects[i].key.kind;
    const Attributes& attributes = attributes_of(subjects[i]);
    if (has_path(kind))
      seen[i].state = look_at_file(attributes, stop);
    else if (kind == "command")
      seen[i].state = write(subjects[i].wanted == nullptr
                                ? CommandSeen()
                                : look_at_command(read<HostCommand>(attributes), stop));
    else if (kind == "artifact")
      seen[i] = TRY(look_at_artifact(subjects[i], stored, stop));
  }
  if (stop.stop_requested())
    return cancelled_error();
  return seen;
}

Result<Observation> HostDriver::look_at_artifact(const Subject& subject, const DigestSet& stored,
                                                 std::stop_token stop) {
  const Name digest = digest_of_artifact(subject);
  if (!stored.contains(digest.view()))
    return Observation{};
  Observation seen{State(write(ArtifactSeen{digest}))};
  // What a package names by its address is asked for in each run.
  if (subject.wanted == nullptr ||
      read<Artifact>(subject.wanted->attributes).source.view() != "url" ||
      !subject.known->applied || subject.known->applied->attributes != subject.wanted->attributes)
    return seen;
  return look_at_address(*subject.wanted, *subject.known, std::move(stop));
}

/// If nobody says what is at the address now, the stored content is used.
Result<Observation> HostDriver::look_at_address(const Resource& wanted, const Record& known,
                                                std::stop_token stop) {
  const TemporaryDirectory place = TRY(TemporaryDirectory::make());
  const Path body = place.path() / "body";
  const Artifact artifact = read<Artifact>(wanted.attributes);
  const ArtifactOutputs before = read<ArtifactOutputs>(known.outputs);
  ArtifactSeen found{before.digest};
  const Result<HttpResponse> answer = ask(artifact, body, before.etag.str(), std::move(stop));
  if (!answer || answer->status >= 500) {
    found.unasked = (answer ? bad_answer(artifact, answer->status) : answer.error()).message;
    return Observation{State(write(found))};
  }
  if (answer->status == 304 && !before.etag.empty())
    return Observation{State(write(found))};
  const Result<std::string> now = answer->status == 200 ? digest_of_download(artifact, body)
                                                        : bad_answer(artifact, answer->status);
  found.is_other = now && *now != before.digest.view();
  Observation seen{State(write(found))};
  if (!now)
    seen.unavailable = now.error().message;
  return seen;
}

Result<std::vector<Found>> HostDriver::list(const Name&, std::stop_token) {
  return std::vector<Found>();
}

Result<Outcome> HostDriver::apply(const Act& act, const ProgressSink& progress,
                                  std::stop_token stop) {
  const Name& kind = act.key.kind;
  if (stop.stop_requested())
    return cancelled_error();
  if (act.verb == Verb::remove)
    return has_path(kind) ? remove_path(act) : Result<Outcome>(Done{});
  if (kind == "file")
    return make_file(act, blobs_, stop);
  if (kind == "folder")
    return make_folder(act);
  if (kind == "link")
    return make_link(act);
  if (kind == "command")
    return run_command_act(act, progress, stop);
  if (kind == "mark")
    return make_mark(act);
  // A resource that is only remembered: there is nothing of it but its record.
  if (kind == "revision" || kind == "pull_job")
    return Done{Value::dict({}), {}, true};
  if (kind == "notice") {
    const ObjectNotice notice = read<ObjectNotice>(act.attributes);
    Done said{Value::dict({}), {}, true};
    said.printed.push_back(cat(notice.type, " ", notice.reason, ": ", notice.text));
    return said;
  }
  if (kind == "artifact")
    return artifact(act, stop);
  if (kind == "print")
    return Done{write(read<Message>(act.attributes)), {}, true};
  if (kind == "verify") {
    const Verify verify = read<Verify>(act.attributes);
    TRY(check_assertion(verify.value, verify.assertion.view(), verify.target));
    return Done{write(VerifyOutputs{verify.value}), {}, true};
  }
  return Error(Blame::bug, cat("the host cannot act on `", to_string(act.key), "`"));
}

Result<Outcome> HostDriver::make_mark(const Act& act) {
  if (read<Mark>(act.attributes).fail.get())
    return world_error("it is set to fail");
  return Done{Value::dict({}), {}, true};
}

Result<Outcome> HostDriver::artifact(const Act& act, std::stop_token stop) {
  const Artifact wanted = read<Artifact>(act.attributes);
  const std::string_view source = wanted.source.view();
  std::string digest, etag;
  if (source == "render")
    digest = TRY(blobs_.put(TRY(rendered(wanted.templates))));
  else if (source == "url" || source == "web")
    std::tie(digest, etag) = TRY(download(wanted, stop));
  else
    digest = wanted.digest.view();
  if (!TRY(blobs_.has(digest)))
    return lost_content_error(digest);
  ArtifactOutputs outputs =
      act.known == nullptr ? ArtifactOutputs() : read<ArtifactOutputs>(act.known->outputs);
  if (outputs.uuid.empty())
    outputs.uuid = to_string(Digest{random_(), random_()});
  const bool changed = outputs.digest != digest;
  outputs.digest = digest;
  outputs.etag = etag;
  return Done{write(outputs), digest, changed};
}

Result<HttpResponse> HostDriver::ask(const Artifact& wanted, const Path& body,
                                     const std::string& etag, std::stop_token stop) {
  const std::string shown = wanted.url.get().str();
  const Value address = reveal(wanted.address);
  HttpRequest request;
  request.url = address.is_text() ? address.text().str() : shown;
  if (!etag.empty())
    request.headers.push_back({"If-None-Match", etag});
  request.follow_redirects = true;
  request.connect_limit = limits_.connect;
  request.silence_limit = limits_.silence;
  request.time_limit = limits_.whole;
  request.sink = TRY(sink_to_file(body, ArchiveLimits().bytes));
  const std::string whole = request.url;
  Result<HttpResponse> response = http_.send(std::move(request), std::move(stop));
  if (!response)
    return Error(response.error().blame, replace_all(response.error().message, whole, shown))
        .context(cat("downloading `", shown, "`"));
  return response;
}

Result<HostDriver::TaggedDigest> HostDriver::download(const Artifact& wanted,
                                                      std::stop_token stop) {
  const TemporaryDirectory place = TRY(TemporaryDirectory::make());
  const Path body = place.path() / "body";
  const HttpResponse answer = TRY(ask(wanted, body, "", std::move(stop)));
  if (answer.status != 200)
    return bad_answer(wanted, answer.status);
  const std::unique_ptr<Blobs::Draft> draft = TRY(blobs_.begin());
  TRY(pack_download(wanted, body, [&](std::string_view bytes) { return draft->add(bytes); }));
  return TaggedDigest{TRY(draft->finish()), answer.header("ETag")};
}

}  // namespace fettle
