#include "workplace/shown_key.h"

#include <gtest/gtest.h>

namespace fettle {
namespace {

TEST(ShownKey, NamesTheNodeLast) {
  EXPECT_EQ(shown_key({"e", "service", "web"}), "service/web");
  EXPECT_EQ(shown_key({"e", "pod", "n1|default/web-1"}), "pod/default/web-1 on n1");
  EXPECT_EQ(shown_key({"e", "pod", "|default/web-1"}), "pod/default/web-1");
  EXPECT_EQ(shown_key({"e", "image", "n1|nginx:1"}), "image/nginx:1 on n1");
  EXPECT_EQ(shown_key({"e", "exec", "a|b"}), "exec/a|b");
  EXPECT_EQ(shown_key({"e", "wait", "web#ready"}), "service/web (ready condition)");
  EXPECT_EQ(shown_key({"e", "wait", "web#0123456789ab"}), "wait/web#0123456789ab");
  EXPECT_EQ(shown_key({"e", "service", "web#ready"}), "service/web#ready");
}

TEST(ShownKey, NamesAStateAsRequisitesDo) {
  EXPECT_EQ(shown_key({"e", "state", "cloud.vm_|-a_|-a"}), "cloud.vm:a");
  EXPECT_EQ(shown_key({"e", "state", "cloud.vm_|-a_|-left"}), "cloud.vm:a[left]");
  EXPECT_EQ(shown_key({"e", "state", "file_|-a_|-a_|-check"}), "file:a (check)");
  EXPECT_EQ(shown_key({"e", "exec", "a_|-b_|-c"}), "exec/a_|-b_|-c");
  Record record;
  record.outputs = Value::dict({{"path", "/etc/motd"}});
  EXPECT_EQ(shown_thing({"e", "file", "file_|-a_|-a"}, record), "file:a (/etc/motd)");
  EXPECT_EQ(shown_thing({"e", "file", "file_|-a_|-/etc/motd"}, record), "file:a[/etc/motd]");
  EXPECT_EQ(shown_thing({"e", "service", "a"}, {}), "service/a");
}

TEST(ShownKey, IsMeantByItsNameWithAndWithoutItsNamespace) {
  const Key pod{"e", "pod", "n1|default/web-1"};
  for (const char* words : {"web-1", "default/web-1", "pod/web-1", "pod/default/web-1"})
    EXPECT_TRUE(names_on_node(pod, words)) << words;
  for (const char* words : {"web", "default", "shop/web-1", "claim/web-1", "", "pod/"})
    EXPECT_FALSE(names_on_node(pod, words)) << words;
  EXPECT_FALSE(names_on_node({"e", "service", "web-1"}, "web-1"));
}

}  // namespace
}  // namespace fettle
