#include "model/std/template_values.h"

#include "base/text.h"
#include "model/program/text_form.h"
#include "model/values/convert.h"
#include "model/values/numbers.h"

namespace fettle::model {
namespace {

/// An instance of the model in a template. An attribute is read when the template asks for it.
class InstanceObject : public jinja::Object {
 public:
  InstanceObject(PluginCall& call, Instance* instance) : call_(call), instance_(instance) {}
  std::string type_name() const override { return instance_->entity->full_name; }
  std::string text() const override {
    return text_of(call_.context.program(), Datum::of(instance_));
  }
  std::string key() const override { return std::to_string(instance_->number); }
  bool equals(const Object& other) const override {
    const auto* const instance = dynamic_cast<const InstanceObject*>(&other);
    return instance != nullptr && instance->instance_ == instance_;
  }
  Result<std::optional<jinja::Value>> attribute(std::string_view name) override {
    const uint32_t slot = instance_->entity->slot(call_.context.program().symbols.intern(name));
    // As in Inmanta, an attribute that does not exist prints nothing among the caller's variables.
    if (slot == no_slot && !call_.named_rest.empty())
      return std::optional<jinja::Value>();
    const Member found = slot == no_slot ? Member() : call_.context.member(instance_, slot);
    switch (found.state) {
      case Member::State::there:
        return std::optional(to_jinja(call_, found.value, name));
      case Member::State::waits:
        return user_error("the attribute is not set yet");
      case Member::State::unset:
        break;
    }
    return std::optional(
        jinja::Value::undefined(cat("variable ", name, " not set on ", text()), true));
  }
  Instance* instance() const { return instance_; }

 private:
  PluginCall& call_;
  Instance* instance_;
};

/// A value that is not known when the model is compiled. Nothing of it may get into the result of a
/// template, not even its type or its truth, so every look at it is noted.
class UnreadableObject : public jinja::Object {
 public:
  UnreadableObject(PluginCall& call, const Datum& datum, std::string_view name)
      : call_(call), datum_(datum), name_(name) {}
  std::string type_name() const override { return note(), std::string("Unknown"); }
  std::string text() const override { return note(), std::string(); }
  bool is_true() const override { return note(), false; }
  Status readable() override {
    note();
    return user_error("the value is not known");
  }
  const Datum& datum() const { return datum_; }

 private:
  void note() const {
    if (datum_.tag == Tag::unknown)
      call_.met_unknown = true;
    else if (call_.exception.empty())
      call_.exception = cat("Encountered reference in Jinja template for variable ", name_, " (= `",
                            quoted(call_.context.program(), datum_), "`)");
  }

  PluginCall& call_;
  Datum datum_;
  std::string name_;
};

/// Lists and dicts of the model are written in its form, with `null`. A null that a template reads
/// is Python's, `None`.
struct JinjaMaker {
  using Product = jinja::Value;
  PluginCall& call;
  std::string_view name;

  Product unset() const { return Product::undefined(cat("'", name, "' is undefined")); }
  Product null() const { return {}; }
  Product boolean(bool value) const { return value; }
  Product integer(int64_t value) const { return value; }
  Product large(std::string_view digits) const { return jinja::whole_value(std::string(digits)); }
  Product real(double value) const { return value; }
  Product text(std::string_view text) const { return text; }
  Product unknown() const { return reference(Datum::unknown()); }
  Product reference(const Datum& datum) const {
    return Product(jinja::ObjectPtr(std::make_shared<UnreadableObject>(call, datum, name)));
  }
  Product instance(Instance* instance) const {
    return Product(jinja::ObjectPtr(std::make_shared<InstanceObject>(call, instance)));
  }
  Product list(const List& list) const {
    jinja::Items items;
    for (const Datum& item : list.items)
      items.push_back(to_jinja(call, item, name));
    Product made = Product::list(std::move(items));
    made.list().writes_null = true;
    return made;
  }
  Product dict(const Dict& dict) const {
    Product made = Product::dict();
    made.dict_data().writes_null = true;
    for (const DictEntry& entry : dict.entries)
      made.dict_data().set(Product(entry.key->view), to_jinja(call, entry.value, name));
    return made;
  }
};

}  // namespace

jinja::Value to_jinja(PluginCall& call, const Datum& datum, std::string_view name) {
  return Budget::current().spend(4) ? convert(datum, JinjaMaker{call, name}) : jinja::Value();
}

Result<Datum> from_jinja(PluginCall& call, const jinja::Value& value) {
  if (value.is_none())
    return Datum::null();
  if (value.is_bool())
    return Datum::of(value.boolean());
  if (const std::optional<std::string> digits = jinja::digits_of(value))
    return whole_of(call.context.program().arena, *digits);
  if (value.is_real())
    return Datum::of(value.real());
  if (value.is_text())
    return call.context.make_text(value.text());
  if (value.is_undefined())
    return jinja::undefined_error(value);
  if (value.is_list()) {
    std::vector<Datum> items;
    for (const jinja::Value& item : value.list().items)
      items.push_back(TRY(from_jinja(call, item)));
    return call.context.make_list(items);
  }
  if (value.is_dict()) {
    std::vector<DictEntry> entries;
    for (const auto& [key, item] : value.dict_data().entries)
      entries.push_back(
          {call.context.make_text(jinja::text_of(key)).text, TRY(from_jinja(call, item))});
    return call.context.make_dict(entries);
  }
  if (const auto* instance = dynamic_cast<const InstanceObject*>(value.object().get()))
    return Datum::of(instance->instance());
  if (const auto* unreadable = dynamic_cast<const UnreadableObject*>(value.object().get()))
    return unreadable->datum();
  return user_error(cat("a plugin cannot take a ", jinja::type_name(value)));
}

}  // namespace fettle::model
