#include "starlark/format/kept.h"

#include <algorithm>

#include "base/text.h"
#include "starlark/format/comments.h"

namespace fettle::starlark::layout {
namespace {

/// Replaces code by tokens that hold it as it stands.
class Keeper {
 public:
  Keeper(std::string_view text, Parts& parts) : text_(text), parts_(parts) {}

  void visit(Part* part) {
    if (part->is_token())
      return;
    if (part->kind == Kind::file || part->kind == Kind::suite)
      keep_switched_off(part);
    if (part->kind == Kind::if_statement || part->kind == Kind::for_statement ||
        part->kind == Kind::while_statement || part->kind == Kind::definition)
      keep_heads(part);
    const std::vector<Part*> children = part->children;
    for (Part* const child : children)
      visit(child);
  }

  /// The first remark that is still there.
  std::optional<SyntaxError> find_refused(const Part* part) const {
    if (part->is_token())
      return refused_at(*part);
    for (const Part* const child : part->children)
      if (std::optional<SyntaxError> refused = find_refused(child))
        return refused;
    return std::nullopt;
  }

 private:
  size_t begin_of(std::string_view view) const { return size_t(view.data() - text_.data()); }
  size_t end_of(Part* part) const {
    const Part* const last = last_token(part);
    const std::string_view view = last->text.empty() ? last->before : last->text;
    return begin_of(view) + view.size();
  }

  Part* kept(std::string_view before, size_t begin, size_t end) {
    std::string_view text = text_.substr(begin, end - begin);
    while (text.ends_with('\n') || text.ends_with(' '))
      text.remove_suffix(1);
    Part* const part = parts_.token(Kind::own_comment, text);
    part->before = before;
    return part;
  }

  static bool is_statement(const Part* part) {
    return part->kind > Kind::outdent && part->kind != Kind::own_comment;
  }
  static std::optional<Comment> last_remark(const Part* token) {
    std::optional<Comment> last;
    for (Comment& comment : comments_of(token->before, false))
      if (const Wish wish = wish_of(comment.text); wish == Wish::on || wish == Wish::off)
        last = std::move(comment);
    return last;
  }
  static bool has_skip(const Part* token) {
    const std::vector<Comment> comments = comments_of(token->before, false);
    return comments.size() == 1 && !comments[0].is_own && wish_of(comments[0].text) == Wish::skip;
  }

  /// From `# fmt: off` to `# fmt: on`, or to the end of the block.
  void keep_switched_off(Part* block) {
    const std::vector<Part*> old = std::move(block->children);
    std::vector<Part*>& children = block->children;
    children.clear();
    for (size_t i = 0; i < old.size(); ++i) {
      Part* const first = first_token(old[i]);
      const std::optional<Comment> remark = last_remark(first);
      if (is_statement(old[i]) && remark && wish_of(remark->text) == Wish::off) {
        while (i + 1 < old.size() && is_statement(old[i + 1]) && !switches_on(old[i + 1]))
          ++i;
        children.push_back(kept(first->before.substr(0, remark->begin),
                                begin_of(first->before) + remark->begin, end_of(old[i])));
      } else if (old[i]->kind == Kind::simple_statement && has_skip(last_token(old[i]))) {
        children.push_back(kept(first->before, begin_of(first->text), end_of(old[i])));
      } else {
        children.push_back(old[i]);
      }
    }
    number_children(block);
  }
  static bool switches_on(Part* statement) {
    const std::optional<Comment> remark = last_remark(first_token(statement));
    return remark && wish_of(remark->text) == Wish::on;
  }

  /// The line before a block, with the remark behind its colon.
  void keep_heads(Part* statement) {
    const std::vector<Part*> old = std::move(statement->children);
    std::vector<Part*>& children = statement->children;
    children.clear();
    std::vector<Part*> head;
    for (Part* const child : old) {
      if (child->kind == Kind::suite && has_skip(child->children[0])) {
        Part* const line_end = child->children[0];
        Part* const first = first_token(head.front());
        children.push_back(kept(first->before, begin_of(first->text),
                                begin_of(line_end->before) + line_end->before.size()));
        line_end->before = {};
        head.clear();
      }
      head.push_back(child);
      if (child->kind == Kind::suite || child->kind == Kind::simple_statement) {
        children.insert(children.end(), head.begin(), head.end());
        head.clear();
      }
    }
    children.insert(children.end(), head.begin(), head.end());
    number_children(statement);
  }

  std::optional<SyntaxError> refused_at(const Part& token) const {
    if (token.kind == Kind::own_comment || token.before.find('#') == token.before.npos)
      return std::nullopt;
    const bool ends_block = token.kind == Kind::end || token.kind == Kind::outdent;
    const std::vector<Comment> comments = comments_of(token.before, token.kind == Kind::end);
    for (size_t i = 0; i < comments.size(); ++i) {
      const Wish wish = wish_of(comments[i].text);
      const bool is_taken_back =
          std::any_of(comments.begin() + static_cast<std::ptrdiff_t>(i), comments.end(),
                      [](const Comment& later) { return wish_of(later.text) == Wish::on; });
      const bool is_first = begin_of(token.before) == 0;  // there is nothing that it is behind
      if ((wish == Wish::off && !ends_block && !is_taken_back) ||
          (wish == Wish::skip && !comments[i].is_own && !is_first))
        return SyntaxError{
            u32(begin_of(token.before) + comments[i].begin),
            cat("`", comments[i].text, "` cannot be obeyed here: ",
                wish == Wish::off ? "it stands before a statement, not within one"
                                  : "it stands behind a statement on lines of its own")};
    }
    return std::nullopt;
  }

  std::string_view text_;
  Parts& parts_;
};

}  // namespace

std::optional<SyntaxError> keep_unformatted(Part* file, std::string_view text, Parts& parts) {
  if (text.find("fmt:") == text.npos && text.find("yapf:") == text.npos)
    return std::nullopt;
  Keeper keeper(text, parts);
  keeper.visit(file);
  return keeper.find_refused(file);
}

}  // namespace fettle::starlark::layout
