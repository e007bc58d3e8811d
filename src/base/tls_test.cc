#include "base/tls.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "base/text.h"
#include "tests/fixtures/certificates.h"

namespace fettle {
namespace {

/// Two sockets that are connected, and who is at each.
class TlsPair {
 public:
  TlsPair() {
    signal(SIGPIPE, SIG_IGN);
    std::array<int, 2> pair{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data()), 0);
    here_ = Descriptor(pair[0]);
    there_ = Descriptor(pair[1]);
  }
  TlsFiles files(std::string_view certificate, std::string_view key, unsigned mode = 0600) const {
    TlsFiles files{folder_.path() / "cert.pem", folder_.path() / "key.pem"};
    EXPECT_TRUE(write_file(files.certificate, certificate));
    EXPECT_TRUE(write_file(files.key, key, mode));
    return files;
  }
  TlsFiles files_of(const CertificateWithKey& identity) const {
    return files(identity.certificate, identity.key);
  }
  std::string refusal(std::string_view certificate, std::string_view key,
                      unsigned mode = 0600) const {
    const Result<TlsIdentity> identity = TlsIdentity::read(files(certificate, key, mode));
    EXPECT_FALSE(identity);
    if (identity)
      return "";
    EXPECT_EQ(identity.error().blame, Blame::user);
    return replace_all(identity.error().message, folder_.path().string() + "/", "");
  }
  TlsStream server(const CertificateWithKey& identity) {
    identity_.emplace(*TlsIdentity::read(files_of(identity)));
    return *TlsStream::serve(there_.get(), *identity_);
  }
  TlsStream client(const TlsPeer& peer) const { return *TlsStream::connect(here_.get(), peer); }
  /// Both sides in turn until neither goes on; what the client came to.
  static TlsStep shake(TlsStream& client, TlsStream& server) {
    TlsStep ours = TlsStep::wants_to_read, theirs = TlsStep::wants_to_read;
    for (int i = 0; i < 20 && events_of(ours) + events_of(theirs) != 0; ++i) {
      if (events_of(ours) != 0)
        ours = client.shake_hands();
      if (events_of(theirs) != 0)
        theirs = server.shake_hands();
    }
    EXPECT_TRUE(ours != TlsStep::done || theirs == TlsStep::done);
    return ours;
  }
  TemporaryDirectory folder_ = *TemporaryDirectory::make();
  Descriptor here_, there_;
  std::optional<TlsIdentity> identity_;
};

class TlsTest : public testing::Test, public TlsPair {};

/// Why a client that looks for this does not believe a server.
std::pair<TlsFault, std::string> doubt(const TlsPeer& peer, const CertificateWithKey& identity) {
  TlsPair pair;
  TlsStream theirs = pair.server(identity);
  TlsStream ours = pair.client(peer);
  TlsPair::shake(ours, theirs);
  return {ours.fault(), ours.failure()};
}

std::string heard(TlsStream& stream) {
  std::array<char, largest_record> buffer{};
  std::string all;
  size_t count = 0;
  while (stream.read(buffer, count) == TlsStep::done)
    all.append(buffer.data(), count);
  return all;
}

TEST_F(TlsTest, BytesGoBothWaysAndEachSideEndsForItself) {
  const SelfSigned identity("fettle.example");
  TlsStream there = server(identity);
  TlsStream here = client({"fettle.example", identity.certificate});
  ASSERT_EQ(shake(here, there), TlsStep::done) << here.failure();
  size_t count = 0;
  EXPECT_EQ(here.write("asked", count), TlsStep::done);
  EXPECT_EQ(count, 5U);
  EXPECT_EQ(heard(there), "asked");
  EXPECT_EQ(here.finish_writing(), TlsStep::done);
  std::array<char, 10> buffer{};
  EXPECT_EQ(there.read(buffer, count), TlsStep::ended);
  EXPECT_EQ(there.write("answered", count), TlsStep::done);
  EXPECT_EQ(heard(here), "answered");
}

TEST_F(TlsTest, WhoeverEndsWithoutAWordHasFailed) {
  const SelfSigned identity("fettle.example");
  TlsStream there = server(identity);
  TlsStream here = client({"fettle.example", identity.certificate});
  ASSERT_EQ(shake(here, there), TlsStep::done);
  ::shutdown(here_.get(), SHUT_RDWR);
  std::array<char, 10> buffer{};
  size_t count = 0;
  EXPECT_EQ(there.read(buffer, count), TlsStep::failed);
  EXPECT_EQ(there.failure(), "the connection was closed");
}

TEST_F(TlsTest, WhoDoesNotReadMakesTheOtherSideWait) {
  const SelfSigned identity("fettle.example");
  TlsStream there = server(identity);
  TlsStream here = client({"fettle.example", identity.certificate});
  ASSERT_EQ(shake(here, there), TlsStep::done);
  const std::string much(10 << 20, 'x');
  size_t sent = 0, count = 0;
  TlsStep step = TlsStep::done;
  std::string all;
  while (sent < much.size()) {
    while ((step = here.write(std::string_view(much).substr(sent), count)) == TlsStep::done &&
           sent < much.size())
      sent += count;
    if (all.empty()) {
      EXPECT_EQ(step, TlsStep::wants_to_write);
      EXPECT_LT(sent, 2U << 20);
    }
    all += heard(there);
  }
  EXPECT_EQ(all + heard(there), much);
}

TEST_F(TlsTest, AClientBelievesWhomItShould) {
  const SelfSigned authority("Some Authority"), other("Other Authority");
  const CertificateWithKey good(
      {"one", "DNS:fettle.example,DNS:*.team.example,IP:127.0.0.1,IP:::1"}, &authority);
  for (const std::string host : {"fettle.example", "a.team.example", "127.0.0.1", "::1"})
    EXPECT_EQ(doubt({host, authority.certificate}, good).first, TlsFault::none) << host;
  EXPECT_EQ(doubt({"127.0.0.1", good.certificate}, good).first, TlsFault::none)
      << "its own certificate is enough";
  for (const std::string host : {"example", "a.b.team.example", "10.0.0.1", "localhost"}) {
    const auto [fault, why] = doubt({host, authority.certificate}, good);
    EXPECT_EQ(fault, TlsFault::other_name) << host;
    EXPECT_EQ(why, cat("its certificate is for `fettle.example`, `*.team.example`, `127.0.0.1`, "
                       "`::1`, not for `",
                       host, "`"));
  }
  for (const std::string& believed : {other.certificate, std::string()}) {
    const auto [fault, why] = doubt({"127.0.0.1", believed}, good);
    EXPECT_EQ(fault, TlsFault::unknown_authority);
    EXPECT_EQ(why,
              "its certificate is signed by `/CN=Some Authority`, which is no authority that is "
              "known here");
  }
  const auto early = doubt({"a", authority.certificate},
                           CertificateWithKey({.name = "a", .from = 1'000}, &authority));
  EXPECT_EQ(early.first, TlsFault::out_of_date);
  EXPECT_NE(early.second.find("is the clock of this machine right?"), std::string::npos);
  EXPECT_FALSE(TlsStream::connect(here_.get(), {"", authority.certificate})) << "any name would do";
}

TEST_F(TlsTest, AnExpiredCertificateIsRefusedByBothSides) {
  const CertificateWithKey soon({.name = "a", .until = 1});
  TlsStream there = server(soon);
  while (TlsIdentity::read(files_of(soon)))
    usleep(20'000);
  TlsStream here = client({"a", soon.certificate});
  EXPECT_EQ(shake(here, there), TlsStep::failed);
  EXPECT_EQ(here.fault(), TlsFault::out_of_date);
  EXPECT_TRUE(here.failure().starts_with("its certificate has expired at 20")) << here.failure();
  EXPECT_EQ(refusal(soon.certificate, soon.key), "the certificate in `cert.pem` has expired");
}

TEST_F(TlsTest, ClearTextIsSeenByItsFirstByte) {
  const SelfSigned identity("a");
  TlsStream there = server(identity);
  EXPECT_EQ(there.shake_hands(), TlsStep::wants_to_read);
  ASSERT_EQ(::send(here_.get(), "GET /", 5, 0), 5);
  EXPECT_EQ(there.shake_hands(), TlsStep::failed);
  EXPECT_EQ(there.fault(), TlsFault::clear_text);
  std::array<char, 5> buffer{};
  EXPECT_EQ(::recv(there_.get(), buffer.data(), buffer.size(), 0), 5) << "nothing was taken";
  TlsPair other;
  TlsStream here = other.client({"a", identity.certificate});
  EXPECT_EQ(here.shake_hands(), TlsStep::wants_to_read);
  ASSERT_EQ(::send(other.there_.get(), "HTTP/1.1 400", 12, 0), 12);
  EXPECT_EQ(here.shake_hands(), TlsStep::failed);
  EXPECT_EQ(here.fault(), TlsFault::clear_text);
}

/// A client of somebody else's, by OpenSSL alone; whether a server agrees.
bool agrees(const CertificateWithKey& identity, const std::function<void(SSL_CTX*)>& set) {
  TlsPair pair;
  TlsStream there = pair.server(identity);
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_method()),
                                                                  SSL_CTX_free);
  SSL_CTX_set_security_level(context.get(), 0);
  set(context.get());
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), SSL_free);
  SSL_set_fd(ssl.get(), pair.here_.get());
  int ours = 0;
  TlsStep theirs = TlsStep::wants_to_read;
  for (int i = 0; i < 20 && events_of(theirs) != 0; ++i) {
    ours = SSL_connect(ssl.get());
    theirs = there.shake_hands();
  }
  return theirs == TlsStep::done && SSL_connect(ssl.get()) == 1 && ours >= -1;
}

TEST_F(TlsTest, OldVersionsWeakCiphersAndOtherProtocolsAreRefused) {
  const CertificateWithKey rsa({.name = "a", .bits_of_rsa = 2'048});
  const SelfSigned curve("a");
  for (const CertificateWithKey* identity :
       {&rsa, static_cast<const CertificateWithKey*>(&curve)}) {
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION})
      EXPECT_TRUE(agrees(*identity, [&](SSL_CTX* context) {
        SSL_CTX_set_max_proto_version(context, version);
      })) << version;
    EXPECT_FALSE(agrees(*identity, [](SSL_CTX* context) {
      SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
      SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
    }));
    EXPECT_FALSE(agrees(*identity, [](SSL_CTX* context) {
      SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
      SSL_CTX_set_cipher_list(context, "AES128-GCM-SHA256:ECDHE+AES+SHA1");
    }));
    const auto offer = [](std::string_view protocols) {
      return [protocols](SSL_CTX* context) {
        SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(protocols.data()),
                                static_cast<unsigned>(protocols.size()));
      };
    };
    EXPECT_TRUE(agrees(*identity, offer("\x02h2\x08http/1.1")));
    EXPECT_FALSE(agrees(*identity, offer("\x02h2")));
  }
}

TEST_F(TlsTest, FilesThatAreWrongAreRefusedInWords) {
  const SelfSigned one("one"), two("two");
  const std::string half = one.certificate.substr(0, one.certificate.size() / 2);
  const std::string expected =
      ": expected PEM (`-----BEGIN CERTIFICATE-----`), the server's own first, then those of the "
      "authorities between it and one that clients know";
  EXPECT_EQ(refusal("", one.key), "`cert.pem` has no certificate" + expected);
  EXPECT_EQ(refusal(one.key, one.certificate), "`cert.pem` has no certificate" + expected);
  EXPECT_EQ(refusal(half, one.key), "`cert.pem` has a damaged certificate" + expected);
  EXPECT_EQ(refusal(one.certificate + half, one.key),
            "`cert.pem` has a damaged certificate behind the first one");
  for (const std::string& key : {std::string(), one.key.substr(0, 90), one.certificate})
    EXPECT_EQ(refusal(one.certificate, key),
              "`key.pem` has no private key, or a damaged one: expected PEM without a passphrase "
              "(`-----BEGIN PRIVATE KEY-----`)");
  EXPECT_EQ(refusal(one.certificate, two.key),
            "the key in `key.pem` does not belong to the first certificate in `cert.pem`");
  EXPECT_EQ(
      refusal(one.certificate, one.locked_key()),
      "the key in `key.pem` is locked by a passphrase: expected one without; `openssl pkey -in "
      "key.pem` writes it");
  EXPECT_EQ(refusal(one.certificate, one.key, 0644),
            "others can read `key.pem`, which has the key; `chmod 600 key.pem` closes it");
  EXPECT_EQ(refusal(std::string(2 << 20, 'x'), one.key), "`cert.pem` is no file of PEM");
  const CertificateWithKey weak({.name = "weak", .bits_of_rsa = 512});
  EXPECT_EQ(refusal(weak.certificate, weak.key),
            "the certificate in `cert.pem` cannot be used: ee key too small");
  EXPECT_EQ(refusal(one.certificate + weak.certificate, one.key),
            "a certificate behind the first one in `cert.pem` cannot be used: ca key too small");
  const Result<TlsIdentity> none = TlsIdentity::read({"/nowhere/cert.pem", "/nowhere/key.pem"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().blame, Blame::user);
  // Both in one file, and a chain.
  const std::string all = one.key + one.certificate + two.certificate;
  const Result<TlsIdentity> good = TlsIdentity::read(files(all, all));
  ASSERT_TRUE(good) << to_string(good.error());
  EXPECT_TRUE(good->is_for("one"));
  EXPECT_FALSE(good->is_for("two"));
  EXPECT_EQ(good->names(), std::vector<std::string>{"one"});
}

TEST_F(TlsTest, AKeyThatRootLendsToAGroupMayBeRead) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can make a file of root";
  const SelfSigned one("one");
  EXPECT_TRUE(TlsIdentity::read(files(one.certificate, one.key, 0640)));
  EXPECT_NE(refusal(one.certificate, one.key, 0660), "");
  EXPECT_NE(refusal(one.certificate, one.key, 0641), "");
  const TlsFiles theirs = files(one.certificate, one.key, 0640);
  ASSERT_EQ(chown(theirs.key.c_str(), 65'534, 0), 0);
  EXPECT_FALSE(TlsIdentity::read(theirs));
}

TEST_F(TlsTest, FilesAreReadAgainWhenTheyChangeAndTheLastGoodPairStays) {
  const SelfSigned one("one"), two("two"), three("three");
  RenewedIdentity identity = *RenewedIdentity::open(files_of(one));
  std::vector<std::string> told;
  const auto names = [&] {
    return identity.now([&](const std::string& text) { told.push_back(text); }).names().at(0);
  };
  EXPECT_EQ(names(), "one");
  files_of(two);
  EXPECT_EQ(names(), "two");
  files(three.certificate, two.key);
  EXPECT_EQ(names(), "two");
  EXPECT_EQ(names(), "two");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].starts_with("the certificate that was read before stays: the key in `"));
  files(three.certificate.substr(0, 100), two.key);
  EXPECT_EQ(names(), "two");
  EXPECT_EQ(told.size(), 2U);
  ASSERT_TRUE(remove_tree(folder_.path() / "cert.pem"));
  EXPECT_EQ(names(), "two");
  EXPECT_EQ(told.size(), 3U);
  files_of(three);
  EXPECT_EQ(names(), "three");
  files(one.certificate, three.key);
  EXPECT_EQ(names(), "three");
  EXPECT_EQ(told.size(), 4U) << "it is told again after a good pair";
}

TEST_F(TlsTest, OfAFileWithAuthoritiesTheCertificatesCount) {
  const SelfSigned one("one"), two("two");
  EXPECT_EQ(*certificates_in("text\n" + one.key + one.certificate + two.certificate, "`x`"),
            one.certificate + two.certificate);
  for (const std::string& text : {std::string(), one.key, one.certificate.substr(0, 99)})
    EXPECT_EQ(certificates_in(text, "`x`").error().message,
              "`x` has no certificate, or a damaged one: expected those of authorities as PEM "
              "(`-----BEGIN CERTIFICATE-----`)");
}

}  // namespace
}  // namespace fettle
