#include "catalogue.h"

#include <unistd.h>

#include "core/try.h"
#include "providers.h"
#include "tug/core/nearest.h"

namespace tug::cli {
namespace {

std::optional<std::vector<std::string>> words(const Json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<std::string> all;
  for (const Json& word : list.items()) all.emplace_back(word.as_string());
  return all;
}

std::optional<ModelStatus> status_from(std::string_view name) {
  for (const ModelStatus status :
       {ModelStatus::active, ModelStatus::preview, ModelStatus::deprecated, ModelStatus::retired}) {
    if (name_of(status) == name) return status;
  }
  return std::nullopt;
}

std::optional<Api> api_from(std::string_view name) {
  for (const Api api : {Api::openai_chat, Api::openai_responses, Api::anthropic, Api::gemini}) {
    if (name_of(api) == name) return api;
  }
  return std::nullopt;
}

// The members of a table that are set, as JSON.
Json set_members(const Config& config, const std::string& table,
                 std::initializer_list<const char*> keys) {
  Json object = Json::object();
  for (const char* key : keys) {
    const Json& value = config.value(table + key);
    if (!value.is_null()) object.set(key, value);
  }
  return object;
}

Result<std::optional<Price>> price_of(const Config& config, const std::string& row) {
  const std::string table = row + "price.";
  Json price =
      set_members(config, table, {"in", "out", "cache_read", "cache_write", "cache_write_1h"});
  Json tiers = Json::array();
  for (std::size_t i = 0; i < config.rows(table + "tiers"); ++i) {
    tiers.push_back(set_members(config, table + "tiers[" + std::to_string(i) + "].",
                                {"above", "in", "out", "cache_read", "cache_write"}));
  }
  if (!tiers.empty()) price.set("tiers", std::move(tiers));
  if (price.empty()) return std::optional<Price>();
  auto read = JsonForm<Price>::read(price);
  if (!read) return Failure(read.error().within(config.source(table)));
  return std::optional(*read);
}

Result<void> check_caps(const Config& config, const std::string& row, const CatalogueRow& of) {
  if (!of.caps) return {};
  constexpr std::string_view kCaps[] = {
      "tools",     "parallel_tools",  "vision", "reasoning", "structured",
      "streaming", "streaming_tools", "audio",  "video",     "document"};
  for (const std::string& cap : *of.caps) {
    if (is_capability(cap)) continue;
    const std::string near(nearest_name(cap, kCaps));
    std::string all;
    for (std::string_view each : kCaps) all += (all.empty() ? "" : ", ") + std::string(each);
    return fail(ErrorKind::invalid,
                config.source(row + "caps") + ": caps: \"" + cap.substr(0, 60) +
                    "\" is nothing that a model can do",
                near.empty() ? "there are " + all : "did you mean \"" + near + "\"?");
  }
  return {};
}

Result<CatalogueRow> row_of(const Config& config, const std::string& row) {
  CatalogueRow of{.provider = config.text(row + "provider"), .id = config.text(row + "id")};
  if (of.provider.empty()) {
    return fail(ErrorKind::invalid,
                config.source(row) + ": the row of [[models]] names no provider",
                "add provider = \"..\" to every row");
  }
  of.api = api_from(config.text(row + "api"));
  of.context = config.value(row + "context").as_int();
  of.max_output = config.value(row + "max_output").as_int();
  TUG_TRY(price, price_of(config, row));
  of.price = price;
  of.caps = words(config.value(row + "caps"));
  TUG_TRY(caps, check_caps(config, row, of));
  of.efforts = words(config.value(row + "efforts"));
  of.drop_params = words(config.value(row + "drop_params"));
  of.quirks = words(config.value(row + "quirks"));
  of.status = status_from(config.text(row + "status"));
  return of;
}

struct PlacedRow {
  std::string place;
  CatalogueRow row;
};

Result<std::vector<PlacedRow>> configured_rows(const Config& config) {
  std::vector<PlacedRow> rows;
  for (std::size_t i = 0; i < config.rows("models"); ++i) {
    const std::string row = "models[" + std::to_string(i) + "].";
    TUG_TRY(of, row_of(config, row));
    rows.push_back({config.source(row), of});
  }
  return rows;
}

Result<void> add_written(Catalogue& catalogue, const Options& options) {
  const auto folder = state_folder(options);
  if (!folder) return {};  // whoever needs it says so
  const std::string path = *folder + "/" + std::string(kModelsFile);
  if (access(path.c_str(), F_OK) != 0) return {};
  TUG_TRY(text, read_input(path));
  auto rows = read_rows(text);
  if (!rows) {
    return Failure(rows.error().within(path).with_fix(
        "remove it, or write it anew with `tug models update --from FILE`"));
  }
  catalogue.add_layer(path, *std::move(rows));
  return {};
}

Result<std::shared_ptr<Catalogue>> catalogue_of(const Options& options,
                                                const std::vector<PlacedRow>& rows) {
  auto catalogue = make_catalogue();
  TUG_TRY(written, add_written(*catalogue, options));
  for (const PlacedRow& each : rows) catalogue->add_layer(each.place, {each.row});
  return catalogue;
}

// Rows about models that are made without the catalogue.
void override_with(Models& models, const CatalogueRow& row) {
  if (row.provider != "script" && row.provider != "offline") return;
  models.override_with({row.provider, row.id, row.context, row.max_output, row.price, row.caps,
                        row.efforts, row.drop_params, row.status});
}

}  // namespace

Result<std::shared_ptr<Catalogue>> configured_catalogue(const Options& options,
                                                        const Config& config) {
  TUG_TRY(rows, configured_rows(config));
  return catalogue_of(options, rows);
}

Result<ConfiguredModels> configured_models(const Options& options, const Config& config,
                                           std::string_view model, Keys keys) {
  TUG_TRY(rows, configured_rows(config));
  TUG_TRY(catalogue, catalogue_of(options, rows));
  TUG_TRY(providers, configured_providers(config, model));
  if (keys == Keys::left_out) {
    for (ProviderConfig& provider : providers) {
      provider.needs_key = false;
      provider.reload_key = nullptr;
    }
  }
  ConfiguredModels configured{catalogue, make_models(), providers};
  for (const PlacedRow& each : rows) override_with(*configured.models, each.row);
  add_providers(*configured.models, catalogue,
                make_http_client({.proxy = config.text("http.proxy")}), providers);
  return configured;
}

}  // namespace tug::cli
