#include "tug/journal/record.h"

#include "core/try.h"
#include "journal/event_text.h"

namespace tug {
namespace {

constexpr int kBodyVersion = 1;

void put_u64(std::string& out, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

void put_field(std::string& out, std::string_view field) {
  put_u64(out, field.size());
  out.append(field);
}

// Everything the run table says of a run is in the hash, so that damage there is found too.
std::string prepared_lineage(const Lineage& who) {
  std::string out;
  put_field(out, who.run_id.text());
  put_field(out, who.thread_id.text());
  put_field(out, who.root_run_id.text());
  put_field(out, who.parent_run_id.text());
  put_field(out, who.parent_call_id.text());
  put_u64(out, who.depth);
  put_field(out, who.agent);
  return out;
}

void append_head(const Event& event, std::string& out) {
  out.append("{\"v\":1,\"kind\":");
  print_json_string(event.name(), out);
  out.append(",\"turn\":").append(std::to_string(event.turn));
}

Failure damaged(const Record& record, std::string what) {
  const std::string root = record.who ? record.who->root_run_id.text() : std::string();
  return fail(ErrorKind::invalid,
              "record " + std::to_string(record.seq) + " of " + root + ": " + what,
              "the stored bytes are damaged; restore the state folder from a copy",
              Damage{.root = root, .seq = record.seq});
}

}  // namespace

Digest genesis_of(const RunId& root, const ThreadId& thread, const Base* base) {
  Sha256 hasher;
  hasher.update("tug1");
  hasher.update_field(root.text());
  hasher.update_field(thread.text());
  if (base) {
    hasher.update_field(base->root.text());
    hasher.update_u64(base->seq);
    hasher.update(base->hash.view());
  }
  return hasher.finish();
}

Digest Chain::next(const LineagePtr& who, Seq seq, Time ts, std::string_view body) {
  if (who != who_) {
    who_ = who;
    prepared_ = prepared_lineage(*who);
  }
  const std::size_t lineage_size = prepared_.size();
  put_u64(prepared_, seq);
  put_u64(prepared_, static_cast<std::uint64_t>(ts.time_since_epoch().count()));
  put_u64(prepared_, body.size());
  hasher_.update(previous_.view());
  hasher_.update(prepared_);
  hasher_.update(body);
  prepared_.resize(lineage_size);
  previous_ = hasher_.finish();
  return previous_;
}

Encoded encode(const Event& event) {
  Encoded encoded;
  std::string& body = encoded.body;
  append_head(event, body);
  const std::size_t head = body.size();
  body.append(",\"data\":");
  const std::size_t start = body.size();
  append_data(event, body);
  if (const std::size_t size = body.size() - start; size > kBlobThreshold) {
    std::string bytes = body.substr(start);
    const Digest digest = sha256(bytes);
    body.resize(head);
    body.append(",\"blob\":\"")
        .append(digest.hex())
        .append("\",\"size\":")
        .append(std::to_string(size));
    body.shrink_to_fit();
    encoded.blob = std::make_unique<Blob>(Blob{digest, std::move(bytes)});
  }
  body.push_back('}');
  return encoded;
}

std::optional<Digest> blob_of(std::string_view body) {
  // Only a body without data names a blob, and such a body is short.
  if (body.size() > 512 || body.find(",\"data\":") != std::string_view::npos) return std::nullopt;
  auto json = parse_json(body);
  if (!json) return std::nullopt;
  return Digest::from_hex((*json)["blob"].as_string());
}

Result<Event> decode(const Record& record, BlobSource& blobs) {
  auto body = parse_json(record.body, {.max_depth = kMaxRecordDepth});
  if (!body || !body->is_object()) return damaged(record, "its body is not JSON");
  if ((*body)["v"].as_int() != kBodyVersion) {
    return fail(ErrorKind::unsupported,
                "record " + std::to_string(record.seq) + " has body version " +
                    print_json((*body)["v"]) + "; this tug reads version 1",
                "use the newer tug that wrote it");
  }
  Event event{.seq = record.seq, .ts = record.ts, .who = record.who};
  const std::string_view name = (*body)["kind"].as_string();
  if (name.empty()) return damaged(record, "it has no kind");
  event.kind = kind_from(name);
  if (event.kind == Kind::other) event.other = name;
  event.turn = static_cast<std::uint32_t>((*body)["turn"].as_uint().value_or(0));
  event.data = (*body)["data"];
  if (const Json* named = body->find("blob")) {
    const auto digest = Digest::from_hex(named->as_string());
    if (!digest) return damaged(record, "its blob has no valid digest");
    TUG_TRY(bytes, blobs.blob(*digest));
    if (sha256(bytes) != *digest)
      return damaged(record, "blob " + digest->hex() + " has other bytes");
    auto data = parse_json(bytes, {.max_depth = kMaxRecordDepth});
    if (!data) return damaged(record, "blob " + digest->hex() + " is not JSON");
    event.data = *std::move(data);
  }
  const Json& message = event.data["message"];
  if (message.is_object() && message.contains("role") && message.contains("parts")) {
    auto read = message_from_json(message);
    if (!read) return Failure(read.error().within("record " + std::to_string(record.seq)));
    event.message = *std::move(read);
    event.data.erase("message");
  }
  return event;
}

}  // namespace tug
