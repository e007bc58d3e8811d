#include "drivers/host/host_driver.h"

#include "base/archive.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "drivers/host/commands.h"
#include "drivers/host/files.h"
#include "kinds/recipe.h"
#include "template/go/template.h"
#include "value/json.h"
#include "value/mask.h"

namespace fettle {
namespace {

/// Kurtosis takes `/a/b` for `a/b`.
std::string_view without_leading_slashes(std::string_view path) {
  return path.substr(std::min(path.find_first_not_of('/'), path.size()));
}

/// The artifact of templates, each rendered with its data.
Result<std::string> rendered(const Value& templates) {
  std::map<std::string, std::string> files;
  for (const Entry& entry : templates.entries()) {
    const std::string path =
        TRY(inner_path(without_leading_slashes(entry.key)).context("render_templates"));
    const auto made = go_template::Template::parse(path, entry.value.text_at("template"));
    const auto text = made ? made->render(entry.value.at("data")) : made.error();
    // The message itself has the place in the template.
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

/// Makes an artifact: a file, or the contents of an archive that is to be unpacked.
Status pack_download(const Value& attributes, const Path& body, const ByteSink& sink) {
  if (attributes.text_at("source") == "web" && begins_archive(TRY(source_of_file(body)))) {
    TRY(repack(gunzip_if_compressed(TRY(source_of_file(body))), sink)
            .context(cat("unpacking `", attributes.text_at("url"), "`")));
    return {};
  }
  ArchiveWriter writer(sink);
  TRY(writer.add(
      {.path = name_of_download(attributes.text_at("url")), .size = TRY(size_of_file(body))},
      TRY(source_of_file(body))));
  return writer.finish();
}

/// The digest that a download would have as an artifact.
Result<std::string> digest_of_download(const Value& attributes, const Path& body) {
  Sha256 hash;
  TRY(pack_download(attributes, body, [&](std::string_view bytes) -> Status {
    hash.add(bytes);
    return {};
  }));
  return hash.hex();
}

Error bad_answer(const Value& attributes, int status) {
  return world_error(
      cat("downloading `", attributes.text_at("url"), "`: the server answered ", status));
}

bool has_path(const Name& kind) { return kind == "file" || kind == "folder" || kind == "link"; }

/// The wanted attributes, else those that were applied.
const Value& attributes_of(const Subject& subject) {
  static const Value none;
  if (subject.wanted != nullptr)
    return subject.wanted->attributes;
  const Resource* then = subject.known == nullptr ? nullptr : resource_of_then(*subject.known);
  return then == nullptr ? none : then->attributes;
}

constexpr uintmax_t longest_content = 64 << 10;

/// Adds the content of a file that is not as wanted, so that people see the difference. A content
/// with a secret is not shown.
Value with_content(Value state, const Value& attributes) {
  const Path path(attributes.text_at("path"));
  std::error_code error;
  if (state.text_at("type") != "file" || attributes.text_at("digest") == state.text_at("digest") ||
      !attributes.at("content").is_text() ||
      std::filesystem::file_size(path, error) > longest_content)
    return state;
  Result<std::string> content = read_file(path);
  if (!content || !is_valid_utf8(*content))
    return state;
  std::vector<Entry> entries(state.entries().begin(), state.entries().end());
  entries.push_back({"content", *std::move(content)});
  return Value::dict(std::move(entries));
}

std::optional<Value> found_or_none(Value found) {
  return found.is_null() ? std::nullopt : std::optional(std::move(found));
}

}  // namespace

Result<std::vector<Observation>> HostDriver::observe(std::span<const Subject> subjects,
                                                     std::stop_token stop) {
  std::vector<Observation> seen(subjects.size());
  for (size_t i = 0; i < subjects.size() && !stop.stop_requested(); ++i) {
    const Name& kind = subjects[i].key.kind;
    const Value& attributes = attributes_of(subjects[i]);
    if (has_path(kind))
      seen[i].state = found_or_none(
          with_content(look_at_path(std::string(attributes.text_at("path")), stop), attributes));
    else if (kind == "command")
      seen[i].state = subjects[i].wanted == nullptr ? Value::dict({{"due", false}})
                                                    : look_at_command(attributes, stop);
    else if (kind == "artifact")
      seen[i] = TRY(look_at_artifact(subjects[i], stop));
  }
  if (stop.stop_requested())
    return cancelled_error();
  return seen;
}

Result<Observation> HostDriver::look_at_artifact(const Subject& subject, std::stop_token stop) {
  const Value digest = subject.known == nullptr ? Value() : subject.known->outputs.at("digest");
  if (!digest.is_text() || !TRY(blobs_.has(digest.text())))
    return Observation{};
  Observation seen{Value::dict({{"digest", digest}})};
  // An address that a package names is asked in each run.
  if (subject.wanted == nullptr || subject.wanted->attributes.text_at("source") != "url" ||
      !subject.known->applied || subject.known->applied->attributes != subject.wanted->attributes)
    return seen;
  return look_at_address(*subject.wanted, *subject.known, std::move(stop));
}

/// If nobody says what is at the address now, the stored content is used.
Result<Observation> HostDriver::look_at_address(const Resource& wanted, const Record& known,
                                                std::stop_token stop) {
  const TemporaryDirectory place = TRY(TemporaryDirectory::make());
  const Path body = place.path() / "body";
  const Value& attributes = wanted.attributes;
  const Value& digest = known.outputs.at("digest");
  const std::string etag(known.outputs.text_at("etag"));
  const Result<HttpResponse> answer = ask(attributes, body, etag, std::move(stop));
  if (!answer || answer->status >= 500) {
    const Error why = answer ? bad_answer(attributes, answer->status) : answer.error();
    return Observation{Value::dict({{"digest", digest}, {"unasked", why.message}})};
  }
  Observation seen{Value::dict({{"digest", digest}})};
  if (answer->status == 304 && !etag.empty())
    return seen;
  const Result<std::string> now = answer->status == 200 ? digest_of_download(attributes, body)
                                                        : bad_answer(attributes, answer->status);
  if (!now)
    seen.unavailable = now.error().message;
  else if (*now != digest.text())
    seen.state = Value::dict({{"digest", digest}, {"other", true}});
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
    Done said{Value::dict({}), {}, true};
    said.printed.push_back(cat(act.attributes.text_at("type"), " ",
                               act.attributes.text_at("reason"), ": ",
                               act.attributes.text_at("text")));
    return said;
  }
  if (kind == "artifact")
    return artifact(act, stop);
  if (kind == "print")
    return Done{Value::dict({{"message", act.attributes.at("message")}}), {}, true};
  if (kind == "verify") {
    const Value& value = act.attributes.at("value");
    TRY(check_assertion(value, act.attributes.text_at("assertion"), act.attributes.at("target")));
    return Done{Value::dict({{"value", value}}), {}, true};
  }
  return Error(Blame::bug, cat("the host cannot act on `", to_string(act.key), "`"));
}

Result<Outcome> HostDriver::make_mark(const Act& act) {
  if (act.attributes.bool_at("fail"))
    return world_error("it is set to fail");
  return Done{Value::dict({}), {}, true};
}

Result<Outcome> HostDriver::artifact(const Act& act, std::stop_token stop) {
  const std::string_view source = act.attributes.text_at("source");
  std::string digest, etag;
  if (source == "render")
    digest = TRY(blobs_.put(TRY(rendered(act.attributes.at("templates")))));
  else if (source == "url" || source == "web")
    std::tie(digest, etag) = TRY(download(act.attributes, stop));
  else
    digest = act.attributes.text_at("digest");
  if (!TRY(blobs_.has(digest)))
    return lost_content_error(digest);
  const Value before = act.known == nullptr ? Value() : act.known->outputs;
  std::string uuid(before.text_at("uuid"));
  if (uuid.empty())
    uuid = to_string(Digest{random_(), random_()});
  const bool changed = before.text_at("digest") != digest;
  std::vector<Entry> outputs{{"digest", digest}, {"uuid", uuid}};
  if (!etag.empty())
    outputs.push_back({"etag", etag});
  return Done{Value::dict(std::move(outputs)), digest, changed};
}

Result<HttpResponse> HostDriver::ask(const Value& attributes, const Path& body,
                                     const std::string& etag, std::stop_token stop) {
  const std::string shown(attributes.text_at("url"));
  const Value address = reveal(attributes.at("address"));
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

Result<HostDriver::Downloaded> HostDriver::download(const Value& attributes, std::stop_token stop) {
  const TemporaryDirectory place = TRY(TemporaryDirectory::make());
  const Path body = place.path() / "body";
  const HttpResponse answer = TRY(ask(attributes, body, "", std::move(stop)));
  if (answer.status != 200)
    return bad_answer(attributes, answer.status);
  const std::unique_ptr<Blobs::Draft> draft = TRY(blobs_.begin());
  TRY(pack_download(attributes, body, [&](std::string_view bytes) { return draft->add(bytes); }));
  return Downloaded{TRY(draft->finish()), answer.header("ETag")};
}

}  // namespace fettle
