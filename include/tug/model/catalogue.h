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
  std::optional<std::vector<std::string>> caps;  // all that it can do: tools parallel_tools vision
                                                 // reasoning structured streaming streaming_tools,
                                                 // and of what it takes: audio video document
  std::optional<std::vector<std::string>> efforts;
  std::optional<std::vector<std::string>> drop_params;
  std::optional<std::vector<std::string>> quirks;
  std::optional<ModelStatus> status;
  std::string as_of;   // "2026-11-15"
  std::string source;  // where the facts are from
};

// Whether `word` may stand among the caps of a row.
bool is_capability(std::string_view word) noexcept;
// The words that a profile comes to; the other way round.
std::vector<std::string> caps_of(const ModelProfile& profile);
void set_caps(ModelProfile& profile, const std::vector<std::string>& caps);

// One field of a model and who said it.
struct CatalogueField {
  std::string field;   // "context"
  std::string value;   // for people; "unknown" when nobody said it
  std::string layer;   // "built in", "models.json", ".tug/config.toml"; empty when nobody said it
  std::string as_of;   // of the row
  std::string source;  // of the row
  friend bool operator==(const CatalogueField&, const CatalogueField&) = default;
};

class Catalogue {
 public:
  virtual ~Catalogue() = default;
  // Later layers win; within one, the row that names a model beats a pattern, the longer pattern
  // the shorter one, a row of the provider `openai` those that `openai-chat` and `azure` do not
  // have. Not while others read.
  virtual void add_layer(std::string name, std::vector<CatalogueRow> rows) = 0;
  // What is known about a model; one that nobody knows has neither window nor price. The name may
  // carry a date or a tag ("gpt-5.4-2026-03-01"): the longest row that it begins with counts, but
  // for the price of a name with a tag (":free").
  virtual ModelProfile profile(std::string_view provider, std::string_view name) const = 0;
  // Nothing when it is spoken to as its provider is.
  virtual std::optional<Api> api(std::string_view provider, std::string_view name) const = 0;
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

// Rows as a file keeps them, and back: {"models": [{"provider", "id", "context", ..}]} with the
// names of [[models]]. `invalid`, naming the place, for what is no such file.
std::string print_rows(const std::vector<CatalogueRow>& rows);
Result<std::vector<CatalogueRow>> read_rows(std::string_view json);

}  // namespace tug
