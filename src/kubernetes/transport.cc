#include "kubernetes/transport.h"

#include "base/text.h"

namespace fettle::kubernetes {

Result<Proof> HttpTransport::prepare(HttpRequest& request, const std::stop_token& stop) {
  Proof proof = TRY(credentials_.proof(moment_from_clocks(), stop));
  request.url = config_.server + request.url;
  request.tls = config_.tls;
  if (!proof.key_text.empty()) {
    request.tls.certificate_text = proof.certificate_text;
    request.tls.key_text = proof.key_text;
  }
  request.headers.insert(request.headers.end(), proof.headers.begin(), proof.headers.end());
  request.is_http2 = config_.server.starts_with("https:");
  request.dead_peer_limit = dead_peer_limit;
  return proof;
}

Result<HttpResponse> HttpTransport::send(HttpRequest request, std::stop_token stop) {
  HttpRequest first = request;
  const Proof proof = TRY(prepare(first, stop));
  Result<HttpResponse> answer = http_.send(std::move(first), stop);
  if (!answer || answer->status != 401 || !credentials_.refuse(proof, instant_from_clock()))
    return answer;
  TRY(prepare(request, stop));
  return http_.send(std::move(request), stop);
}

void HttpTransport::start(HttpRequest request, std::stop_token stop, HttpClient::Done done) {
  const Result<Proof> proof = prepare(request, stop);
  if (!proof)
    return done(proof.error());
  http_.start(std::move(request), std::move(stop),
              [this, proof = *proof, done = std::move(done)](Result<HttpResponse> answer) {
                if (answer && answer->status == 401)
                  credentials_.refuse(
                      proof, instant_from_clock());  // whoever begins anew shows another one
                done(std::move(answer));
              });
}

}  // namespace fettle::kubernetes
