// A record as it stands in a store, and the chain that ties a root's records together.
//
// `body` is {"v":1,"kind":..,"turn":..,"data":..}, written once and never printed again. Data over
// kBlobThreshold bytes stands in a blob, and the body names its SHA-256 instead ("blob"), so that
// the chain covers it. hash = SHA-256(previous || lineage || seq || ts || body), each with its
// length. The chain finds damage, not malice: a person with the file can recompute it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/digest.h"
#include "tug/core/error.h"
#include "tug/journal/event.h"

namespace tug {

inline constexpr std::size_t kBlobThreshold = 16 * 1024;
// How deep a record may be nested. What it carries may itself be kMaxJsonDepth deep: arguments of a
// call, an answer, a schema.
inline constexpr std::size_t kMaxRecordDepth = 1024;

struct Blob {
  Digest digest;
  std::string bytes;
};

struct Record {
  Seq seq = 0;
  LineagePtr who;
  Time ts{};
  std::string body;
  Digest hash;
};

// The link to the history a root goes on from: everything up to `seq` of `root`, whose hash there
// is `hash`.
struct Base {
  RunId root;
  Seq seq = 0;
  Digest hash;
  friend bool operator==(const Base&, const Base&) = default;
};

// The value before the first record.
Digest genesis_of(const RunId& root, const ThreadId& thread, const Base* base);

// Hashes records one after the other; keeps its hasher, so one per root.
class Chain {
 public:
  explicit Chain(Digest previous) : previous_(previous) {}
  const Digest& last() const noexcept { return previous_; }
  Digest next(const LineagePtr& who, Seq seq, Time ts, std::string_view body);

 private:
  Sha256 hasher_;
  Digest previous_;
  LineagePtr who_;        // of the record before: most records have the same
  std::string prepared_;  // its bytes as they are hashed
};

// The body of an event, and the blob it refers to when its data is large.
struct Encoded {
  std::string body;
  std::unique_ptr<Blob> blob;
};
Encoded encode(const Event& event);

// The event of a record. `blob` is asked for the bytes of a blob when the body names one. Unknown
// kinds come back as `other` with their data; an unknown version `v` is `unsupported`, never
// dropped.
class BlobSource {
 public:
  virtual ~BlobSource() = default;
  virtual Result<std::string> blob(const Digest& digest) = 0;
};
Result<Event> decode(const Record& record, BlobSource& blobs);

// The blob a body names, if any.
std::optional<Digest> blob_of(std::string_view body);

}  // namespace tug
