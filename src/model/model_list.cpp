// The published lists of models, and the file that keeps rows of our own.
#include <algorithm>
#include <utility>

#include "core/decimal.h"
#include "core/try.h"
#include "tug/core/codec.h"
#include "tug/core/enum_names.h"
#include "tug/core/utf8.h"
#include "tug/model/catalogue.h"

namespace tug {
namespace {

constexpr std::size_t kMaxBytes = 64u << 20;
constexpr std::size_t kMaxModels = 100'000;
constexpr std::size_t kMaxName = 256;
constexpr std::int64_t kMaxTokens = std::int64_t{1} << 53;

Failure refuse(const std::string& place, std::string what) {
  return fail(ErrorKind::invalid, std::string(clip_utf8(place, 400)) + ": " + std::move(what),
              "give the api.json of models.dev, or what OpenRouter's /models answers");
}

std::string shown(const Json& value) { return std::string(clip_utf8(print_json(value), 60)); }

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && std::ranges::none_of(name, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

// A number of tokens; some lists write 0 or null for what they do not know.
Result<std::optional<std::int64_t>> count_at(const Json& value, const std::string& place) {
  if (value.is_null()) return std::optional<std::int64_t>();
  const auto count = value.as_int();
  if (!count || *count < 0 || *count > kMaxTokens)
    return refuse(place, shown(value) + " is not a number of tokens");
  return *count == 0 ? std::optional<std::int64_t>() : count;
}

// Pico-dollars per token of a number of dollars per 10^`per` tokens; what is finer than that is
// cut off. Below zero stands for "it depends".
Result<std::optional<std::int64_t>> rate_at(const Json& value, int per, const std::string& place) {
  if (value.is_null()) return std::optional<std::int64_t>();
  Json number = value;
  if (value.is_string()) {
    auto read = Json::number(value.as_string());
    if (!read) return refuse(place, shown(value) + " is not a price");
    number = *read;
  }
  if (!number.is_number()) return refuse(place, shown(value) + " is not a price");
  const detail::Decimal decimal = detail::written_decimal_of(number);
  if (decimal.negative) return std::optional<std::int64_t>();
  constexpr std::int64_t kMostDigits = 14;  // a hundred dollars per token
  const std::int64_t digits = decimal.exponent + 12 - per;
  if (decimal.digits.empty() || digits <= 0) return std::optional<std::int64_t>(0);
  if (digits > kMostDigits) return refuse(place, shown(value) + " is not a price");
  std::int64_t rate = 0;
  for (std::int64_t i = 0; i < digits; ++i) {
    const auto at = static_cast<std::size_t>(i);
    rate = rate * 10 + (at < decimal.digits.size() ? decimal.digits[at] - '0' : 0);
  }
  return std::optional(rate);
}

bool holds(const Json& list, std::string_view word) {
  return std::ranges::any_of(list.items(),
                             [&](const Json& item) { return item.as_string() == word; });
}

// What a model takes beside text.
void add_inputs(std::vector<std::string>& caps, const Json& inputs) {
  if (holds(inputs, "image")) caps.emplace_back("vision");
  if (holds(inputs, "audio")) caps.emplace_back("audio");
  if (holds(inputs, "video")) caps.emplace_back("video");
  if (holds(inputs, "pdf") || holds(inputs, "file")) caps.emplace_back("document");
}

void add_tools(std::vector<std::string>& caps) {
  caps.insert(caps.end(), {"tools", "parallel_tools", "streaming_tools"});
}

// The names that others have for our providers.
std::string provider_name(std::string_view name) {
  if (name == "google") return "gemini";
  if (name == "togetherai") return "together";
  return std::string(name);
}

// --- models.dev

constexpr int kPerMillion = 6;

Result<std::optional<Price>> listed_price(const Json& cost, const std::string& place) {
  if (!cost.is_object()) return std::optional<Price>();
  Price price;
  TUG_TRY(input, rate_at(cost["input"], kPerMillion, place + ".input"));
  TUG_TRY(output, rate_at(cost["output"], kPerMillion, place + ".output"));
  TUG_TRY(cache_read, rate_at(cost["cache_read"], kPerMillion, place + ".cache_read"));
  TUG_TRY(cache_write, rate_at(cost["cache_write"], kPerMillion, place + ".cache_write"));
  price = {input, output, cache_read, cache_write, {}, {}};
  if (const Json* large = cost.find("context_over_200k"); large && large->is_object()) {
    const std::string there = place + ".context_over_200k";
    TUG_TRY(tier_in, rate_at((*large)["input"], kPerMillion, there + ".input"));
    TUG_TRY(tier_out, rate_at((*large)["output"], kPerMillion, there + ".output"));
    TUG_TRY(tier_read, rate_at((*large)["cache_read"], kPerMillion, there + ".cache_read"));
    TUG_TRY(tier_write, rate_at((*large)["cache_write"], kPerMillion, there + ".cache_write"));
    price.tiers.push_back({200'000, tier_in, tier_out, tier_read, tier_write});
  }
  return price == Price() ? std::optional<Price>() : std::optional(price);
}

Result<CatalogueRow> listed_row(std::string_view provider, std::string_view id, const Json& model,
                                const std::string& place) {
  if (!model.is_object()) return refuse(place, "expected an object, got " + shown(model));
  CatalogueRow row{.provider = provider_name(provider), .id = std::string(id)};
  TUG_TRY(context, count_at(model["limit"]["context"], place + ".limit.context"));
  TUG_TRY(max_output, count_at(model["limit"]["output"], place + ".limit.output"));
  TUG_TRY(price, listed_price(model["cost"], place + ".cost"));
  row.context = context;
  row.max_output = max_output;
  row.price = price;
  row.caps = {{"streaming"}};
  if (model["tool_call"].as_bool()) add_tools(*row.caps);
  if (model["reasoning"].as_bool()) row.caps->emplace_back("reasoning");
  if (model["structured_output"].as_bool()) row.caps->emplace_back("structured");
  add_inputs(*row.caps, model["modalities"]["input"]);
  if (const Json* warm = model.find("temperature"); warm && warm->is_bool() && !warm->as_bool())
    row.drop_params = {{"temperature", "top_p"}};
  const std::string_view status = model["status"].as_string();
  if (status == "deprecated") row.status = ModelStatus::deprecated;
  if (status == "alpha" || status == "beta") row.status = ModelStatus::preview;
  row.source = "models.dev";
  return row;
}

Result<void> add_row(std::vector<CatalogueRow>& rows, Result<CatalogueRow> row) {
  if (!row) return Failure(row.error());
  if (rows.size() == kMaxModels)
    return refuse("the list", "more than " + std::to_string(kMaxModels) + " models");
  rows.push_back(*std::move(row));
  return {};
}

Result<std::vector<CatalogueRow>> read_models_dev(const Json& list) {
  std::vector<CatalogueRow> rows;
  for (const Json::Member& provider : list.members()) {
    const std::string at = "$." + std::string(provider.key());
    const Json* models = provider.value.find("models");
    if (!models || !models->is_object())
      return refuse(at, "expected an object with \"models\", got " + shown(provider.value));
    if (!is_name(provider.key())) return refuse(at, "that is no name of a provider");
    for (const Json::Member& model : models->members()) {
      const std::string place = at + ".models." + std::string(model.key());
      if (!is_name(model.key())) return refuse(place, "that is no name of a model");
      TUG_TRY(added, add_row(rows, listed_row(provider.key(), model.key(), model.value, place)));
    }
  }
  return rows;
}

// --- OpenRouter

constexpr int kPerToken = 0;

Result<CatalogueRow> routed_row(const Json& model, const std::string& place) {
  if (!model.is_object()) return refuse(place, "expected an object, got " + shown(model));
  if (!is_name(model["id"].as_string())) return refuse(place + ".id", "that is no name of a model");
  CatalogueRow row{.provider = "openrouter", .id = std::string(model["id"].as_string())};
  TUG_TRY(context, count_at(model["context_length"], place + ".context_length"));
  TUG_TRY(most, count_at(model["top_provider"]["max_completion_tokens"],
                         place + ".top_provider.max_completion_tokens"));
  row.context = context;
  row.max_output = most;
  const Json& pricing = model["pricing"];
  const std::string priced = place + ".pricing";
  TUG_TRY(input, rate_at(pricing["prompt"], kPerToken, priced + ".prompt"));
  TUG_TRY(output, rate_at(pricing["completion"], kPerToken, priced + ".completion"));
  TUG_TRY(cache_read,
          rate_at(pricing["input_cache_read"], kPerToken, priced + ".input_cache_read"));
  TUG_TRY(cache_write,
          rate_at(pricing["input_cache_write"], kPerToken, priced + ".input_cache_write"));
  const Price price{input, output, cache_read, cache_write, {}, {}};
  if (price != Price()) row.price = price;
  row.caps = {{"streaming"}};
  if (const Json* takes = model.find("supported_parameters"); takes && takes->is_array()) {
    if (holds(*takes, "tools")) add_tools(*row.caps);
    if (holds(*takes, "reasoning") || holds(*takes, "include_reasoning"))
      row.caps->emplace_back("reasoning");
    if (holds(*takes, "structured_outputs")) row.caps->emplace_back("structured");
    std::vector<std::string> refused;
    for (const char* parameter : {"temperature", "top_p"}) {
      if (!holds(*takes, parameter)) refused.emplace_back(parameter);
    }
    if (!refused.empty()) row.drop_params = std::move(refused);
  } else {
    row.caps.reset();
  }
  if (row.caps) add_inputs(*row.caps, model["architecture"]["input_modalities"]);
  row.source = "OpenRouter";
  return row;
}

Result<std::vector<CatalogueRow>> read_openrouter(const Json& data) {
  std::vector<CatalogueRow> rows;
  for (const Json& model : data.items()) {
    TUG_TRY(added, add_row(rows, routed_row(model, "$.data[" + std::to_string(rows.size()) + "]")));
  }
  return rows;
}

// --- our own file

struct WrittenRow {
  std::string provider;
  std::string id;
  std::optional<std::string> api;
  std::optional<std::int64_t> context;
  std::optional<std::int64_t> max_output;
  std::optional<Price> price;
  std::optional<std::vector<std::string>> caps;
  std::optional<std::vector<std::string>> efforts;
  std::optional<std::vector<std::string>> drop_params;
  std::optional<std::vector<std::string>> quirks;
  std::optional<ModelStatus> status;
  std::optional<std::string> as_of;
  std::optional<std::string> source;
};

struct WrittenRows {
  std::vector<WrittenRow> models;
};

std::optional<std::string> said(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

Result<std::optional<Api>> read_api(const std::optional<std::string>& name) {
  if (!name) return std::optional<Api>();
  for (const Api api : {Api::openai_chat, Api::openai_responses, Api::anthropic, Api::gemini}) {
    if (name_of(api) == *name) return std::optional(api);
  }
  return fail(ErrorKind::invalid, "\"" + std::string(clip_utf8(*name, 60)) + "\" is not an API",
              "the APIs are openai-chat, openai-responses, anthropic and gemini");
}

}  // namespace

Result<std::vector<CatalogueRow>> read_model_list(std::string_view json) {
  if (json.size() > kMaxBytes) return refuse("the list", "more than 64 MB");
  TUG_TRY(list, parse_json(json));
  if (!list.is_object()) return refuse("$", "expected an object, got " + shown(list));
  if (const Json* data = list.find("data"); data && data->is_array()) return read_openrouter(*data);
  if (list.empty()) return refuse("$", "there is nothing in it");
  return read_models_dev(list);
}

std::string print_rows(const std::vector<CatalogueRow>& rows) {
  WrittenRows written;
  written.models.reserve(rows.size());
  for (const CatalogueRow& row : rows) {
    written.models.push_back(
        {row.provider, row.id,
         row.api ? std::optional<std::string>(name_of(*row.api)) : std::nullopt, row.context,
         row.max_output, row.price, row.caps, row.efforts, row.drop_params, row.quirks, row.status,
         said(row.as_of), said(row.source)});
  }
  return print_json(write_json(written)) + "\n";
}

Result<std::vector<CatalogueRow>> read_rows(std::string_view json) {
  if (json.size() > kMaxBytes)
    return fail(ErrorKind::invalid, "the rows are more than 64 MB", "write them anew");
  TUG_TRY(parsed, parse_json(json));
  TUG_TRY(written, read_json<WrittenRows>(parsed));
  std::vector<CatalogueRow> rows;
  rows.reserve(written.models.size());
  for (WrittenRow& row : written.models) {
    auto api = read_api(row.api);
    if (!api)
      return Failure(api.error().within("$.models[" + std::to_string(rows.size()) + "].api"));
    rows.push_back({std::move(row.provider), std::move(row.id), *api, row.context, row.max_output,
                    std::move(row.price), std::move(row.caps), std::move(row.efforts),
                    std::move(row.drop_params), std::move(row.quirks), row.status,
                    row.as_of.value_or(""), row.source.value_or("")});
  }
  return rows;
}

}  // namespace tug
