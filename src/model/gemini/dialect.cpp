#include "model/gemini/wire.h"

namespace tug {
namespace {

class GeminiDialect final : public Dialect {
 public:
  Api api() const noexcept override { return Api::gemini; }
  HttpHeader key_header() const override { return {"x-goog-api-key", ""}; }
  std::string encode_tools(const ToolSpecs& tools, const ModelProfile&,
                           const ProviderConfig&) const override {
    return gemini::encode_tools(tools);
  }
  Result<EncodedCall> encode(const WireCall& call) const override { return gemini::encode(call); }
  std::unique_ptr<Decoder> decoder(const WireCall& call) const override {
    return gemini::make_decoder(call);
  }
};

}  // namespace

const Dialect& gemini_dialect() {
  static const GeminiDialect dialect;
  return dialect;
}

}  // namespace tug
