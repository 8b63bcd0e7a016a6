// What is known about models, row by row, from three layers: what is built in, what `tug models
// update` wrote, what the user's configuration says. A later layer wins field by field.
//
// Any thread once built.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tug/core/error.h"
#include "tug/core/wire_profile.h"
#include "tug/model/profile.h"

namespace tug {

struct CatalogueRow {
  std::string provider;
  std::string id;          // a name, or a pattern with "*"; empty: all of the provider
  std::optional<Api> api;  // where it is not the provider's own
  std::optional<std::int64_t> context;
  std::optional<std::int64_t> max_output;
  std::optional<Price> price;                    // field by field; tiers as a whole
  std::optional<std::vector<std::string>> caps;  // tools parallel_tools vision reasoning structured
                                                 // streaming streaming_tools
  std::optional<std::vector<std::string>> efforts;
  std::optional<std::vector<std::string>> drop_params;
  std::optional<std::vector<std::string>> quirks;
  std::optional<ModelStatus> status;
  std::string as_of;   // "2026-11-15"
  std::string source;  // where the facts are from
};

// One field of a model and who said it.
struct CatalogueField {
  std::string field;  // "context"
  std::string value;  // for people
  std::string layer;  // "built in", "models.json", ".tug/config.toml"
  std::string as_of;
};

class Catalogue {
 public:
  virtual ~Catalogue() = default;
  // Later layers win. Not while others read.
  virtual void add_layer(std::string name, std::vector<CatalogueRow> rows) = 0;
  // What is known about a model; one that nobody knows has neither window nor price. The name may
  // carry a date or a tag ("gpt-5.4-2026-03-01"): the longest row that it begins with counts.
  virtual ModelProfile profile(std::string_view provider, std::string_view name) const = 0;
  virtual std::vector<CatalogueField> explain(std::string_view provider,
                                              std::string_view name) const = 0;
  // Every model that has a row of its own, by provider and id.
  virtual std::vector<ModelProfile> all() const = 0;
};

// With the rows that are built in.
std::shared_ptr<Catalogue> make_catalogue();
std::vector<CatalogueRow> built_in_rows();

// Reads the published lists of models.dev ({provider: {models: {id: ..}}}) and of OpenRouter
// ({data: [{id, context_length, pricing}]}). `invalid` for anything else, naming the place. At most
// 64 MB and 100,000 models.
Result<std::vector<CatalogueRow>> read_model_list(std::string_view json);

}  // namespace tug
