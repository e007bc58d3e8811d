#include "remote/key_set.h"

#include <algorithm>

#include "base/base64.h"
#include "base/text.h"
#include "value/json.h"

namespace fettle {
namespace {

constexpr size_t most_keys = 100;

bool is_to_verify(const Value& key) {
  if (key.text_at("use", "sig") != "sig")
    return false;
  const Value* const uses = key.find("key_ops");
  return uses == nullptr || std::ranges::any_of(items_of(*uses), [](const Value& one) {
           return one.is_text() && one.text().view() == "verify";
         });
}

/// None: it is of another kind, or broken.
std::optional<PublicKey> key_in(const Value& value) {
  const auto number = [&](std::string_view name) {
    return base64url_decode(value.text_at(name)).value_or("");
  };
  const std::string_view type = value.text_at("kty");
  if (type != "RSA" && type != "EC")
    return std::nullopt;
  Result<PublicKey> key = type == "RSA"
                              ? PublicKey::rsa(number("n"), number("e"))
                              : PublicKey::on_curve(value.text_at("crv"), number("x"), number("y"));
  return key ? std::optional(*std::move(key)) : std::nullopt;
}

}  // namespace

bool KeySet::has(std::string_view name) const {
  return std::ranges::find(keys, name, &SigningKey::name) != keys.end();
}

std::optional<std::string> KeySet::fault_of(const Jwt& jwt) const {
  if (!has(jwt.key))
    return "`kid` is none of the issuer's keys";
  bool fits = false;
  for (const SigningKey& key : keys) {
    if (key.name != jwt.key || !key.key.is_for(jwt.algorithm) ||
        (!key.algorithm.empty() && key.algorithm != jwt.algorithm))
      continue;
    fits = true;
    if (key.key.has_signed(jwt.signed_part, jwt.signature, jwt.algorithm))
      return std::nullopt;
  }
  return fits ? "its signature is wrong" : "`alg` is not that of the key";
}

Result<KeySet> read_key_set(std::string_view json) {
  if (json.size() > largest_key_set)
    return user_error(cat("it has more than ", largest_key_set >> 10, " kB"));
  const Result<Value> value = read_json(json);
  if (!value)
    return user_error(cat("it is no JSON: ", value.error().message));
  if (!value->at("keys").is_list())
    return user_error("it has no list `keys`");
  const auto items = value->at("keys").items();
  if (items.size() > most_keys)
    return user_error(cat("it has more than ", most_keys, " keys"));
  KeySet set;
  for (const Value& item : items) {
    const std::string name(item.text_at("kid"));
    if (name.empty() || !is_to_verify(item))
      continue;
    if (std::optional<PublicKey> key = key_in(item))
      set.keys.push_back({name, std::string(item.text_at("alg")), *std::move(key)});
  }
  if (set.keys.empty())
    return user_error(
        "it has no key that signs: expected one of RSA, of at least 2048 bits, or of the curves "
        "P-256, P-384 and P-521, with a `kid`");
  return set;
}

}  // namespace fettle
