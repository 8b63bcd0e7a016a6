#include "tug/testkit/mock_provider.h"

#include "core/try.h"
#include "testkit/mock_core.h"

namespace tug {
namespace {

class Mock final : public MockProvider {
 public:
  void reply(MockReply reply) override { core_->reply(std::move(reply)); }
  void reply_with(std::function<MockReply(const MockRequest&)> answer) override {
    core_->reply_with(std::move(answer));
  }
  std::vector<MockRequest> requests() const override { return core_->requests(); }
  std::size_t connections() const override { return core_->connections(); }
  std::size_t aborted() const override { return core_->aborted_count(); }

  Result<std::string> serve() override {
    if (server_) return server_->url();
    TUG_TRY(server, start_mock_server(core_));
    server_ = std::move(server);
    url_ = server_->url();
    return url_;
  }
  void stop() override { server_.reset(); }

  std::string base_url(Api api) const override {
    const bool openai = api == Api::openai_chat || api == Api::openai_responses;
    return openai ? url_ + "/v1" : url_;
  }
  HttpClientPtr http_client() override { return make_mock_client(core_); }

 private:
  const std::shared_ptr<MockCore> core_ = std::make_shared<MockCore>();
  std::unique_ptr<MockServer> server_;
  std::string url_ = "http://mock.invalid";  // until it is served
};

}  // namespace

std::shared_ptr<MockProvider> make_mock_provider() { return std::make_shared<Mock>(); }

}  // namespace tug
