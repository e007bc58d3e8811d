#include "base/words.h"

#include "base/text.h"

namespace fettle {
namespace {

class Splitter {
 public:
  explicit Splitter(std::string_view command) : command_(command) {}

  Result<std::vector<std::string>> split() {
    while (at_ < command_.size()) {
      const char c = command_[at_++];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        end_word();
      else if (c == '\'')
        TRY(single_quoted());
      else if (c == '"')
        TRY(double_quoted());
      else if (c == '\\')
        add(TRY(next("an escaped character")));
      else
        add(c);
    }
    end_word();
    if (words_.empty() || words_[0].empty())
      return world_error("the command is empty");
    return std::move(words_);
  }

 private:
  Result<char> next(std::string_view what) {
    if (at_ == command_.size())
      return world_error(cat("the command `", command_, "` ends inside ", what));
    return command_[at_++];
  }
  void add(char c) {
    word_ += c;
    open_ = true;
  }
  void end_word() {
    if (open_)
      words_.push_back(std::move(word_));
    word_.clear();
    open_ = false;
  }
  Status single_quoted() {
    open_ = true;
    for (char c = TRY(next("quotes")); c != '\''; c = TRY(next("quotes")))
      word_ += c;
    return {};
  }
  Status double_quoted() {
    open_ = true;
    for (char c = TRY(next("quotes")); c != '"'; c = TRY(next("quotes"))) {
      if (c == '\\') {
        const char escaped = TRY(next("quotes"));
        if (escaped != '"' && escaped != '\\')
          word_ += c;
        word_ += escaped;
      } else {
        word_ += c;
      }
    }
    return {};
  }

  std::string_view command_;
  size_t at_ = 0;
  std::vector<std::string> words_;
  std::string word_;
  bool open_ = false;
};

}  // namespace

Result<std::vector<std::string>> split_command(std::string_view command) {
  return Splitter(command).split();
}

}  // namespace fettle
