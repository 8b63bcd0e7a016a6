#include "core/try.h"
#include "model/dialect.h"
#include "model/http_embedder.h"
#include "model/openai_chat/wire.h"

namespace tug {
namespace {

class OpenAiEmbedder final : public HttpEmbedder {
 public:
  using HttpEmbedder::HttpEmbedder;

 private:
  std::string path() const override {
    return chat::path_of(provider_, options_.model, "/embeddings");
  }
  void add_request(std::string& out) const override {
    Json members = Json::object({{"model", options_.model}});
    if (options_.dims > 0) members.set("dimensions", options_.dims);
    for (const Json::Member& option : provider_.options.members()) members.erase(option.key());
    add_members(members, out);
  }
  // Vectors name the text that they are of; servers that leave it out keep the order.
  Result<Embeddings> read(const Json& reply, std::size_t count) const override {
    const Json& data = reply["data"];
    if (data.size() != count)
      return no_answer("answered with " + std::to_string(data.size()) + " vectors for " +
                       std::to_string(count) + " texts");
    Embeddings embedded;
    embedded.vectors.resize(count);
    std::size_t place = 0;
    for (const Json& item : data.items()) {
      const std::size_t index = item["index"].as_uint().value_or(place++);
      if (index >= count || !embedded.vectors[index].empty())
        return no_answer("answered with vectors of other texts than were sent");
      TUG_TRY(vector, vector_of(item["embedding"]));
      embedded.vectors[index] = std::move(vector);
    }
    embedded.usage.input_tokens = count_of(reply["usage"], "prompt_tokens");
    return embedded;
  }
};

}  // namespace

Result<EmbedderPtr> make_openai_embedder(ProviderConfig provider, EmbedderOptions options,
                                         HttpClientPtr http) {
  TUG_TRY(checked, checked_embedder(std::move(provider), options, http));
  return std::make_shared<OpenAiEmbedder>(std::move(checked), std::move(options), std::move(http));
}

}  // namespace tug
