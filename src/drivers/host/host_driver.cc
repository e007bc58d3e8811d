#include "drivers/host/host_driver.h"

#include "base/archive.h"
#include "base/text.h"
#include "kinds/recipe.h"
#include "template/go/template.h"
#include "value/json.h"

namespace fettle {
namespace {

/// Kurtosis takes `/a/b` for `a/b`.
std::string_view without_leading_slashes(std::string_view path) {
  return path.substr(std::min(path.find_first_not_of('/'), path.size()));
}

/// The artifact of templates: each rendered with its data.
Result<std::string> rendered(const Value& templates) {
  std::map<std::string, std::string> files;
  for (const Entry& entry : templates.entries()) {
    const std::string path =
        TRY(inner_path(without_leading_slashes(entry.key)).context("render_templates"));
    const auto made = TRY(go_template::Template::parse(path, entry.value.text_at("template")));
    files[path] = TRY(made.render(entry.value.at("data")));
  }
  return pack_files(files);
}

/// A file as an artifact: under the last part of its address.
Result<std::string> packed_download(const std::string& url, const std::string& body) {
  std::string name = url.substr(0, url.find_first_of("?#"));
  name = name.substr(name.rfind('/') + 1);
  return pack_files({{name.empty() ? "download" : name, body}});
}

}  // namespace

Result<std::vector<Observation>> HostDriver::observe(std::span<const Subject> subjects,
                                                     std::stop_token) {
  std::vector<Observation> seen(subjects.size());
  for (size_t i = 0; i < subjects.size(); ++i) {
    if (subjects[i].key.kind != "artifact" || subjects[i].known == nullptr)
      continue;
    const Value& digest = subjects[i].known->outputs.at("digest");
    if (digest.is_text() && blobs_.path(digest.text()))
      seen[i].state = Value::dict({{"digest", digest}});
  }
  return seen;
}

Result<std::vector<Found>> HostDriver::list(const Name&, std::stop_token) {
  return std::vector<Found>();
}

Result<Outcome> HostDriver::apply(const Act& act, const ProgressSink&, std::stop_token stop) {
  const std::string_view kind = act.key.kind;
  if (act.verb == Verb::remove)
    return Done{};
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

Result<Outcome> HostDriver::artifact(const Act& act, std::stop_token stop) {
  const std::string_view source = act.attributes.text_at("source");
  std::string digest;
  if (source == "render")
    digest = TRY(blobs_.put(TRY(rendered(act.attributes.at("templates")))));
  else if (source == "url")
    digest = TRY(download(std::string(act.attributes.text_at("url")), stop));
  else
    digest = act.attributes.text_at("digest");
  TRY(blobs_.path(digest));
  const Value before = act.known == nullptr ? Value() : act.known->outputs;
  std::string uuid(before.text_at("uuid"));
  if (uuid.empty())
    uuid = to_string(Digest{random_(), random_()});
  const bool changed = before.text_at("digest") != digest;
  return Done{Value::dict({{"digest", digest}, {"uuid", uuid}}), digest, changed};
}

Result<std::string> HostDriver::download(const std::string& url, std::stop_token stop) {
  HttpRequest request;
  request.url = url;
  request.follow_redirects = true;
  request.body_limit = size_t{1} << 30;
  const HttpResponse response =
      TRY(http_.send(std::move(request), stop).context(cat("downloading `", url, "`")));
  if (response.status != 200)
    return world_error(cat("downloading `", url, "`: the server answered ", response.status));
  return blobs_.put(TRY(packed_download(url, response.body)));
}

}  // namespace fettle
