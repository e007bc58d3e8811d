#pragma once
/// The objects that templates meet: `loop`, macros, imported templates, blocks, functions.

#include "template/jinja/renderer.h"

namespace fettle::jinja {

/// `loop`.
class Loop : public Object {
 public:
  Loop(Renderer& renderer, const Stmt& node, ScopePtr scope, Items items_, int depth)
      : items(std::move(items_)),
        renderer_(renderer),
        node_(node),
        scope_(std::move(scope)),
        depth_(depth) {}
  std::string type_name() const override { return "LoopContext"; }
  std::string text() const override;
  Result<std::optional<Value>> attribute(std::string_view name) override;
  bool is_callable() const override { return true; }
  Result<Value> call(Arguments& arguments) override;

  Items items;
  size_t at = 0;

 private:
  Renderer& renderer_;
  const Stmt& node_;
  ScopePtr scope_;
  int depth_;
  std::shared_ptr<Value> seen_ = std::make_shared<Value>(Value::undefined(""));
};

class Macro : public Object {
 public:
  Macro(Renderer& renderer, std::shared_ptr<MacroData> data, ScopePtr scope,
        const std::string* file)
      : renderer_(renderer), data_(std::move(data)), scope_(std::move(scope)), file_(file) {}
  std::string type_name() const override { return "Macro"; }
  std::string text() const override;
  Result<std::optional<Value>> attribute(std::string_view name) override;
  bool is_callable() const override { return true; }
  Result<Value> call(Arguments& arguments) override;

 private:
  Status bind(Arguments& arguments, const ScopePtr& inner);
  std::string called() const;

  Renderer& renderer_;
  std::shared_ptr<MacroData> data_;
  ScopePtr scope_;
  const std::string* file_;
};

/// The value that `import` binds.
class TemplateModule : public Object {
 public:
  TemplateModule(Engine& engine, Lookup context) : renderer(engine, std::move(context)) {}
  std::string type_name() const override { return "TemplateModule"; }
  Result<std::optional<Value>> attribute(std::string_view name) override;

  Renderer renderer;
  ScopePtr top;
  std::shared_ptr<const Tree> tree;
};

/// `super()` and `self.name()`.
class BlockReference : public Object {
 public:
  BlockReference(Renderer& renderer, std::string name, size_t level, ScopePtr scope)
      : renderer_(renderer), name_(std::move(name)), level_(level), scope_(std::move(scope)) {}
  std::string type_name() const override { return "BlockReference"; }
  Result<std::optional<Value>> attribute(std::string_view name) override;
  bool is_callable() const override { return true; }
  Result<Value> call(Arguments& arguments) override;

 private:
  Renderer& renderer_;
  std::string name_;
  size_t level_;
  std::weak_ptr<Scope> scope_;
};

class SelfReference : public Object {
 public:
  SelfReference(Renderer& renderer, ScopePtr scope)
      : renderer_(renderer), scope_(std::move(scope)) {}
  std::string type_name() const override { return "TemplateReference"; }
  Result<std::optional<Value>> attribute(std::string_view name) override;

 private:
  Renderer& renderer_;
  ScopePtr scope_;
};

class NativeFunction : public Object {
 public:
  NativeFunction(std::string name, Function function)
      : name_(std::move(name)), function_(std::move(function)) {}
  std::string type_name() const override { return "function"; }
  std::string text() const override { return "<function " + name_ + ">"; }
  bool is_callable() const override { return true; }
  Result<Value> call(Arguments& arguments) override { return function_(arguments); }

 private:
  std::string name_;
  Function function_;
};

}  // namespace fettle::jinja
