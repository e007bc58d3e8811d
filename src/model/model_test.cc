#include "model/model.h"

#include <gtest/gtest.h>

#include "model/compile.h"

namespace fettle::model {
namespace {

struct Built {
  explicit Built(const std::string& text) : compiled(compile("m.cf", text, {})) {
    for (const Error& error : compiled.errors)
      ADD_FAILURE() << to_string(error);
  }
  const Model& model() const { return *compiled.model; }
  const Instance& one(std::string_view entity, size_t i = 0) const {
    return *model().instances_of(*model().entity(entity)).at(i);
  }
  const Instance* by(const Instance& instance, std::string_view attribute) const {
    for (uint32_t slot = 0; slot < instance.entity->slots.size(); ++slot)
      if (model().program.symbols.name(instance.entity->slots[slot]->name) == attribute)
        return model().contributor(instance.cells[slot].value.by);
    ADD_FAILURE() << "no attribute " << attribute;
    return nullptr;
  }
  Compiled compiled;
};

constexpr const char* networks = R"(
entity Network:
    int id
end
entity Host extends std::Resource:
    int id
    string colour
end
Network.hosts [0:] -- Host.network [1]
index Network(id)
index Host(network, id)
entity Shared:
    string name
    int level = 1
end
index Shared(name)
implementation fill for Network:
    set = std::ResourceSet(name="network-{{ self.id }}")
    for host in self.hosts:
        set.resources += host
        host.colour = "red"
    end
end
implementation share for Host:
    Shared(name="all")
end
implement Network using fill
implement Host using share
implement Shared using std::none
n = Network(id=1)
Host(network=n, id=1)
n.hosts += Host(id=2)
Network(id=2, hosts=[Host(id=3)])
)";

TEST(Model, KnowsInstancesWithTheirSupertypesAndMembers) {
  const Built built(networks);
  EXPECT_EQ(built.model().instances_of(*built.model().entity("std::Resource")).size(), 3u);
  const Instance& network = built.one("__config__::Network");
  ASSERT_EQ(built.model().members(network, "hosts").size(), 2u);
  EXPECT_EQ(built.model().value(network, "id")->integer, 1);
  EXPECT_EQ(built.model().where(network.at), "m.cf:30:5");
  EXPECT_TRUE(built.model().members(network, "id").empty());
  EXPECT_EQ(built.model().members(built.one("__config__::Host"), "network")[0].instance, &network);
}

TEST(Model, KnowsWhoMadeWhat) {
  const Built built(networks);
  const Instance& network = built.one("__config__::Network");
  const Instance& set = built.one("std::ResourceSet");
  const Instance& other = built.one("__config__::Network", 1);
  EXPECT_EQ(built.model().maker(network), nullptr);
  EXPECT_EQ(built.model().maker(set), &network);
  EXPECT_EQ(built.model().maker(built.one("__config__::Host")), nullptr);
  const Instance& nested = *built.model().members(other, "hosts")[0].instance;
  EXPECT_EQ(built.model().maker(nested), &other);
}

TEST(Model, KnowsWhoContributedValuesAndMembers) {
  const Built built(networks);
  const Instance& network = built.one("__config__::Network");
  const Instance& host = built.one("__config__::Host");
  EXPECT_EQ(built.by(host, "colour"), &network);
  EXPECT_EQ(built.by(host, "id"), &host);
  const Instance& set = built.one("std::ResourceSet");
  for (const Datum& member : built.model().members(set, "resources"))
    EXPECT_EQ(built.model().contributor(member.by), &network);
}

TEST(Model, RemembersFurtherConstructors) {
  const Built built(networks);
  const Instance& shared = built.one("__config__::Shared");
  const Instance* first = built.model().maker(shared);
  ASSERT_NE(first, nullptr);
  ASSERT_EQ(built.model().constructions().size(), 2u);
  for (const Construction& again : built.model().constructions()) {
    EXPECT_EQ(again.instance, &shared);
    const Instance* maker = built.model().contributor(again.by);
    ASSERT_NE(maker, nullptr);
    EXPECT_EQ(maker->entity->full_name, "__config__::Host");
    EXPECT_NE(maker, first);
  }
}

TEST(Model, RemembersEqualValuesOfOthers) {
  const Built built(R"(
entity A:
end
A.target [1] -- B
entity B:
    int n
end
A.bs [0:] -- B
implementation say for A:
    self.target.n = 3
    shelf.bs += self.target
end
implement A using say
implement B using std::none
shelf = A(target=b)
b = B()
A(target=b)
)");
  const Instance& b = built.one("__config__::B");
  const Instance& shelf = built.one("__config__::A");
  const Instance& other = built.one("__config__::A", 1);
  ASSERT_EQ(built.model().repetitions().size(), 2u);
  bool has_value = false;
  for (const Repetition& again : built.model().repetitions()) {
    EXPECT_TRUE(again.owner == &b || again.owner == &shelf);
    has_value |= again.owner == &b && again.value.integer == 3;
    const Instance* by = built.model().contributor(again.by);
    EXPECT_TRUE(by == &other || by == &shelf);
  }
  EXPECT_TRUE(has_value);
}

TEST(Model, Scenario19TheLimitOfIterationsIsThatOfTheEnvironment) {
  const std::string text = R"(
entity A:
end
A.l [0:] -- A
implement A using std::none
for i in std::sequence(30):
    a = A()
    std::count(a.l)
end
)";
  EXPECT_EQ(trace_of(compile("m.cf", text, {}).errors), "");
  ASSERT_EQ(setenv("INMANTA_MAX_ITERATIONS", "20", 1), 0);
  const std::string limited = trace_of(compile("m.cf", text, {}).errors);
  ASSERT_EQ(unsetenv("INMANTA_MAX_ITERATIONS"), 0);
  EXPECT_EQ(limited, "Could not complete model, max_iterations 20 reached.\n");
}

/// A model whose relations fill each other in several rounds, and what it prints.
TEST(Model, Scenario20EveryRunGivesTheSame) {
  const auto printed = [] {
    std::string lines;
    CompileOptions options;
    options.print = [&](std::string_view line) { lines += std::string(line) + "\n"; };
    const Compiled compiled = compile("m.cf", R"(
entity A:
    int n
end
A.all [0:] -- A
A.odd [0:] -- A
A.seen [0:] -- A.seen_by [0:]
implementation i for A:
    for x in root.all:
        if x.n % 2 == 1:
            root.odd += x
        end
        if std::count(x.seen_by) < 0:
            root.all += A(n=100 + x.n)
        end
        self.seen += x.requires
    end
    std::print("{{ n }}: {{ seen }}")
end
implement A using i
root = A(n=0)
for n in std::sequence(12, start=1):
    root.all += A(n=n, requires=[x for x in root.odd])
end
std::print([x.n for x in root.all])
std::print([x.n for x in root.odd])
)",
                                      options);
    return lines + trace_of(compiled.errors);
  };
  const std::string first = printed();
  EXPECT_NE(first.find("[1, 3, 5, 7, 9, 11]"), first.npos) << first;
  for (int run = 0; run < 20; ++run)
    ASSERT_EQ(printed(), first);
}

}  // namespace
}  // namespace fettle::model
