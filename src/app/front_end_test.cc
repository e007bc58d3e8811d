#include "app/front_end.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace fettle {
namespace {

std::string meant(const std::string& line) {
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' '))
    words.emplace_back(word);
  return join(with_front_end(words), " ");
}

TEST(FrontEnd, TheNameOfKurtosisIsThatOfALink) {
  for (const char* name : {"kurtosis", "./kurtosis", "/usr/local/bin/kurtosis"})
    EXPECT_TRUE(is_kurtosis_name(name)) << name;
  for (const char* name : {"", "fettle", "kurtosis/fettle", "my-kurtosis", "kurtosis.old"})
    EXPECT_FALSE(is_kurtosis_name(name)) << name;
}

TEST(FrontEnd, KurtosisHasTwoExitCodesAndThoseOfSignals) {
  EXPECT_EQ(code_of_kurtosis(0), 0);
  for (const int code : {1, 2, 3, 4, 7, 127})
    EXPECT_EQ(code_of_kurtosis(code), 1) << code;
  EXPECT_EQ(code_of_kurtosis(130), 130);
  EXPECT_EQ(code_of_kurtosis(141), 141);
}

TEST(FrontEnd, ABareGroupOfKurtosisIsItsHelp) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(with_help_of_bare_group({"engine"}), (Words{"help", "engine"}));
  EXPECT_EQ(with_help_of_bare_group({"engine", "status"}), (Words{"engine", "status"}));
  EXPECT_EQ(with_help_of_bare_group({"github"}), Words{"github"});
  EXPECT_EQ(with_help_of_bare_group({}), Words());
}

TEST(FrontEnd, APlanOfStatesIsARunThatOnlyLooks) {
  EXPECT_EQ(meant("plan site.sls"), "state --test site.sls");
  EXPECT_EQ(meant("-o json plan site.sls"), "state --test -o json site.sls");
  EXPECT_EQ(meant("plan -e site site.sls"), "state --test -e site site.sls");
}

TEST(FrontEnd, APlanOfManifestsIsADiff) {
  EXPECT_EQ(meant("plan -f web.yaml"), "diff -f web.yaml");
  EXPECT_EQ(meant("-e fleet plan --filename=web.yaml"), "diff -e fleet --filename=web.yaml");
  EXPECT_EQ(meant("plan -f -"), "diff -f -");
}

TEST(FrontEnd, APlanOfAModelOrPackageStaysOne) {
  EXPECT_EQ(meant("plan -f main.cf"), "plan -f main.cf");
  EXPECT_EQ(meant("plan -f=other.cf -e x"), "plan -f=other.cf -e x");
  EXPECT_EQ(meant("plan --file main.cf"), "plan --file main.cf");
  EXPECT_EQ(meant("plan shop"), "plan shop");
  EXPECT_EQ(meant("plan -f compose.yml -f web.yaml"), "plan -f compose.yml -f web.yaml");
}

TEST(FrontEnd, AnEnvironmentIsAnEnclaveInCommands) {
  EXPECT_EQ(meant("environment ls"), "enclave ls");
  EXPECT_EQ(meant("env inspect shop"), "enclave inspect shop");
  EXPECT_EQ(meant("-o json environment rm shop"), "-o json enclave rm shop");
  EXPECT_EQ(meant("help environment rm"), "help enclave rm");
  EXPECT_EQ(meant("service exec env env"), "service exec env env");
}

TEST(FrontEnd, AKindWithANameIsDescribedAsAWorkload) {
  EXPECT_EQ(meant("describe cloneset web"), "describe workload cloneset web");
  EXPECT_EQ(meant("-e fleet describe cloneset/web"), "describe workload -e fleet cloneset/web");
  EXPECT_EQ(meant("describe -n shop pod web-1"), "describe pod -n shop web-1");
  EXPECT_EQ(meant("describe pod/web-1"), "describe pod web-1");
  EXPECT_EQ(meant("describe test.present"), "describe test.present");
  EXPECT_EQ(meant("describe cloneset"), "describe cloneset");
}

TEST(FrontEnd, OtherCommandsStayAsTheyAre) {
  EXPECT_EQ(meant("-o json run site.sls"), "-o json run site.sls");
  EXPECT_EQ(meant(""), "");
}

}  // namespace
}  // namespace fettle
