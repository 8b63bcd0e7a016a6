#include "core/try.h"
#include "model/dialect.h"
#include "model/http_embedder.h"

namespace tug {
namespace {

class OllamaEmbedder final : public HttpEmbedder {
 public:
  using HttpEmbedder::HttpEmbedder;

 private:
  std::string path() const override { return "/api/embed"; }
  void add_request(std::string& out) const override {
    Json members = Json::object({{"model", options_.model}});
    if (options_.dims > 0) members.set("dimensions", options_.dims);
    // Else a text that is too long is cut without a word.
    members.set("truncate", false);
    for (const Json::Member& option : provider_.options.members()) members.erase(option.key());
    add_members(members, out);
  }
  Result<Embeddings> read(const Json& reply, std::size_t) const override {
    Embeddings embedded;
    for (const Json& item : reply["embeddings"].items()) {
      TUG_TRY(vector, vector_of(item));
      embedded.vectors.push_back(std::move(vector));
    }
    embedded.usage.input_tokens = count_of(reply, "prompt_eval_count");
    return embedded;
  }
};

}  // namespace

Result<EmbedderPtr> make_ollama_embedder(ProviderConfig provider, EmbedderOptions options,
                                         HttpClientPtr http) {
  provider.needs_key = false;
  TUG_TRY(checked, checked_embedder(std::move(provider), options, http));
  if (checked.base_url.ends_with("/v1")) checked.base_url.resize(checked.base_url.size() - 3);
  return std::make_shared<OllamaEmbedder>(std::move(checked), std::move(options), std::move(http));
}

}  // namespace tug
