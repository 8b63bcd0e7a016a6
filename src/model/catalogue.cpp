#include "tug/model/catalogue.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "model/name_match.h"
#include "tug/core/codec.h"

namespace tug {
namespace {

struct Layer {
  std::string name;
  std::vector<CatalogueRow> rows;
  // By provider, then by id; several rows may say something about one model.
  std::map<std::string, std::map<std::string, std::vector<std::size_t>, std::less<>>, std::less<>>
      named;
  // By provider: patterns and the rows of all its models, from the least telling to the most.
  std::map<std::string, std::vector<std::size_t>, std::less<>> wide;
};

// Whose models a provider serves under the same names.
std::string_view maker_of(std::string_view provider) {
  return provider == "openai-chat" || provider == "azure" ? "openai" : "";
}

// A row that says something about a model.
struct Matched {
  const Layer* layer;
  const CatalogueRow* row;
  bool priced;
};

void match_in(const Layer& layer, std::string_view provider, std::string_view name,
              std::vector<Matched>& found) {
  if (const auto wide = layer.wide.find(provider); wide != layer.wide.end()) {
    for (const std::size_t at : wide->second) {
      const CatalogueRow& row = layer.rows[at];
      if (row.id.empty() || matches_pattern(row.id, name)) found.push_back({&layer, &row, true});
    }
  }
  const auto named = layer.named.find(provider);
  if (named == layer.named.end()) return;
  for (const NameCut& cut : name_cuts(name)) {
    const auto rows = named->second.find(cut.name);
    if (rows == named->second.end()) continue;
    for (const std::size_t at : rows->second)
      found.push_back({&layer, &layer.rows[at], !cut.tagged});
    return;
  }
}

void take(std::optional<std::int64_t>& rate, const std::optional<std::int64_t>& said) {
  if (said) rate = said;
}

void merge(Price& price, const Price& said) {
  take(price.input, said.input);
  take(price.output, said.output);
  take(price.cache_read, said.cache_read);
  take(price.cache_write, said.cache_write);
  take(price.cache_write_1h, said.cache_write_1h);
  if (!said.tiers.empty()) price.tiers = said.tiers;
}

// What all rows come to, and which of them said what.
class Merged {
 public:
  CatalogueRow row;
  std::map<std::string_view, const Matched*> said_by;

  void add(const Matched& from) {
    const CatalogueRow& said = *from.row;
    set("api", row.api, said.api, from);
    set("context", row.context, said.context, from);
    set("max_output", row.max_output, said.max_output, from);
    if (said.price && from.priced) add_price(*said.price, from);
    set("caps", row.caps, said.caps, from);
    set("efforts", row.efforts, said.efforts, from);
    set("drop_params", row.drop_params, said.drop_params, from);
    set("quirks", row.quirks, said.quirks, from);
    set("status", row.status, said.status, from);
  }

 private:
  template <class T>
  void set(std::string_view field, std::optional<T>& to, const std::optional<T>& said,
           const Matched& from) {
    if (!said) return;
    to = said;
    said_by[field] = &from;
  }
  void add_price(const Price& said, const Matched& from) {
    if (!row.price) row.price.emplace();
    merge(*row.price, said);
    if (said.input) said_by["price.in"] = &from;
    if (said.output) said_by["price.out"] = &from;
    if (said.cache_read) said_by["price.cache_read"] = &from;
    if (said.cache_write) said_by["price.cache_write"] = &from;
    if (said.cache_write_1h) said_by["price.cache_write_1h"] = &from;
    if (!said.tiers.empty()) said_by["price.tiers"] = &from;
  }
};

std::string words(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& word : list) out += (out.empty() ? "" : " ") + word;
  return out.empty() ? "none" : out;
}

// Every field with what is known of it, in the order in which they are shown.
std::vector<std::pair<std::string_view, std::string>> values_of(const CatalogueRow& row) {
  const Json price = row.price ? write_json(*row.price) : Json();
  const auto count = [](const std::optional<std::int64_t>& number) {
    return number ? std::to_string(*number) : std::string();
  };
  const auto rate = [&](std::string_view part) {
    const Json* found = price.find(part);
    return found ? print_json(*found) : std::string();
  };
  const auto list = [](const std::optional<std::vector<std::string>>& some) {
    return some ? words(*some) : std::string();
  };
  return {{"api", row.api ? std::string(name_of(*row.api)) : ""},
          {"status", row.status ? std::string(name_of(*row.status)) : ""},
          {"context", count(row.context)},
          {"max_output", count(row.max_output)},
          {"price.in", rate("in")},
          {"price.out", rate("out")},
          {"price.cache_read", rate("cache_read")},
          {"price.cache_write", rate("cache_write")},
          {"price.cache_write_1h", rate("cache_write_1h")},
          {"price.tiers", rate("tiers")},
          {"caps", list(row.caps)},
          {"efforts", list(row.efforts)},
          {"drop_params", list(row.drop_params)},
          {"quirks", list(row.quirks)}};
}

class Layers final : public Catalogue {
 public:
  void add_layer(std::string name, std::vector<CatalogueRow> rows) override {
    auto layer = std::make_unique<Layer>();
    layer->name = std::move(name);
    layer->rows = std::move(rows);
    for (std::size_t at = 0; at < layer->rows.size(); ++at) {
      const CatalogueRow& row = layer->rows[at];
      const bool wide = row.id.empty() || row.id.contains('*');
      if (wide) {
        layer->wide[row.provider].push_back(at);
      } else {
        layer->named[row.provider][row.id].push_back(at);
      }
    }
    for (auto& [provider, places] : layer->wide) {
      std::ranges::sort(places, {},
                        [&](std::size_t at) { return std::pair(layer->rows[at].id.size(), at); });
    }
    layers_.push_back(std::move(layer));
  }

  ModelProfile profile(std::string_view provider, std::string_view name) const override {
    std::vector<Matched> found;
    const CatalogueRow row = merged(provider, name, found).row;
    ModelProfile profile{.provider = std::string(provider), .name = std::string(name)};
    profile.context_tokens = row.context.value_or(0);
    profile.max_output_tokens = row.max_output.value_or(0);
    profile.price = row.price;
    if (row.caps) set_caps(profile, *row.caps);
    profile.status = row.status.value_or(ModelStatus::active);
    profile.efforts = row.efforts.value_or(std::vector<std::string>());
    profile.drop_params = row.drop_params.value_or(std::vector<std::string>());
    profile.quirks = row.quirks.value_or(std::vector<std::string>());
    return profile;
  }

  std::optional<Api> api(std::string_view provider, std::string_view name) const override {
    std::vector<Matched> found;
    return merged(provider, name, found).row.api;
  }

  std::vector<CatalogueField> explain(std::string_view provider,
                                      std::string_view name) const override {
    std::vector<Matched> found;
    const Merged all = merged(provider, name, found);
    std::vector<CatalogueField> fields;
    for (auto& [field, value] : values_of(all.row)) {
      const auto who = all.said_by.find(field);
      if (who == all.said_by.end()) {
        fields.push_back({std::string(field), "unknown", "", "", ""});
        continue;
      }
      const Matched& said = *who->second;
      fields.push_back({std::string(field), std::move(value), said.layer->name, said.row->as_of,
                        said.row->source});
    }
    return fields;
  }

  std::vector<ModelProfile> all() const override {
    std::map<std::string_view, std::map<std::string_view, bool>> seen;
    for (const auto& layer : layers_) {
      for (const auto& [provider, rows] : layer->named) {
        for (const auto& [id, places] : rows) seen[provider][id] = true;
      }
    }
    std::vector<ModelProfile> profiles;
    for (const auto& [provider, ids] : seen) {
      for (const auto& [id, there] : ids) profiles.push_back(profile(provider, id));
    }
    return profiles;
  }

 private:
  // `found` keeps what the answer points to.
  Merged merged(std::string_view provider, std::string_view name,
                std::vector<Matched>& found) const {
    for (const auto& layer : layers_) {
      if (const std::string_view maker = maker_of(provider); !maker.empty())
        match_in(*layer, maker, name, found);
      match_in(*layer, provider, name, found);
    }
    Merged all;
    for (const Matched& each : found) all.add(each);
    return all;
  }

  std::vector<std::unique_ptr<Layer>> layers_;
};

struct Capability {
  std::string_view word;
  bool ModelProfile::* flag;
};
constexpr std::array kFlags = {
    Capability{"tools", &ModelProfile::tools},
    Capability{"parallel_tools", &ModelProfile::parallel_tools},
    Capability{"streaming", &ModelProfile::streaming},
    Capability{"structured", &ModelProfile::structured},
    Capability{"vision", &ModelProfile::vision},
    Capability{"reasoning", &ModelProfile::reasoning},
};
constexpr std::array kTaken = {Modality::audio, Modality::video, Modality::document};

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

bool is_capability(std::string_view word) noexcept {
  return word == "streaming_tools" ||
         std::ranges::find(kFlags, word, &Capability::word) != kFlags.end() ||
         std::ranges::any_of(kTaken, [&](Modality taken) { return name_of(taken) == word; });
}

std::vector<std::string> caps_of(const ModelProfile& profile) {
  std::vector<std::string> caps;
  for (const Capability& each : kFlags) {
    if (profile.*each.flag) caps.emplace_back(each.word);
  }
  for (const Modality taken : kTaken) {
    if (std::ranges::find(profile.input, taken) != profile.input.end())
      caps.emplace_back(name_of(taken));
  }
  return caps;
}

void set_caps(ModelProfile& profile, const std::vector<std::string>& caps) {
  for (const Capability& each : kFlags) profile.*each.flag = has(caps, each.word);
  profile.input = {Modality::text};
  if (profile.vision) profile.input.push_back(Modality::image);
  for (const Modality taken : kTaken) {
    if (has(caps, name_of(taken))) profile.input.push_back(taken);
  }
}

std::shared_ptr<Catalogue> make_catalogue() {
  auto catalogue = std::make_shared<Layers>();
  catalogue->add_layer("built in", built_in_rows());
  return catalogue;
}

}  // namespace tug
