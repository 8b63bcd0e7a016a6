#include "model/openai_responses/wire.h"

namespace tug {
namespace {

class ResponsesDialect final : public Dialect {
 public:
  Api api() const noexcept override { return Api::openai_responses; }
  HttpHeader key_header() const override { return {"authorization", "Bearer ", true}; }
  std::string encode_tools(const ToolSpecs& tools, const ModelProfile&,
                           const ProviderConfig&) const override {
    return responses::encode_tools(tools);
  }
  Result<EncodedCall> encode(const WireCall& call) const override {
    return responses::encode(call);
  }
  std::unique_ptr<Decoder> decoder(const WireCall& call) const override {
    return responses::make_decoder(call);
  }
};

}  // namespace

const Dialect& openai_responses_dialect() {
  static const ResponsesDialect kDialect;
  return kDialect;
}

}  // namespace tug
