#include "base/out_of_memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include <sys/resource.h>
#include <unistd.h>

namespace fettle {
namespace {

/// A text of fixed size: here nothing can be allocated any more.
class Words {
 public:
  void add(std::string_view text) {
    const size_t size = std::min(text.size(), words_.size() - used_);
    std::copy_n(text.data(), size, words_.data() + used_);
    used_ += size;
  }
  void add(uint64_t number) {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    add({digits.data(), static_cast<size_t>(end - digits.data())});
  }
  std::string_view view() const { return {words_.data(), used_}; }

 private:
  std::array<char, 1024> words_;
  size_t used_ = 0;
};

Words asked;
bool has_envelope = false;

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written <= 0)
      return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

/// `why`: without quotes and line ends, for it becomes JSON as it is.
[[noreturn]] void end(const Words& why) {
  static std::atomic_flag has_told;
  if (!has_told.test_and_set()) {  // others may fail while this one tells it
    Words told;
    told.add("error: ");
    told.add(why.view());
    told.add("\n");
    write_all(STDERR_FILENO, told.view());
    if (has_envelope) {
      Words envelope;
      envelope.add(R"({"schema": 1, "success": false, "error": {"blame": "world", "message": ")");
      envelope.add(why.view());
      envelope.add("\"}}\n");
      write_all(STDOUT_FILENO, envelope.view());
    }
    _exit(EXIT_FAILURE);
  }
  while (true)
    ::pause();
}

/// Adds a limit of memory that somebody may have set.
void add_limit(Words& words) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    words.add(": this machine, or the container that this runs in, has no more");
    return;
  }
  constexpr uint64_t mebibyte = 1 << 20;
  words.add(": this process may have ");
  words.add(limit.rlim_cur / mebibyte);
  words.add(" MiB (`ulimit -v`)");
}

[[noreturn]] void tell_what_was_thrown() {
  if (const std::exception_ptr thrown = std::current_exception())
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      out_of_memory();
    } catch (const std::system_error& error) {  // by a thread that could not be started
      if (error.code() == std::errc::resource_unavailable_try_again) {
        Words why;
        why.add("the system has no room for another thread, during ");
        why.add(asked.view());
        add_limit(why);
        end(why);
      }
    } catch (...) {
    }
  std::abort();
}

}  // namespace

void end_when_out_of_memory(std::string_view doing, bool as_json) {
  asked = Words();
  asked.add("`");
  for (const char letter : doing.substr(0, 200))
    asked.add(letter == '"' || letter == '\\' || static_cast<unsigned char>(letter) < ' '
                  ? std::string_view("?")
                  : std::string_view(&letter, 1));
  asked.add("`");
  has_envelope = as_json;
  std::set_new_handler(out_of_memory);
  std::set_terminate(tell_what_was_thrown);
}

void out_of_memory() {
  Words why;
  why.add("out of memory during ");
  why.add(asked.view());
  add_limit(why);
  end(why);
}

}  // namespace fettle
