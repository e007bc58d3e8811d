#include "drivers/engine/pause.h"

#include <array>
#include <cstdint>

#include "base/archive.h"
#include "base/text.h"
#include "drivers/engine/images.h"

namespace fettle {
namespace {

// Both programs are the same one:
//
//   block TERM, INT and CHLD
//   wait:  signal = the next of them
//          if it is not CHLD, go to other
//   reap:  bury one child that has ended; if there was one, go to reap
//          go to wait
//   other: if the wait was disturbed, go to wait
//          exit with 0
//   set:   the signals, one bit each
//
// A process with number 1 gets no signal that it does not ask for; a blocked one is kept for it.

constexpr std::array<uint8_t, 0x66> code_amd64{
    0xb8, 0x0e, 0,    0,    0,              // _start: mov eax, 14 (rt_sigprocmask)
    0x31, 0xff,                             //         xor edi, edi (block)
    0x48, 0x8d, 0x35, 0x50, 0,    0, 0,     //         lea rsi, [set]
    0x31, 0xd2,                             //         xor edx, edx
    0x41, 0xba, 0x08, 0,    0,    0,        //         mov r10d, 8 (bytes of a set)
    0x0f, 0x05,                             //         syscall
    0xb8, 0x80, 0,    0,    0,              // wait:   mov eax, 128 (rt_sigtimedwait)
    0x48, 0x8d, 0x3d, 0x3a, 0,    0, 0,     //         lea rdi, [set]
    0x31, 0xf6,                             //         xor esi, esi
    0x31, 0xd2,                             //         xor edx, edx (for ever)
    0x41, 0xba, 0x08, 0,    0,    0,        //         mov r10d, 8
    0x0f, 0x05,                             //         syscall
    0x83, 0xf8, 0x11,                       //         cmp eax, 17 (CHLD)
    0x75, 0x1c,                             //         jne other
    0xb8, 0x3d, 0,    0,    0,              // reap:   mov eax, 61 (wait4)
    0xbf, 0xff, 0xff, 0xff, 0xff,           //         mov edi, -1 (any)
    0x31, 0xf6,                             //         xor esi, esi
    0xba, 0x01, 0,    0,    0,              //         mov edx, 1 (WNOHANG)
    0x45, 0x31, 0xd2,                       //         xor r10d, r10d
    0x0f, 0x05,                             //         syscall
    0x85, 0xc0,                             //         test eax, eax
    0x7f, 0xe6,                             //         jg reap
    0xeb, 0xc7,                             //         jmp wait
    0x85, 0xc0,                             // other:  test eax, eax
    0x78, 0xc3,                             //         js wait
    0xb8, 0xe7, 0,    0,    0,              //         mov eax, 231 (exit_group)
    0x31, 0xff,                             //         xor edi, edi
    0x0f, 0x05,                             //         syscall
    0x02, 0x40, 0x01, 0,    0,    0, 0, 0,  // set: INT (2), TERM (15), CHLD (17)
};

constexpr std::array<uint32_t, 29> code_arm64{
    0xd28010e8,  // _start: mov x8, 135 (rt_sigprocmask)
    0xd2800000,  //         mov x0, 0 (block)
    0x10000321,  //         adr x1, set
    0xd2800002,  //         mov x2, 0
    0xd2800103,  //         mov x3, 8 (bytes of a set)
    0xd4000001,  //         svc 0
    0xd2801128,  // wait:   mov x8, 137 (rt_sigtimedwait)
    0x10000280,  //         adr x0, set
    0xd2800001,  //         mov x1, 0
    0xd2800002,  //         mov x2, 0 (for ever)
    0xd2800103,  //         mov x3, 8
    0xd4000001,  //         svc 0
    0x7100441f,  //         cmp w0, 17 (CHLD)
    0x54000141,  //         b.ne other
    0xd2802088,  // reap:   mov x8, 260 (wait4)
    0x92800000,  //         mov x0, -1 (any)
    0xd2800001,  //         mov x1, 0
    0xd2800022,  //         mov x2, 1 (WNOHANG)
    0xd2800003,  //         mov x3, 0
    0xd4000001,  //         svc 0
    0x7100001f,  //         cmp w0, 0
    0x54ffff2c,  //         b.gt reap
    0x17fffff0,  //         b wait
    0x37fffde0,  // other:  tbnz w0, 31, wait
    0xd2800bc8,  //         mov x8, 94 (exit_group)
    0xd2800000,  //         mov x0, 0
    0xd4000001,  //         svc 0
    0x00014002,  // set: INT (2), TERM (15), CHLD (17)
    0x00000000,
};

constexpr uint64_t load_address = 0x400000;
constexpr uint64_t head_size = 64, segment_size = 56;

/// Numbers in the order of their bytes that both processors have.
class Bytes {
 public:
  void add(uint64_t number, size_t size) {
    for (size_t i = 0; i < size; ++i)
      text_.push_back(static_cast<char>(number >> (8 * i) & 0xff));
  }
  void add(std::string_view bytes) { text_ += bytes; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// One segment that is the whole file, and the code behind the headers.
std::string elf(uint16_t machine, std::string_view code) {
  const uint64_t entry = load_address + head_size + segment_size;
  const uint64_t size = head_size + segment_size + code.size();
  Bytes file;
  file.add(
      std::string_view("\x7f"
                       "ELF\2\1\1\0\0\0\0\0\0\0\0\0",
                       16));  // 64 bits, little end first, version 1
  file.add(2, 2);             // a program at a fixed address
  file.add(machine, 2);
  file.add(1, 4);  // version
  file.add(entry, 8);
  file.add(head_size, 8);  // where the segments stand
  file.add(0, 8);          // no sections
  file.add(0, 4);          // flags
  file.add(head_size, 2);
  file.add(segment_size, 2);
  file.add(1, 2);  // one segment
  file.add(0, 6);  // no sections: size, count, names
  file.add(1, 4);  // to be loaded
  file.add(5, 4);  // readable, executable
  file.add(0, 8);  // from the file's beginning
  file.add(load_address, 8);
  file.add(load_address, 8);
  file.add(size, 8);
  file.add(size, 8);
  file.add(0x10000, 8);  // the largest page of either
  file.add(code);
  return file.take();
}

Result<std::string> architecture_of(Engine& engine, const std::stop_token& stop) {
  const EngineAnswer answer = TRY(engine.ask({.path = "/version"}, stop));
  if (!answer.ok())
    return engine_error(answer);
  return std::string(answer.body.text_at("Arch"));
}

}  // namespace

Result<std::string> pause_program(std::string_view architecture) {
  constexpr uint16_t machine_amd64 = 62, machine_arm64 = 183;
  if (architecture == "amd64")
    return elf(machine_amd64,
               {reinterpret_cast<const char*>(code_amd64.data()), code_amd64.size()});
  if (architecture == "arm64") {
    Bytes code;
    for (const uint32_t instruction : code_arm64)
      code.add(instruction, 4);
    return elf(machine_arm64, code.take());
  }
  return world_error(cat("pods run on engines for amd64 and arm64, not for `", architecture, "`"));
}

Status ensure_pause_image(Engine& engine, const std::stop_token& stop) {
  const std::string reference(pause_image);
  if (!TRY(image_id(engine, reference, stop)).empty())
    return {};
  const std::string program = TRY(pause_program(TRY(architecture_of(engine, stop))));
  std::string tar;
  ArchiveWriter writer([&](std::string_view bytes) -> Status {
    tar += bytes;
    return {};
  });
  TRY(writer.add_file("pause", program, 0755));
  TRY(writer.finish());
  const std::vector<std::string> changes(1, R"(ENTRYPOINT ["/pause"])");
  return import_image(engine, reference, changes, source_of(std::move(tar)), stop);
}

}  // namespace fettle
