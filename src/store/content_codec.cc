#include "store/content_codec.h"

#include "value/codec.h"

namespace fettle {
namespace {

constexpr uint64_t content_format = 1;

void put(Writer& to, const Item& item) {
  to.text(item.id);
  to.value(item.attributes);
  to.number(item.needs.size());
  for (const Name& need : item.needs)
    to.text(need);
  to.text(item.origin);
  to.number(uint64_t{item.is_shared} + 2 * uint64_t{item.is_undefined});
}

Item read_item(Reader& from) {
  Item item;
  item.id = Name(from.text());
  item.attributes = from.value();
  for (uint64_t left = from.number(); left > 0 && !from.broken(); --left)
    item.needs.emplace_back(from.text());
  item.origin = Name(from.text());
  const uint64_t flags = from.number();
  item.is_shared = (flags & 1) != 0;
  item.is_undefined = (flags & 2) != 0;
  return item;
}

void put(Writer& to, const Claim& claim) {
  to.text(claim.key);
  to.digest(claim.value);
  to.text(claim.text);
  to.text(claim.origin);
  to.number(claim.limit * 2 + (claim.rule == Claim::Rule::bounded ? 1 : 0));
}

Claim read_claim(Reader& from) {
  Claim claim;
  claim.key = Name(from.text());
  claim.value = from.digest();
  claim.text = Name(from.text());
  claim.origin = Name(from.text());
  const uint64_t limit = from.number();
  claim.rule = (limit & 1) != 0 ? Claim::Rule::bounded : Claim::Rule::same;
  claim.limit = limit / 2;
  return claim;
}

void put(Writer& to, const Unknown& unknown) {
  to.text(unknown.resource);
  to.text(unknown.parameter);
  to.text(unknown.source);
  to.number(unknown.is_resolved ? 1 : 0);
}

Unknown read_unknown(Reader& from) {
  Name resource(from.text()), parameter(from.text()), source(from.text());
  return {resource, parameter, source, from.number() != 0};
}

template <typename T>
void put_all(Writer& to, const std::vector<T>& all) {
  to.number(all.size());
  for (const T& one : all)
    put(to, one);
}

template <typename T>
std::vector<T> read_all(Reader& from, T (*read)(Reader&)) {
  std::vector<T> all;
  for (uint64_t left = from.number(); left > 0 && !from.broken(); --left)
    all.push_back(read(from));
  return all;
}

}  // namespace

std::string encode(const Content& content, const Seal* seal) {
  Writer writer({.seal = seal});
  writer.number(content_format);
  put_all(writer, content.items);
  put_all(writer, content.claims);
  put_all(writer, content.unknowns);
  writer.value(content.findings);
  return writer.take();
}

Result<ContentPointer> decode_content(std::string_view bytes, Digest digest, const Seal* seal,
                                      SealedParts* parts) {
  Reader reader(bytes, seal, parts);
  auto content = std::make_shared<Content>();
  const bool is_known = reader.number() == content_format;
  content->items = read_all(reader, read_item);
  content->claims = read_all(reader, read_claim);
  content->unknowns = read_all(reader, read_unknown);
  content->findings = reader.value();
  content->digest = digest;
  if (!is_known || reader.broken() || !reader.at_end())
    return Error(Blame::bug, "a content of the store is damaged");
  return ContentPointer(std::move(content));
}

}  // namespace fettle
