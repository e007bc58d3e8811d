#include "kubernetes/api_error.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle::kubernetes {
namespace {

ApiError of(int status, std::string body, std::vector<HttpHeader> headers = {}) {
  return read_api_error({.status = status, .headers = std::move(headers), .body = std::move(body)},
                        "GET pods/a");
}

TEST(ApiErrors, AStatusSaysWhy) {
  const ApiError error = of(409, R"({"kind":"Status","code":409,"reason":"AlreadyExists",
      "message":"pods \"a\" already exists","details":{"name":"a"}})");
  EXPECT_EQ(error.reason, ApiReason::already_exists);
  EXPECT_EQ(error.message, "GET pods/a: pods \"a\" already exists");
  EXPECT_EQ(error.details.text_at("name"), "a");
  EXPECT_FALSE(error.may_retry());
}

TEST(ApiErrors, WithoutAReasonTheCodeCounts) {
  const std::vector<std::pair<int, ApiReason>> rows{
      {400, ApiReason::bad_request}, {401, ApiReason::unauthorized},
      {403, ApiReason::forbidden},   {404, ApiReason::not_found},
      {409, ApiReason::conflict},    {410, ApiReason::expired},
      {422, ApiReason::invalid},     {429, ApiReason::too_many_requests},
      {500, ApiReason::internal},    {503, ApiReason::unavailable},
      {504, ApiReason::timeout},     {599, ApiReason::internal},
      {418, ApiReason::other}};
  for (const auto& [code, reason] : rows)
    EXPECT_EQ(to_string(of(code, "").reason), to_string(reason)) << code;
}

TEST(ApiErrors, TheServerSaysWhenToComeBack) {
  const ApiError header = of(429, "", {{"Retry-After", "3"}});
  EXPECT_EQ(header.retry_after, Duration(3s));
  EXPECT_TRUE(header.may_retry());
  const ApiError body =
      of(500, R"({"kind":"Status","reason":"ServerTimeout","details":{"retryAfterSeconds":2}})");
  EXPECT_EQ(body.retry_after, Duration(2s));
  EXPECT_EQ(body.reason, ApiReason::server_timeout);
  EXPECT_FALSE(of(429, "", {{"Retry-After", "-3"}}).retry_after);
  EXPECT_FALSE(of(429, "", {{"Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT"}}).retry_after);
  EXPECT_EQ(of(429, "", {{"Retry-After", "99999999999"}}).retry_after, Duration(1min));
}

TEST(ApiErrors, AnAnswerOfAProxyIsQuoted) {
  EXPECT_EQ(of(502, "<html>no</html>").message, "GET pods/a: <html>no</html>");
  EXPECT_EQ(of(502, "a\x1b[31m").message, "GET pods/a: a\\x1b[31m");
  EXPECT_EQ(of(403, std::string(100'000, '[')).reason, ApiReason::forbidden);
  EXPECT_LT(of(500, std::string(100'000, 'x')).message.size(), 500u);
  EXPECT_EQ(of(404, R"({"kind":"Status","code":1e999,"message":5})").reason, ApiReason::not_found);
}

/// It may have passed the request on before the server went.
TEST(ApiErrors, AnAnswerOfAProxyLeavesTheOutcomeOpen) {
  EXPECT_TRUE(of(502, "").unknown_outcome);
  EXPECT_TRUE(of(503, "<html>no</html>").unknown_outcome);
  EXPECT_FALSE(of(503, R"({"kind":"Status","reason":"ServiceUnavailable"})").unknown_outcome);
  EXPECT_FALSE(of(429, "").unknown_outcome) << "it was refused by whom it reached first";
}

TEST(ApiErrors, PassOnAsErrors) {
  const auto asks = []() -> ApiResult<int> { return of(404, ""); };
  const auto passes = [&]() -> Result<int> {
    const int got = TRY(asks());
    return got;
  };
  EXPECT_EQ(passes().error().message, "GET pods/a: not found (404)");
  const auto fails = []() -> ApiResult<int> {
    TRY(Status(cancelled_error()));
    return 1;
  };
  EXPECT_EQ(fails().error().reason, ApiReason::cancelled);
}

}  // namespace
}  // namespace fettle::kubernetes
