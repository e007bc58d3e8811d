#include "states/gather.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

#include "base/text.h"

namespace fettle::states {
namespace {

constexpr size_t most_files = 10'000;

class Gatherer {
 public:
  explicit Gatherer(const GatherContext& with) : with_(with) {}

  GatheredFiles run(std::span<const std::string> words) {
    for (const std::string& word : words)
      add_word(word);
    return read_all();
  }
  GatheredFiles run(SourceFile file) {
    add(std::move(file), 0);
    return read_all();
  }

 private:
  struct Waiter {
    SourceFile file;
    size_t level;
  };

  GatheredFiles read_all() {
    while (!waiting_.empty()) {
      const Waiter next = std::move(waiting_.front());
      waiting_.pop_front();
      read(next.file, next.level);
    }
    return std::move(made_);
  }

  static std::string not_found(std::string_view ref) {
    return cat("Could not find SLS ref '", ref, "' in sources");
  }

  void add_word(const std::string& word) {
    Result<std::optional<SourceFile>> file = with_.sources.root(word);
    if (file && *file)
      add(std::move(**file), 0);
    else
      with_.report.error(file ? user_error(not_found(word)) : file.error());
  }

  void add(SourceFile file, size_t level) {
    if (!seen_.insert(file.name).second)
      return;
    if (seen_.size() > most_files) {
      if (seen_.size() == most_files + 1)
        with_.report.error(user_error(cat("more than ", most_files, " files are included")));
      return;
    }
    waiting_.push_back({std::move(file), level});
  }

  void read(const SourceFile& file, size_t level) {
    const uint32_t number = with_.texts.add(file.name, file.text);
    Result<std::vector<Block>> blocks = blocks_of(file.text, with_.pipe);
    if (!blocks) {
      with_.report.error({number, static_cast<uint32_t>(blocks.error().where.line), 1},
                         cat("Error while parsing '", file.ref, "': ", blocks.error().message));
      return;
    }
    for (const Block& block : *blocks) {
      if (waits(block)) {
        DelayedBlock delayed{file.ref, block.text, {}};
        for (const Block::AwaitedState& awaited : block.awaited)
          delayed.awaited.push_back({awaited.id, {number, awaited.line, 1}});
        made_.delayed.push_back(std::move(delayed));
        continue;
      }
      Result<Document> document = with_.rendering.document(file, block);
      if (document)
        add(std::move(*document), file, level);
      else
        with_.report.error(std::move(document).error());
    }
  }

  bool waits(const Block& block) const {
    for (const Block::AwaitedState& awaited : block.awaited)
      if (with_.outcomes == nullptr || !with_.outcomes->has_run(awaited.id))
        return true;
    return false;
  }

  void add(Document document, const SourceFile& file, size_t level) {
    const TreeNode& root = document.tree.root();
    if (root.is_null())
      return;
    if (!root.is_dict()) {
      with_.report.error(
          document.position(root),
          cat("SLS ", file.ref, " is not formed as a dict but as a ", python_type(root)));
      return;
    }
    if (const TreeNode* includes = root.find("include"))
      include(*includes, document, file, level);
    made_.documents.push_back(std::move(document));
    made_.levels.push_back(level);
  }

  void include(const TreeNode& includes, const Document& document, const SourceFile& file,
               size_t level) {
    if (!includes.is_list()) {
      with_.report.error(
          document.position(includes),
          cat("Include Declaration in SLS ", file.ref, " is not formed as a list but as a <class '",
              python_type(includes), "'>"));
      return;
    }
    for (const TreeNode* entry : includes.items()) {
      if (!entry->is_text()) {
        with_.report.error(document.position(*entry), cat("an include in SLS ", file.ref,
                                                          " is not formed as a string but as "
                                                          "a <class '",
                                                          python_type(*entry), "'>"));
        continue;
      }
      const Name ref = entry->text();
      Result<std::optional<SourceFile>> found = with_.sources.included(ref, file);
      if (!found)
        with_.report.error(document.position(*entry), found.error().message);
      else if (!*found)
        with_.report.error(document.position(*entry), not_found(ref));
      else
        add(std::move(**found), level + 1);
    }
  }

  const GatherContext& with_;
  GatheredFiles made_;
  std::deque<Waiter> waiting_;
  std::set<std::string> seen_;
};

}  // namespace

GatheredFiles gather(std::span<const std::string> words, const GatherContext& gathering) {
  return Gatherer(gathering).run(words);
}

GatheredFiles gather(SourceFile file, const GatherContext& gathering) {
  return Gatherer(gathering).run(std::move(file));
}

/// Makes a layer for each level of includes, the outermost last. Within a level, the order is that
/// of the files.
Params params_of(const GatheredFiles& gathered) {
  std::vector<size_t> order(gathered.documents.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return gathered.levels[a] > gathered.levels[b]; });
  std::vector<const TreeNode*> layers;
  layers.reserve(order.size());
  for (const size_t i : order)
    layers.push_back(&gathered.documents[i].tree.root());
  return Params::of(layers);
}

std::string_view python_type(const TreeNode& node) {
  if (node.is_list())
    return "list";
  if (node.is_dict())
    return "dict";
  switch (node.scalar().type()) {
    case Value::Type::null:
      return "NoneType";
    case Value::Type::boolean:
      return "bool";
    case Value::Type::integer:
      return "int";
    case Value::Type::real:
      return "float";
    default:
      return "str";
  }
}

}  // namespace fettle::states
