#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tug/core/error_json.h"
#include "tug/model/faults.h"

namespace tug {
namespace {

Error classified(int status, std::string_view body, std::vector<HttpHeader> headers = {},
                 FaultSource who = {.provider = "acme", .model = "m1"}) {
  const Time now = *parse_rfc3339("2026-11-15T12:00:00Z");
  return classify_fault(who, {.status = status, .body = body, .headers = &headers, .now = now});
}
std::string fault_name(const Error& error) {
  const auto fault = fault_of(error);
  return fault ? std::string(name_of(*fault)) : "none";
}
std::string fault_for(int status, std::string_view body) {
  return fault_name(classified(status, body));
}
// {"error":{"type":TYPE,"message":MESSAGE}}
std::string error_body(std::string_view type, std::string_view message) {
  return print_json(Json::object(
      {{"type", "error"}, {"error", Json::object({{"type", type}, {"message", message}})}}));
}

TEST(ClassifyFault, EveryRowOfTheTableOfShapes) {
  struct Row {
    int status;
    std::string body;
    const char* fault;
  };
  const auto bad = [](std::string_view text) { return error_body("invalid_request_error", text); };
  const Row rows[] = {
      // Anthropic
      {400, bad("prompt is too long: 210000 tokens > 200000 maximum"), "context_overflow"},
      {400,
       bad("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease "
           "input length or `max_tokens` and try again"),
       "context_overflow"},
      {413, error_body("request_too_large", "Request exceeds the maximum size"),
       "request_too_large"},
      {429, error_body("rate_limit_error", "slow"), "retry_after"},
      {429,
       R"({"type":"error","error":{"type":"rate_limit_error","message":"Your limit is reached until 2026-12-01","details":{"error_code":"enforced_spend_limit_reached"}}})",
       "quota_terminal"},
      {400, bad("You have reached your specified API usage limits. You will regain access later"),
       "quota_terminal"},
      {400, bad("Your credit balance is too low to access the API"), "quota_terminal"},
      {402, error_body("billing_error", "pay"), "quota_terminal"},
      {401, error_body("authentication_error", "invalid x-api-key"), "auth"},
      {403, error_body("permission_error", "no"), "forbidden"},
      {404, error_body("not_found_error", "model: x"), "not_found"},
      {409, error_body("conflict_error", "at once"), "bad_request"},
      {529, error_body("overloaded_error", "Overloaded"), "overloaded"},
      {500, error_body("api_error", "Internal server error"), "overloaded"},
      {504, error_body("timeout_error", "late"), "timeout"},
      {0, error_body("overloaded_error", "Overloaded"), "overloaded"},
      {0, error_body("api_error", "Internal server error"), "overloaded"},
      {400,
       bad("messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: "
           "toolu_1"),
       "bad_transcript"},
      {400, bad("messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: x"),
       "bad_transcript"},
      {400, bad("messages.1: `tool_use` ids must be unique"), "bad_transcript"},
      {400, bad("messages.1.content.0: Invalid `signature` in `thinking` block"), "bad_signature"},
      {400, bad("The request body is not valid JSON: no low surrogate in string: line 1 column 87"),
       "bad_encoding"},
      {400, bad("tools.3.custom.input_schema: JSON schema is invalid"), "bad_schema"},
      // OpenAI
      {400, R"({"error":{"message":"too long","code":"context_length_exceeded"}})",
       "context_overflow"},
      {0,
       R"({"type":"response.failed","response":{"id":"resp_1","status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}})",
       "context_overflow"},
      {400, bad("Your input exceeds the context window of this model."), "context_overflow"},
      {429, R"({"error":{"code":"rate_limit_exceeded","message":"Please try again in 1.3s."}})",
       "retry_after"},
      {429, R"({"error":{"code":"insufficient_quota","message":"You exceeded your quota"}})",
       "quota_terminal"},
      {429, R"({"error":{"type":"usage_not_included","message":"not in the plan"}})",
       "quota_terminal"},
      {0, R"({"type":"error","code":"server_is_overloaded","message":"busy","param":null})",
       "overloaded"},
      {503, R"({"error":{"code":"slow_down","message":"slow down"}})", "overloaded"},
      {0, R"({"type":"error","code":"rate_limit_exceeded","message":"slow"})", "retry_after"},
      {0, R"({"type":"error","code":"server_error","message":"An error occurred"})", "overloaded"},
      {400, R"({"error":{"code":"invalid_prompt","message":"no"}})", "content_filter"},
      {400, R"({"error":{"code":"cyber_policy","message":"no"}})", "content_filter"},
      {400, R"({"error":{"code":"bio_policy","message":"no"}})", "content_filter"},
      {400, R"({"error":{"code":"misalignment_policy_violation","message":"no"}})",
       "content_filter"},
      {401, R"({"error":{"code":"invalid_api_key","message":"Incorrect API key"}})", "auth"},
      {404, R"({"error":{"code":"model_not_found","message":"no such model"}})", "not_found"},
      {400, bad("No tool output found for function call call_1."), "bad_transcript"},
      {400, bad("No tool call found for function call output with call_id call_1."),
       "bad_transcript"},
      {400,
       bad("Item 'rs_1' of type 'reasoning' was provided without its required following item."),
       "bad_transcript"},
      {400,
       bad("Item 'msg_1' of type 'message' was provided without its required 'reasoning' "
           "item: 'rs_1'."),
       "bad_transcript"},
      {400, bad("Invalid 'input[2].id': 'x'. Expected an ID that begins with 'fc'."),
       "bad_transcript"},
      {400, bad("Duplicate 'call_id' found"), "bad_transcript"},
      {400,
       bad("An assistant message with 'tool_calls' must be followed by tool messages responding to "
           "each 'tool_call_id'."),
       "bad_transcript"},
      {400, R"({"error":{"code":"previous_response_not_found","message":"gone"}})",
       "bad_transcript"},
      {404, bad("Previous response with id 'resp_1' not found."), "bad_transcript"},
      {400, bad("Invalid schema for function 'f': schema must be an object"), "bad_schema"},
      // Gemini
      {400,
       R"({"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}})",
       "context_overflow"},
      {429,
       R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details.","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"36s"}]}})",
       "retry_after"},
      {429,
       R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details.","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]}]}})",
       "quota_terminal"},
      {429,
       R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details."}})",
       "retry_after"},
      {429,
       R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Your prepayment credits are depleted."}})",
       "quota_terminal"},
      {503,
       R"([{"error":{"code":503,"status":"UNAVAILABLE","message":"The model is overloaded."}}])",
       "overloaded"},
      {400,
       R"({"error":{"code":400,"status":"INVALID_ARGUMENT","message":"Function call is missing a thought_signature in functionCall parts."}})",
       "bad_signature"},
      {400,
       R"({"error":{"code":400,"message":"Function call `f` in the 2. content block is missing a `thought_signature`."}})",
       "bad_signature"},
      {400,
       R"({"error":{"code":400,"message":"Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."}})",
       "bad_transcript"},
      {400,
       R"({"error":{"code":400,"status":"INVALID_ARGUMENT","message":"API key not valid.","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}})",
       "auth"},
      // Bedrock
      {400,
       R"({"__type":"com.amazon.coral#ValidationException","message":"Input is too long for requested model."})",
       "context_overflow"},
      {400,
       R"({"__type":"ValidationException","message":"The model returned the following errors: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.1.content.0: Invalid `signature` in `thinking` block\"}}"})",
       "bad_signature"},
      {400, R"({"__type":"com.amazon.coral#ThrottlingException","message":"Too many requests"})",
       "retry_after"},
      // Azure
      {400, R"({"error":{"code":"content_filter","message":"The response was filtered"}})",
       "content_filter"},
      // vLLM
      {400,
       R"({"object":"error","type":"BadRequestError","param":"input_tokens","code":400,"message":"This model's maximum context length is 8192 tokens. However, you requested 1000 output tokens and your prompt contains at least 7300 input tokens, for a total of at least 8300 tokens."})",
       "context_overflow"},
      {400,
       bad("You passed 9000 input tokens and requested 100 output tokens. However, the model's "
           "context length is only 8192 tokens"),
       "context_overflow"},
      // OpenRouter
      {400,
       R"({"error":{"code":400,"message":"This endpoint's maximum context length is 1000 tokens. However, you requested about 1700 tokens (500 of text input, 200 of tool input, 1000 in the output)."}})",
       "context_overflow"},
      {502,
       R"({"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"{\\\"error\\\":{\\\"message\\\":\\\"prompt is too long: 9 tokens > 8 maximum\\\"}}\"}}"}}})",
       "context_overflow"},
      {0, R"({"error":{"code":429,"message":"Provider returned error"}})", "retry_after"},
      {0, R"({"error":{"code":"502","message":"x"},"choices":[]})", "overloaded"},
      {200, R"({"error":{"code":402,"message":"Insufficient credits"}})", "quota_terminal"},
      // xAI, Groq, Mistral
      {400,
       bad("This model's maximum prompt length is 131072 but the request contains 140000 "
           "tokens."),
       "context_overflow"},
      {400, bad("Please reduce the length of the messages or completion."), "context_overflow"},
      {400,
       bad("Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 "
           "maximum "
           "context length"),
       "context_overflow"},
      {413,
       R"({"error":{"message":"Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 12000, please reduce your message size","type":"tokens","code":"rate_limit_exceeded"}})",
       "request_too_large"},
      // llama.cpp, LM Studio, Copilot, MiniMax, Kimi
      {400,
       R"({"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}})",
       "context_overflow"},
      {500, "the tokens to keep are greater than the context length", "context_overflow"},
      {400, bad("prompt token count of 70000 exceeds the limit of 64000"), "context_overflow"},
      {400, bad("invalid params, context window exceeds limit"), "context_overflow"},
      {400, bad("Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)"),
       "context_overflow"},
      {400, bad("total message size 5000000 exceeds limit 4194304"), "request_too_large"},
      {503, R"({"error":{"message":"Loading model","type":"unavailable_error"}})", "overloaded"},
      // Cerebras
      {400,
       R"({"message":"Invalid JSON: lone leading surrogate in hex escape","code":"wrong_api_format"})",
       "bad_encoding"},
      // DeepSeek and others
      {400, bad("The `reasoning_text` in the thinking mode must be passed back to the API."),
       "bad_signature"},
      {400,
       bad("messages[4].tool_calls[0].id must be unique within the request; first seen at "
           "messages[2]"),
       "bad_transcript"},
      {422, R"({"detail":[{"loc":["body"],"msg":"field required"}]})", "bad_request"},
      // Nothing known
      {400, "", "bad_request"},
      {413, "", "request_too_large"},
      {418, "{}", "bad_request"},
      {500, "", "overloaded"},
      {0, "", "unknown"},
      {0, R"({"type":"error","code":"new_code","message":"new words"})", "unknown"},
      {200, "nothing known", "not_an_answer"},
  };
  for (const Row& row : rows) EXPECT_EQ(fault_for(row.status, row.body), row.fault) << row.body;
}

TEST(ClassifyFault, OverflowTextsTeachTheirNumbers) {
  struct Row {
    std::string body;
    std::int64_t window;
    std::int64_t prompt;
    bool from_output;
  };
  const auto bad = [](std::string_view text) { return error_body("invalid_request_error", text); };
  const Row rows[] = {
      {bad("prompt is too long: 210000 tokens > 200000 maximum"), 200000, 210000, false},
      {bad("exceed context limit: 190000 + 20000 > 200000, decrease"), 200000, 190000, true},
      {bad("exceed context limit: 210000 + 20000 > 200000, decrease"), 200000, 210000, false},
      {bad("The input token count (1200000) exceeds the maximum number of tokens allowed "
           "(1048576)."),
       1048576, 1200000, false},
      {bad("The input token count exceeds the maximum number of tokens allowed 1048576."), 1048576,
       0, false},
      {bad("This model's maximum context length is 8192 tokens. However, you requested 1000 output "
           "tokens and your prompt contains at least 7300 input tokens"),
       8192, 7300, true},
      {bad("You passed 9000 input tokens and requested 100 output tokens. However, the model's "
           "context length is only 8192"),
       8192, 9000, false},
      {bad("maximum context length is 1000 tokens. However, you requested about 1700 tokens (500 "
           "of "
           "text input, 200 of tool input, 1000 in the output)"),
       1000, 700, true},
      {bad("maximum context length is 8,192 tokens. However, your messages resulted in 9,001 "
           "tokens."),
       8192, 9001, false},
      {bad("maximum context length is 4097 tokens, however you requested 5000 tokens (4000 in your "
           "prompt; 1000 for the completion)"),
       4097, 4000, true},
      {bad("maximum prompt length is 131072 but the request contains 140000 tokens"), 131072,
       140000, false},
      {bad("Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 "
           "maximum "
           "context length"),
       32768, 65673, false},
      {bad("prompt token count of 70000 exceeds the limit of 64000"), 64000, 70000, false},
      {bad("exceeded model token limit: 8192 (requested: 9000)"), 8192, 9000, false},
      {bad("context window exceeds limit"), 0, 0, false},
      {R"({"error":{"type":"exceed_context_size_error","message":"too much","n_prompt_tokens":5000,"n_ctx":4096}})",
       4096, 5000, false},
  };
  for (const Row& row : rows) {
    const Error error = classified(400, row.body, {{"x-request-id", "req_1"}});
    const Overflow* overflow = error.detail_if<Overflow>();
    ASSERT_TRUE(overflow) << row.body;
    EXPECT_EQ(overflow->window, row.window) << row.body;
    EXPECT_EQ(overflow->prompt_tokens, row.prompt) << row.body;
    EXPECT_EQ(overflow->from_output, row.from_output) << row.body;
    EXPECT_EQ(overflow->provider, "acme");
    EXPECT_EQ(overflow->model, "m1");
    EXPECT_EQ(overflow->status, 400);
    EXPECT_EQ(overflow->request_id, "req_1");
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
  }
}

TEST(ClassifyFault, AnEmptyBodyIsAnOverflowOnlyNearTheWindow) {
  for (const int status : {400, 413}) {
    FaultSource who{.provider = "cerebras", .model = "m", .prompt_tokens = 7900};
    who.context_tokens = 8192;
    EXPECT_EQ(fault_name(classified(status, "", {}, who)), "context_overflow");
    who.prompt_tokens = 4000;
    EXPECT_NE(fault_name(classified(status, "", {}, who)), "context_overflow");
    who.prompt_tokens = 0;
    EXPECT_NE(fault_name(classified(status, "", {}, who)), "context_overflow");
    who.prompt_tokens = 7900;
    EXPECT_NE(fault_name(classified(status, "{\"message\":\"other\"}", {}, who)),
              "context_overflow");
    who.context_tokens = 0;
    EXPECT_NE(fault_name(classified(status, "", {}, who)), "context_overflow");
  }
}

TEST(ClassifyFault, SaysWhoAnsweredWhatAndTheFix) {
  const FaultSource who{.provider = "acme", .model = "m1", .key_env = "ACME_API_KEY"};
  const Error error = classified(
      401, R"({"error":{"code":"invalid_api_key","message":"Wrong\nkey"},"request_id":"req_b"})",
      {}, who);
  EXPECT_EQ(error.message(), "acme/m1 answered 401: Wrong key");
  EXPECT_EQ(error.fix(), "check the key in ACME_API_KEY");
  EXPECT_EQ(error.detail_if<Provider>()->code, "invalid_api_key");
  EXPECT_EQ(error.detail_if<Provider>()->request_id, "req_b");
  EXPECT_EQ(classified(0, R"({"type":"error","code":"server_error","message":"Oh"})").message(),
            "acme/m1 broke its answer off: Oh");
}

TEST(ClassifyFault, ALostResponseHasItsCodeHoweverItIsTold) {
  for (const char* body :
       {R"({"error":{"type":"invalid_request_error","code":"previous_response_not_found"}})",
        R"({"error":{"message":"Previous response with id 'resp_1' not found."}})"}) {
    const Error error = classified(400, body);
    EXPECT_EQ(error.detail_if<Provider>()->code, "previous_response_not_found") << body;
  }
}

TEST(ClassifyFault, TheInnermostMessageIsTheOneForPeople) {
  const Error error = classified(
      400,
      R"({"error":{"message":"upstream: {\"error\":{\"message\":\"{\\\"message\\\":\\\"deep\\\"}\"}}"}})");
  EXPECT_EQ(error.message(), "acme/m1 answered 400: deep");
}

TEST(ClassifyFault, ARedirectIsNotFollowedAndNamesItsHost) {
  const Error error =
      classified(307, "", {{"Location", "https://user:pw@other.example:8443/v1/x?key=1"}});
  EXPECT_EQ(fault_name(error), "not_an_answer");
  EXPECT_EQ(error.message(),
            "acme/m1 answered 307 and sends us to other.example:8443: no redirect is followed");
  EXPECT_FALSE(is_retryable(error));
  EXPECT_EQ(classified(302, "", {{"Location", "/login"}}).message(),
            "acme/m1 answered 302 and sends us elsewhere: no redirect is followed");
}

TEST(ClassifyFault, AProxyThatWantsAPasswordIsNamed) {
  const Error error = classified(407, "<html><title>Proxy</title></html>");
  EXPECT_EQ(fault_name(error), "forbidden");
  EXPECT_NE(error.message().find("the proxy wants a name and a password"), std::string::npos);
  EXPECT_NE(error.fix().find("HTTPS_PROXY"), std::string::npos);
}

TEST(ClassifyFault, AWebPageIsNeverAnAnswer) {
  const std::string page =
      "\xEF\xBB\xBF\n <!DOCTYPE html><html><head><title>\nWelcome to the hotel\n</title></head>"
      "<body>rate limit, context_length_exceeded</body></html>";
  const Error error = classified(200, page);
  EXPECT_EQ(fault_name(error), "not_an_answer");
  EXPECT_EQ(error.message(), "acme/m1 answered 200: a web page, \"Welcome to the hotel\"");
  EXPECT_EQ(fault_for(400, page), "not_an_answer");
  EXPECT_EQ(fault_for(502, page), "overloaded");
  EXPECT_EQ(fault_for(524, page), "timeout");
  EXPECT_EQ(fault_for(429, page), "retry_after");
  EXPECT_EQ(fault_for(404, page), "not_found");
}

TEST(ClassifyFault, TheKeyIsInNothingThatIsToldOn) {
  const Secret key("sk-very-secret-key-0123456789");
  const FaultSource who{.provider = "acme", .model = "m1", .key = &key};
  // Where the text is cut, half a key would stay.
  for (std::size_t before = 560; before < 610; ++before) {
    const std::string text = std::string(before, 'x') + key.reveal() + " and more";
    const Error error =
        classified(400, error_body(key.reveal(), text), {{"x-request-id", key.reveal()}}, who);
    EXPECT_EQ(print_json(to_json(error)).find("sk-very"), std::string::npos) << before;
  }
  for (std::size_t before = 2000; before < 2060; ++before) {
    const Error error =
        classified(500, std::string(before, 'x') + key.reveal() + std::string(90, 'y'), {}, who);
    EXPECT_EQ(print_json(to_json(error)).find("sk-very"), std::string::npos) << before;
  }
}

TEST(ClassifyFault, TheBodyIsKeptUpToTwoKibibytes) {
  EXPECT_EQ(classified(500, "plain words").detail_if<Provider>()->body, "plain words");
  const Error large = classified(500, std::string(100 << 20, '\xff'));
  EXPECT_LE(large.detail_if<Provider>()->body.size(), 2048u);
  EXPECT_LT(large.message().size(), 1000u);
}

TEST(ClassifyFault, RequestIdsComeFromHeadersAndBodies) {
  const auto id = [](std::vector<HttpHeader> headers, std::string_view body) {
    return classified(500, body, std::move(headers)).detail_if<Provider>()->request_id;
  };
  EXPECT_EQ(id({{"X-Request-Id", "a"}}, ""), "a");
  EXPECT_EQ(id({{"Request-Id", "b"}}, ""), "b");
  EXPECT_EQ(id({}, R"({"type":"error","error":{"message":"x"},"request_id":"c"})"), "c");
  EXPECT_EQ(id({}, "{}"), "");
}

TEST(ClassifyFault, WhatTheProviderSaysAboutRetryingIsKept) {
  const auto said = [](int status, std::string_view body, std::string value) {
    return classified(status, body, {{"x-should-retry", std::move(value)}});
  };
  EXPECT_EQ(said(500, "", "false").detail_if<Provider>()->should_retry, false);
  EXPECT_EQ(said(400, "", "true").detail_if<Provider>()->should_retry, true);
  EXPECT_EQ(said(500, "", "maybe").detail_if<Provider>()->should_retry, std::nullopt);
  EXPECT_FALSE(is_retryable(said(500, "", "false")));
  EXPECT_TRUE(is_retryable(said(409, "", "true")));
  // No wait fills an account.
  EXPECT_FALSE(is_retryable(said(429, R"({"error":{"code":"insufficient_quota"}})", "true")));
}

TEST(ClassifyFault, HostileBodiesAreBoundedAndNeverFatal) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"error\":";
  EXPECT_EQ(fault_for(500, deep), "overloaded");
  std::string nested = R"({"error":{"message":"rate limit"}})";
  for (int i = 0; i < 10; ++i) {
    nested = print_json(
        Json::object({{"error", Json::object({{"message", std::string_view(nested)}})}}));
  }
  EXPECT_EQ(fault_for(400, nested), "bad_request");
  EXPECT_EQ(fault_for(500, "[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]"), "overloaded");
  EXPECT_EQ(fault_for(400, R"({"error":null,"message":7,"code":{},"details":[1,null,[]]})"),
            "bad_request");
  EXPECT_EQ(fault_for(0, R"({"error":{"code":99999999999999999999,"message":["a"]}})"), "unknown");
}

}  // namespace
}  // namespace tug
