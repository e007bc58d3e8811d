#include "value/name.h"

#include <cstring>
#include <limits>
#include <new>

#include "base/invariant.h"

namespace fettle {

Name::Name(std::string_view text) {
  if (text.empty())
    return;
  INVARIANT(text.size() <= std::numeric_limits<uint32_t>::max());
  void* memory = ::operator new(sizeof(Node) + text.size());
  node_ = new (memory) Node{{1}, static_cast<uint32_t>(text.size()), fingerprint(text)};
  std::memcpy(static_cast<char*>(memory) + sizeof(Node), text.data(), text.size());
}

Digest Name::digest() const { return node_ == nullptr ? fingerprint("") : node_->digest; }

void Name::destroy() {
  node_->~Node();
  ::operator delete(node_);
}

}  // namespace fettle
