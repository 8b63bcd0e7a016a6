#include "model/openai_chat/wire.h"

namespace tug {
namespace {

class ChatDialect final : public Dialect {
 public:
  Api api() const noexcept override { return Api::openai_chat; }
  HttpHeader key_header() const override { return {"authorization", "Bearer ", true}; }
  std::string encode_tools(const ToolSpecs& tools, const ModelProfile&,
                           const ProviderConfig&) const override {
    return chat::encode_tools(tools);
  }
  Result<EncodedCall> encode(const WireCall& call) const override { return chat::encode(call); }
  std::unique_ptr<Decoder> decoder(const WireCall& call) const override {
    return chat::make_decoder(call);
  }
};

}  // namespace

const Dialect& openai_chat_dialect() {
  static const ChatDialect kDialect;
  return kDialect;
}

}  // namespace tug
