// TLS and HTTP/2 as a model meets them: a server with a certificate of its own making.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "tests/mock_model.h"
#include "tug/model/retry.h"

namespace tug {
namespace {

// A certificate for 127.0.0.1 that only those trust who are given it.
class SelfSigned {
 public:
  SelfSigned() : key_(EVP_EC_gen("P-256")), certificate_(X509_new()) {
    X509_set_version(certificate_, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate_), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate_), 24 * 3600);
    X509_set_pubkey(certificate_, key_);
    X509_NAME* const name = X509_get_subject_name(certificate_);
    const auto* text = reinterpret_cast<const unsigned char*>("mock");
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
    X509_set_issuer_name(certificate_, name);
    X509_EXTENSION* const names =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
    X509_add_ext(certificate_, names, -1);
    X509_EXTENSION_free(names);
    X509_sign(certificate_, key_, EVP_sha256());
  }
  SelfSigned(const SelfSigned&) = delete;
  SelfSigned& operator=(const SelfSigned&) = delete;
  ~SelfSigned() {
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }
  void write(const std::string& path) const {
    FILE* const file = std::fopen(path.c_str(), "w");
    PEM_write_X509(file, certificate_);
    std::fclose(file);
  }
  void give_to(SSL_CTX* context) const {
    SSL_CTX_use_certificate(context, certificate_);
    SSL_CTX_use_PrivateKey(context, key_);
  }

 private:
  EVP_PKEY* key_;
  X509* certificate_;
};

// One connection of the server; reads and writes fail silently when the peer is gone.
class SecureWire {
 public:
  explicit SecureWire(SSL* ssl) : ssl_(ssl) {}
  std::string read(std::size_t count) const {
    std::string bytes(count, '\0');
    std::size_t had = 0;
    while (had < count) {
      const int got = SSL_read(ssl_, bytes.data() + had, static_cast<int>(count - had));
      if (got <= 0) return "";
      had += static_cast<std::size_t>(got);
    }
    return bytes;
  }
  // Until the client has closed: a close before that could overtake what was sent.
  void drain() const {
    while (!read(1).empty()) {
    }
  }
  void write(std::string_view bytes) const {
    SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
  }

 private:
  SSL* ssl_;
};

// Serves each connection in turn on a thread of its own, until it is dropped.
class SecureServer {
 public:
  using Serve = std::function<void(const SecureWire&, int connection)>;
  SecureServer(const SelfSigned& certificate, Serve serve) : serve_(std::move(serve)) {
    context_ = SSL_CTX_new(TLS_server_method());
    certificate.give_to(context_);
    SSL_CTX_set_alpn_select_cb(context_, &SecureServer::take_h2, nullptr);
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    listen(listener_, 8);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    url = "https://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/v1";
    thread_ = std::thread([this] { run(); });
  }
  SecureServer(const SecureServer&) = delete;
  SecureServer& operator=(const SecureServer&) = delete;
  ~SecureServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
    SSL_CTX_free(context_);
  }

  std::string url;
  std::atomic<int> handshakes = 0;  // that succeeded

 private:
  static int take_h2(SSL*, const unsigned char** out, unsigned char* size,
                     const unsigned char* offered, unsigned int length, void*) {
    static constexpr unsigned char kH2[] = {2, 'h', '2'};
    unsigned char* chosen = nullptr;
    if (SSL_select_next_proto(&chosen, size, kH2, sizeof kH2, offered, length) !=
        OPENSSL_NPN_NEGOTIATED) {
      return SSL_TLSEXT_ERR_NOACK;
    }
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
  }
  void run() {
    while (true) {
      const int peer = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) return;
      timeval patience{.tv_sec = 5};
      setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      SSL* const ssl = SSL_new(context_);
      SSL_set_fd(ssl, peer);
      if (SSL_accept(ssl) == 1) serve_(SecureWire(ssl), ++handshakes);
      SSL_free(ssl);
      close(peer);
    }
  }

  const Serve serve_;
  SSL_CTX* context_ = nullptr;
  int listener_ = -1;
  std::thread thread_;
};

// --- HTTP/2 in frames: nine bytes, then what they announce

enum FrameType : unsigned char { kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kGoAway = 7 };

std::string frame(FrameType type, unsigned char flags, std::uint32_t stream,
                  std::string_view payload) {
  std::string bytes;
  for (int shift = 16; shift >= 0; shift -= 8) {
    bytes += static_cast<char>((payload.size() >> shift) & 0xFF);
  }
  bytes += static_cast<char>(type);
  bytes += static_cast<char>(flags);
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((stream >> shift) & 0xFF);
  return bytes.append(payload);
}

// Reads on until a frame ended its stream: the whole request is there. 0 when the peer went away.
std::uint32_t read_request(const SecureWire& wire) {
  if (wire.read(24).empty()) return 0;  // the preface
  wire.write(frame(kSettings, 0, 0, ""));
  while (true) {
    const std::string head = wire.read(9);
    if (head.empty()) return 0;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(head[i]); };
    const std::size_t size = byte(0) << 16 | byte(1) << 8 | byte(2);
    if (size > 0 && wire.read(size).empty()) return 0;
    if (byte(3) == kSettings && (byte(4) & 1) == 0) wire.write(frame(kSettings, 1, 0, ""));
    const bool ends = (byte(3) == kData || byte(3) == kHeaders) && (byte(4) & 1) != 0;
    if (ends) return byte(5) << 24 | byte(6) << 16 | byte(7) << 8 | byte(8);
  }
}

void answer(const SecureWire& wire, std::uint32_t stream) {
  // ":status 200" is the eighth row of the static table.
  wire.write(frame(kHeaders, 4, stream, "\x88"));
  wire.write(frame(
      kData, 1, stream,
      R"({"id":"x","model":"m","choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]})"));
  wire.drain();
}

// curl 7.88 does not tell a stream that was refused from one that broke, so both count as perhaps
// worked on.
void expect_asked_again(const Error& error) {
  EXPECT_EQ(fault_name(error), "transport_ambiguous") << to_string(error);
  EXPECT_TRUE(RetryPolicy().wait_after(error, 1, 0.5));
}

class HttpTls : public ::testing::Test {
 protected:
  HttpTls() {
    std::signal(SIGPIPE, SIG_IGN);
    std::string pattern = (std::filesystem::temp_directory_path() / "tug-tls-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    certificate_.write(folder_ + "/ca.pem");
  }
  ~HttpTls() override { std::filesystem::remove_all(folder_); }

  enum class Trust : bool { system, ours };
  Answered ask(const SecureServer& server, Trust trust) {
    HttpOptions options{.proxy = "none"};
    if (trust == Trust::ours) options.ca_file = folder_ + "/ca.pem";
    const auto engine = make_engine({.loops = 1, .workers = 1});
    const ModelPtr model =
        mock_model(*mock_, Api::openai_chat, make_http_client(options), {.base_url = server.url});
    return ask_model(*engine, *model, {}, false);
  }

  const std::shared_ptr<MockProvider> mock_ = make_mock_provider();
  const SelfSigned certificate_;
  std::string folder_;
};

TEST_F(HttpTls, Row45ACertificateThatNobodyTrustsIsRefusedBeforeAnythingIsSent) {
  SecureServer server(certificate_, [](const SecureWire& wire, int) {
    EXPECT_EQ(wire.read(1), "") << "a request to a server that is not trusted";
  });
  const Answered answered = ask(server, Trust::system);
  EXPECT_EQ(answered.fault(), "tls");
  ASSERT_TRUE(answered.error);
  EXPECT_EQ(answered.error->kind(), ErrorKind::denied);
}

TEST_F(HttpTls, ATrustedServerIsAskedOverHttp2) {
  SecureServer server(certificate_, [](const SecureWire& wire, int) {
    if (const std::uint32_t stream = read_request(wire)) answer(wire, stream);
  });
  const Answered answered = ask(server, Trust::ours);
  EXPECT_EQ(answered.text, "ok") << answered.fault();
}

TEST_F(HttpTls, Row42ARefusedStreamIsAskedAgain) {
  SecureServer server(certificate_, [](const SecureWire& wire, int) {
    const std::uint32_t stream = read_request(wire);
    if (stream == 0) return;
    constexpr std::string_view kRefused("\0\0\0\x07", 4);
    wire.write(frame(kReset, 0, stream, kRefused));
    wire.drain();
  });
  const Answered answered = ask(server, Trust::ours);
  ASSERT_TRUE(answered.error);
  expect_asked_again(*answered.error);
}

TEST_F(HttpTls, Row42AStreamAboveTheLastOfAGoAwayIsAskedAgain) {
  SecureServer server(certificate_, [](const SecureWire& wire, int) {
    const std::uint32_t stream = read_request(wire);
    if (stream == 0) return;
    wire.write(frame(kGoAway, 0, 0, std::string_view("\0\0\0\0\0\0\0\0", 8)));
    wire.drain();
  });
  const Answered answered = ask(server, Trust::ours);
  ASSERT_TRUE(answered.error);
  expect_asked_again(*answered.error);
}

}  // namespace
}  // namespace tug
