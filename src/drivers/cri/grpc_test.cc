#include "drivers/cri/grpc.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle::cri {
namespace {

using namespace std::string_literals;

HttpResponse answer_with(std::vector<HttpHeader> trailers, std::string body = {}) {
  HttpResponse answer;
  answer.status = 200;
  answer.body = std::move(body);
  answer.trailers = std::move(trailers);
  return answer;
}

std::string told(const HttpResponse& answer) {
  const GrpcResult<std::string> read = read_grpc_answer(answer);
  return read ? *read : cat(to_string(read.error().code), ": ", read.error().message);
}

TEST(Grpc, AMessageTravelsInAFrame) {
  EXPECT_EQ(grpc_frame("abc"), "\0\0\0\0\3abc"s);
  EXPECT_EQ(grpc_frame(std::string(0x01'02'03, 'x')).substr(0, 5), "\0\0\1\2\3"s);
  EXPECT_EQ(grpc_message(grpc_frame("")).value(), "");
  EXPECT_EQ(grpc_message(grpc_frame("abc")).value(), "abc");
}

TEST(Grpc, OtherFramesAreErrors) {
  const auto why = [](const std::string& frame) { return grpc_message(frame).error().message; };
  EXPECT_EQ(why(""), "the answer of the runtime is cut off");
  EXPECT_EQ(why("\0\0\0\0"s), "the answer of the runtime is cut off");
  EXPECT_EQ(why("\0\0\0\0\3ab"s), "the answer of the runtime is cut off");
  EXPECT_EQ(why("\0\xFF\xFF\xFF\xFFx"s), "the answer of the runtime is cut off");
  EXPECT_EQ(why("\0\0\0\0\1ab"s), "the runtime answers more than once");
  EXPECT_EQ(why("\1\0\0\0\1a"s), "the answer of the runtime is compressed, which nobody asked for");
}

TEST(Grpc, ALimitHasAtMostEightDigits) {
  EXPECT_EQ(grpc_timeout(10min), "600000m");
  EXPECT_EQ(grpc_timeout(1ns), "1m");
  EXPECT_EQ(grpc_timeout(Duration(0)), "1m");
  EXPECT_EQ(grpc_timeout(99'999'999ms), "99999999m");
  EXPECT_EQ(grpc_timeout(100'000s), "100000S");
  EXPECT_EQ(grpc_timeout(2'000'000h), "99999999S");
}

TEST(Grpc, MessagesOfErrorsAreDecoded) {
  EXPECT_EQ(percent_decode("a%20b%C3%a4%25"), "a b\xC3\xA4%");
  EXPECT_EQ(percent_decode("100% %4 %zz %"), "100% %4 %zz %");
  EXPECT_EQ(percent_decode(""), "");
}

TEST(Grpc, HowACallEndedStandsInTrailers) {
  EXPECT_EQ(told(answer_with({{"grpc-status", "0"}}, grpc_frame("m"))), "m");
  EXPECT_EQ(told(answer_with({{"Grpc-Status", "5"}, {"grpc-message", "no%20such%0Aimage"}})),
            "not found: no such\\nimage");
  EXPECT_EQ(told(answer_with({{"grpc-status", "14"}})), "unavailable: unavailable");
  for (const char* const status : {"17", "-1", "", "x", "5x", "99999999999999999999"})
    EXPECT_EQ(told(answer_with({{"grpc-status", status}})), "unknown error: unknown error")
        << status;
}

TEST(Grpc, WhatTheRuntimeSaidIsToldFromSilence) {
  EXPECT_TRUE(read_grpc_answer(answer_with({{"grpc-status", "14"}})).error().is_answer);
  EXPECT_FALSE(read_grpc_answer(answer_with({})).error().is_answer);
  EXPECT_FALSE(GrpcError(world_error("x")).is_answer);
}

TEST(Grpc, OrInHeadersIfNothingElseCame) {
  HttpResponse answer = answer_with({});
  answer.headers = {{"grpc-status", "12"}, {"grpc-message", "unknown service"}};
  EXPECT_EQ(told(answer), "unimplemented: unknown service");
}

TEST(Grpc, WhatIsNoGrpcIsAnError) {
  EXPECT_EQ(told(answer_with({}, grpc_frame("m"))),
            "internal error: the runtime did not say how the call ended");
  HttpResponse answer = answer_with({});
  answer.status = 404;
  EXPECT_EQ(told(answer), "unavailable: what answers is no runtime: it says HTTP 404");
  EXPECT_EQ(told(answer_with({{"grpc-status", "0"}}, "x")),
            "internal error: the answer of the runtime is cut off");
}

TEST(Grpc, ALongMessageIsCut) {
  const std::string text =
      told(answer_with({{"grpc-status", "2"}, {"grpc-message", std::string(100'000, 'x')}}));
  EXPECT_LT(text.size(), 5'000u);
}

TEST(Grpc, WhatFailsBeforeAnAnswerIsUnavailableUnlessItWasStopped) {
  EXPECT_EQ(GrpcError(world_error("x")).code, GrpcCode::unavailable);
  EXPECT_EQ(GrpcError(cancelled_error()).code, GrpcCode::cancelled);
}

}  // namespace
}  // namespace fettle::cri
