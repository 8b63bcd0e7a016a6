#include "model/anthropic/wire.h"

namespace tug {
namespace {

class AnthropicDialect final : public Dialect {
 public:
  Api api() const noexcept override { return Api::anthropic; }
  HttpHeader key_header() const override { return {"x-api-key", ""}; }
  std::string encode_tools(const ToolSpecs& tools, const ModelProfile&,
                           const ProviderConfig&) const override {
    return anthropic::encode_tools(tools);
  }
  Result<EncodedCall> encode(const WireCall& call) const override {
    return anthropic::encode(call);
  }
  std::unique_ptr<Decoder> decoder(const WireCall& call) const override {
    return anthropic::make_decoder(call);
  }
};

}  // namespace

const Dialect& anthropic_dialect() {
  static const AnthropicDialect dialect;
  return dialect;
}

}  // namespace tug
