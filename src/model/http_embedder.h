// Embedders over HTTP, but for the words of their APIs: batches, keys, faults, sizes.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/json.h"
#include "tug/model/embedder.h"
#include "tug/model/faults.h"

namespace tug {

class HttpEmbedder : public Embedder {
 public:
  HttpEmbedder(ProviderConfig provider, EmbedderOptions options, HttpClientPtr http);

  Task<Result<Embeddings>> embed(std::vector<std::string> texts, Until until) override;
  Task<Result<Embeddings>> embed_query(std::string text, Until until) override;
  std::string signature() const override;

 protected:
  virtual std::string path() const = 0;
  // The members of a request that say what is to be embedded, each with a comma behind it.
  virtual void add_request(std::string& out) const = 0;
  // The vectors of a reply, in the order of the texts; `count` of them were sent.
  virtual Result<Embeddings> read(const Json& reply, std::size_t count) const = 0;

  Failure no_answer(std::string what) const;
  // An array of numbers, or the base64 of floats. `internal` for anything else.
  Result<std::vector<float>> vector_of(const Json& json) const;

  const ProviderConfig provider_;
  const EmbedderOptions options_;

 private:
  FaultSource who() const noexcept;
  std::string body(std::span<const std::string> texts, std::string_view prefix) const;
  HttpRequest to_send(std::string body) const;
  Task<Result<Embeddings>> embed_all(std::vector<std::string> texts, std::string prefix,
                                     Until until);
  Task<Result<Embeddings>> embed_batch(std::string body, std::size_t count, Until until);
  Result<Embeddings> read_checked(std::string_view body, std::size_t count);

  const HttpClientPtr http_;
  std::atomic<std::int64_t> dims_;  // 0 until the first answer
};

// Puts the base URL in order. `denied` without a key where one is needed, `invalid` for an address
// that is none, for no model and for no client.
Result<ProviderConfig> checked_embedder(ProviderConfig provider, const EmbedderOptions& options,
                                        const HttpClientPtr& http);

}  // namespace tug
