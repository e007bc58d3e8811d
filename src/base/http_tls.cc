#include "base/http_tls.h"

#include "base/text.h"

namespace fettle {
namespace {

curl_blob blob_of(const std::string& text) {
  return {const_cast<char*>(text.data()), text.size(), CURL_BLOB_NOCOPY};
}

}  // namespace

void set_tls(const HttpLibrary& curl, CURL* easy, const TlsSettings& tls) {
  const auto set = [&](CURLoption option, auto value) { curl.easy_setopt(easy, option, value); };
  const auto set_pem = [&](const std::string& text, CURLoption as_text, const std::string& file,
                           CURLoption as_file) {
    if (curl_blob blob = blob_of(text); blob.len > 0)
      set(as_text, &blob);
    else if (!file.empty())
      set(as_file, file.c_str());
  };
  set_pem(tls.authorities_text, CURLOPT_CAINFO_BLOB, tls.authorities, CURLOPT_CAINFO);
  set_pem(tls.certificate_text, CURLOPT_SSLCERT_BLOB, tls.certificate, CURLOPT_SSLCERT);
  set_pem(tls.key_text, CURLOPT_SSLKEY_BLOB, tls.key, CURLOPT_SSLKEY);
  if (tls.trusts_anybody) {
    set(CURLOPT_SSL_VERIFYPEER, 0L);
    set(CURLOPT_SSL_VERIFYHOST, 0L);
  }
}

OtherName under_name(std::string_view url, std::string_view name) {
  const size_t scheme = url.find("://");
  const size_t begin = scheme == url.npos ? 0 : scheme + 3;
  const size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  const std::string_view host = url.substr(begin, end - begin);
  const size_t colon = host.rfind(':');
  const bool has_port = colon != host.npos && host.find(']', colon) == host.npos;
  const std::string_view port =
      has_port ? host.substr(colon) : (url.starts_with("http:") ? ":80" : ":443");
  return {.url = cat(url.substr(0, begin), name, port, url.substr(end)),
          .host = std::string(host),
          .connect_to = cat("::", host.substr(0, has_port ? colon : host.npos), port)};
}

}  // namespace fettle
