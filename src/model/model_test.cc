#include "model/model.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "model/compile.h"

namespace fettle::model {
namespace {

struct BuildResult {
  explicit BuildResult(const std::string& text) : compiled(compile("m.cf", text, {})) {
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
  CompileResult compiled;
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
  const BuildResult built(networks);
  EXPECT_EQ(built.model().instances_of(*built.model().entity("std::Resource")).size(), 3u);
  const Instance& network = built.one("__config__::Network");
  ASSERT_EQ(built.model().members(network, "hosts").size(), 2u);
  EXPECT_EQ(built.model().value(network, "id")->integer, 1);
  EXPECT_EQ(built.model().where(network.at), "m.cf:30:5");
  EXPECT_TRUE(built.model().members(network, "id").empty());
  EXPECT_EQ(built.model().members(built.one("__config__::Host"), "network")[0].instance, &network);
}

TEST(Model, KnowsWhoMadeWhat) {
  const BuildResult built(networks);
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
  const BuildResult built(networks);
  const Instance& network = built.one("__config__::Network");
  const Instance& host = built.one("__config__::Host");
  EXPECT_EQ(built.by(host, "colour"), &network);
  EXPECT_EQ(built.by(host, "id"), &host);
  const Instance& set = built.one("std::ResourceSet");
  for (const Datum& member : built.model().members(set, "resources"))
    EXPECT_EQ(built.model().contributor(member.by), &network);
}

TEST(Model, RemembersFurtherConstructors) {
  const BuildResult built(networks);
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
  const BuildResult built(R"(
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
    const CompileResult compiled = compile("m.cf", R"(
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

std::string excerpt_of(const std::string& text) {
  const CompileResult compiled = compile("m.cf", text, {});
  return compiled.errors.size() == 1 ? compiled.errors[0].excerpt : "not one error";
}

TEST(Explanations, AnIndexThatContradictsAnotherNamesTheInstancesOfBoth) {
  const std::string told = excerpt_of(R"(entity A:
    string name
    int id
end
implement A using std::none
index A(name)
index A(id)
A(name="one", id=1)
A(name="two", id=2)
A(name="one", id=2)
)");
  for (const char* part :
       {"the index of __config__::A with name='one' has __config__::A (instantiated at m.cf:8)",
        "the index of __config__::A with id=2 has __config__::A (instantiated at m.cf:9)"})
    EXPECT_NE(told.find(part), told.npos) << part << "\n" << told;
}

TEST(Explanations, ARelationThatWasReadTooEarlyNamesReaderAndLateValue) {
  const std::string entities = R"(entity A:
    string name
end
entity B:
    string name
end
A.b [0:] -- B
A.one [0:1] -- B
implement A using std::none
implement B using std::none
b = B(name="b")
a1 = A(name="a1")
a2 = A(name="a2")
a3 = A(name="a3")
)";
  const std::string list = excerpt_of(entities + R"(a3.b = std::key_sort(a1.b, "name")
a1.b = a2.b
a2.b += b
std::print(std::count(a3.b))
)");
  for (const char* part :
       {"`b` of __config__::A (instantiated at m.cf:14) was taken for complete, with no members, "
        "when m.cf:18 read it",
        "and m.cf:15:8 adds __config__::B (instantiated at m.cf:11) to it afterwards",
        "`relation_precedence_policy` in project.yml"})
    EXPECT_NE(list.find(part), list.npos) << part << "\n" << list;
  const std::string option = excerpt_of(entities + R"(if a1.one is defined:
    x = 1
else:
    a1.one = b
end
)");
  EXPECT_NE(option.find("`one` of __config__::A (instantiated at m.cf:12) was taken for complete"),
            option.npos)
      << option;
}

/// Beside pydantic 2.14, which the original uses.
TEST(ValidateType, KnowsWhatPydanticKnows) {
  struct Row {
    const char *type, *value;
    bool fits;
  };
  for (const auto& [type, value, fits] :
       std::vector<Row>{{"pydantic.FutureDate", "'9000-01-01'", true},
                        {"pydantic.FutureDate", "'2020-01-01'", false},
                        {"pydantic.FutureDate", "'9000-01-01T10:00:00'", false},
                        {"pydantic.PastDate", "'2020-01-01'", true},
                        {"pydantic.PastDate", "'9000-01-01'", false},
                        {"pydantic.PastDate", "0", true},
                        {"pydantic.PastDate", "3", false},
                        {"pydantic.PastDate", "'x'", false},
                        {"pydantic.FutureDatetime", "'9000-01-01T00:00:00Z'", true},
                        {"pydantic.FutureDatetime", "'9000-01-01'", true},
                        {"pydantic.FutureDatetime", "3", false},
                        {"pydantic.PastDatetime", "3", true},
                        {"pydantic.PastDatetime", "'-3'", true},
                        {"pydantic.PastDatetime", "'2020-01-01 10:00:00+02:00'", true},
                        {"pydantic.PastDatetime", "true", false},
                        {"pydantic.OnErrorOmit", "'x'", true},
                        {"pydantic.SkipValidation", "[1]", true},
                        {"pydantic.InstanceOf", "1", false},
                        {"uuid.SafeUUID", "0", true},
                        {"uuid.SafeUUID", "3", false},
                        {"pydantic.ByteSize", "'1 day'", false},
                        {"pydantic.ByteSize", "'3 kB'", true},
                        {"pydantic.ByteSize", "'3'", true},
                        {"pydantic.DirectoryPath", "''", true},
                        {"pydantic.PositiveInt", "'1e5'", false},
                        {"pydantic.NonNegativeInt", "'100'", true},
                        {"pydantic.conint", "'1e5'", false},
                        {"pydantic.condecimal", "'nan'", false},
                        {"pydantic.StrictInt", "1000000000000000000000000000000", true},
                        {"datetime.datetime", "'1e5'", false},
                        {"pydantic.NaiveDatetime", "'1e5'", false},
                        {"ipaddress.IPv4Address", "true", true},
                        {"ipaddress.IPv6Address", "1000000000000000000000000000000", true},
                        {"ipaddress.IPv6Address", "340282366920938463463374607431768211456", false},
                        {"ipaddress.IPv4Address", "1000000000000000000000000000000", false},
                        {"os.path", "'x'", false}}) {
    std::string printed;
    CompileOptions options;
    options.print = [&](std::string_view line) { printed += line; };
    const CompileResult compiled = compile(
        "m.cf", cat("std::print(std::validate_type(\"", type, "\", ", value, "))\n"), options);
    EXPECT_TRUE(compiled.errors.empty()) << type;
    EXPECT_EQ(printed, fits ? "True" : "False") << type << " " << value;
  }
  for (const char* type :
       {"pydantic.Nope", "datetime.nope", "uuid.uuid4", "ipaddress.", "pydantic.BaseModel"})
    EXPECT_NE(excerpt_of(cat("x = std::validate_type(\"", type, "\", 1)\n")), "not one error")
        << type;
}

}  // namespace
}  // namespace fettle::model
