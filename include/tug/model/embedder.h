// Texts to vectors.
//
// Loop thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tug/core/task.h"
#include "tug/core/usage.h"
#include "tug/core/wait.h"
#include "tug/model/provider.h"

namespace tug {

struct Embeddings {
  std::vector<std::vector<float>> vectors;  // one per text, in order, all of the same length
  Usage usage;
};

class Embedder {
 public:
  virtual ~Embedder() = default;
  // Documents. Nothing for no texts; more than the provider takes at once go in several requests.
  virtual Task<Result<Embeddings>> embed(std::vector<std::string> texts, Until until) = 0;
  // A question, for models that tell the two apart; the same as a document otherwise.
  virtual Task<Result<Embeddings>> embed_query(std::string text, Until until) {
    std::vector<std::string> texts;
    texts.push_back(std::move(text));
    return embed(std::move(texts), std::move(until));
  }
  // "provider=openai;model=text-embedding-3-small;dims=1536": vectors of two signatures do not mix.
  virtual std::string signature() const = 0;
};
using EmbedderPtr = std::shared_ptr<Embedder>;

struct EmbedderOptions {
  std::string model;
  std::int64_t dims = 0;        // 0: the model's own, learned from the first answer
  std::size_t batch = 96;       // texts in one request
  std::string document_prefix;  // "search_document: "
  std::string query_prefix;
};
// POST {base}/embeddings of an OpenAI-compatible server.
Result<EmbedderPtr> make_openai_embedder(ProviderConfig provider, EmbedderOptions options,
                                         HttpClientPtr http);
// POST {base}/api/embed of Ollama; `base_url` may end in "/v1".
Result<EmbedderPtr> make_ollama_embedder(ProviderConfig provider, EmbedderOptions options,
                                         HttpClientPtr http);

}  // namespace tug
