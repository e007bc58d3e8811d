#pragma once
/// The stream between a client and a server of commands, after the upgrade of its HTTP request:
/// frames in both directions, each a letter, the length of its payload in four bytes (the highest
/// first), and the payload.
///
/// A client opens with one frame, whose letter says what it wants, and may then send what the
/// command reads. A server answers with output, as it comes, and ends with `end`, `document` or
/// `error`. After the first two the client may open again; an error ends the connection.
///
/// An agent opens with `agent`, and is answered by the same. From then on the connection has streams
/// (`streams.h`), until it ends.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fettle {

enum class FrameType : char {
  // From the client: the first one is one of these five.
  command = 'c',  ///< JSON, `CommandRequest`
  runs = 'l',     ///< empty; answered by `document`
  attach = 'a',   ///< JSON: `run` (0: the last one)
  cancel = 'k',   ///< JSON: `run`
  agent = 'g',    ///< JSON: `name`, `engine`, `acts`; from the server, empty: it is let in
  // From the client, later.
  content = 'd',  ///< bytes of the file that was asked for
  input = 'i',  ///< bytes of standard input; from the server, JSON: `taken`, how many it has taken
  input_end = 'I',    ///< standard input is at its end
  output_end = 'o',   ///< empty: nobody reads standard output any more
  window_size = 'w',  ///< JSON: `rows`, `columns`
  stop = 's',         ///< empty: Ctrl-C; `end`: SIGTERM

  // From the server.
  need = 'n',        ///< JSON: the paths of files whose contents are wanted, in order
  run = 'r',         ///< JSON: `run`, the number of what has begun and goes on without its client
  output = '1',      ///< bytes of standard output
  errors = '2',      ///< bytes of standard error
  raw = 'm',         ///< `1`: each key counts from now on; `0`: no longer
  file = 'f',        ///< JSON: an entry that the command has written, `FileEntry`
  file_bytes = 'b',  ///< bytes of the last entry
  document = 'j',    ///< JSON
  end = 'x',         ///< JSON: `code`
  error = 'e',       ///< JSON: `message`, `blame` (`user` or `world`)

  // Between an agent and its server.
  again = 'G',  ///< from the server, before it lets it in: end TLS, shake hands again in the same
                ///< connection, and say these bytes, without a frame
  // Those of a stream begin with its number, in eight bytes.
  alive = 'h',         ///< empty: says that its side is there; from a server, also during a command
  stream_open = 'O',   ///< from the server; then a letter, `StreamGoal`
  stream_bytes = 'B',  ///< bytes
  stream_taken = 'T',  ///< in four bytes, how many more of them were taken
  stream_end = 'E',    ///< this side says no more
  stream_break = 'R',  ///< this side neither says nor hears any more; why, if it failed

  // Within a stream of an agent that acts (`drivers/agent/act_line.h`).
  act = 'A',
};

/// What `stop` says if it asks for the proper end of what runs until it is stopped.
constexpr std::string_view stop_by_end = "end";

struct Frame {
  FrameType type{};
  std::string payload;
};

/// What one frame holds at most; a longer one is no frame of ours.
constexpr size_t largest_frame = 16 << 20;
/// Bytes of contents and outputs travel in pieces of this size.
constexpr size_t piece_bytes = 64 << 10;

std::string packed(FrameType type, std::string_view payload = {});

/// Takes frames out of bytes as they come.
class FrameReader {
 public:
  /// What a frame may hold; less for somebody who has not said yet what he wants.
  explicit FrameReader(size_t limit = largest_frame) : limit_(limit) {}
  void add(std::string_view bytes);
  /// None: the next one is not whole yet. Error (`Blame::user`): this is no frame, or it is too
  /// large.
  Result<std::optional<Frame>> next();
  /// Whether nothing came that is not taken yet.
  bool is_empty() const { return at_ == bytes_.size(); }

 private:
  size_t limit_;
  std::string bytes_;
  size_t at_ = 0;
};

}  // namespace fettle
