// tug models [show X | update --from FILE]
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>

#include "catalogue.h"
#include "commands.h"
#include "core/try.h"
#include "providers.h"
#include "run_flags.h"
#include "table.h"
#include "tug/core/codec.h"
#include "tug/core/nearest.h"
#include "tug/core/terminal_text.h"

namespace tug::cli {
namespace {

Json list_of(const std::vector<std::string>& words) {
  Json list = Json::array();
  for (const std::string& word : words) list.push_back(word);
  return list;
}

Json number_or_null(std::int64_t number) { return number > 0 ? Json(number) : Json(); }

// What stands between a user and a provider: nothing, or the variable that is not set.
std::string missing_key(const std::vector<ProviderConfig>& providers, std::string_view provider) {
  for (const ProviderConfig& each : providers) {
    if (each.name != provider) continue;
    return each.needs_key && each.key.empty() && !each.reload_key ? each.key_env : "";
  }
  return provider == "offline" || provider == "script"
             ? ""
             : "[providers." + std::string(provider) + "]";
}

struct Listed {
  std::shared_ptr<Catalogue> catalogue;
  std::vector<ProviderConfig> providers;
  std::string model;  // that a run would ask
};

Result<Listed> listed(const Options& options, const ConfigFlags& flags) {
  TUG_TRY(request, config_request(flags));
  TUG_TRY(config, load_config(request));
  TUG_TRY(catalogue, configured_catalogue(options, config));
  TUG_TRY(providers, configured_providers(config, config.text("model")));
  return Listed{catalogue, providers, config.text("model")};
}

Json to_json(const Listed& all, const ModelProfile& profile) {
  const std::string missing = missing_key(all.providers, profile.provider);
  return Json::object({{"model", profile.id()},
                       {"provider", profile.provider},
                       {"id", profile.name},
                       {"status", name_of(profile.status)},
                       {"context", number_or_null(profile.context_tokens)},
                       {"max_output", number_or_null(profile.max_output_tokens)},
                       {"price", profile.price ? write_json(*profile.price) : Json()},
                       {"caps", list_of(caps_of(profile))},
                       {"efforts", list_of(profile.efforts)},
                       {"drop_params", list_of(profile.drop_params)},
                       {"ready", missing.empty()},
                       {"needs", missing.empty() ? Json() : Json(missing)}});
}

std::string tokens(std::int64_t count) {
  if (count <= 0) return "?";
  if (count >= 1'000'000) {
    const std::int64_t tenths = count / 100'000;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + "M";
  }
  return std::to_string(count / 1000) + "k";
}

std::string rate(const Json& price, const char* part) {
  const Json* found = price.find(part);
  return found ? print_json(*found) : "?";
}

std::vector<std::string> line_of(const Listed& all, const ModelProfile& profile) {
  const Json price = profile.price ? write_json(*profile.price) : Json();
  std::string caps;
  for (const std::string& cap : caps_of(profile)) {
    const bool usual = cap == "parallel_tools" || cap == "streaming";
    if (!usual) caps += (caps.empty() ? "" : " ") + cap;
  }
  const std::string missing = missing_key(all.providers, profile.provider);
  const bool active = profile.status == ModelStatus::active;
  return {terminal_text(profile.id()),
          tokens(profile.context_tokens),
          tokens(profile.max_output_tokens),
          rate(price, "in"),
          rate(price, "out"),
          missing.empty() ? "yes" : "needs " + terminal_text(missing),
          (active ? "" : std::string(name_of(profile.status)) + ": ") + terminal_text(caps)};
}

int list(const Options& options, const ConfigFlags& flags) {
  auto all = listed(options, flags);
  if (!all) return report(options, all.error(), unusable);
  const std::vector<ModelProfile> profiles = all->catalogue->all();
  if (options.json()) {
    Json rows = Json::array();
    for (const ModelProfile& profile : profiles) rows.push_back(to_json(*all, profile));
    print(print_json(rows) + "\n");
    return ok;
  }
  std::vector<std::vector<std::string>> rows = {
      {"MODEL", "WINDOW", "OUTPUT", "IN", "OUT", "READY", "CAN"}};
  for (const ModelProfile& profile : profiles) rows.push_back(line_of(*all, profile));
  print(table(rows));
  notice("prices are dollars per million tokens; a run would ask " + all->model);
  return ok;
}

// "claude-opus-5" without its provider, or with one that is not there.
Failure not_a_model(const Listed& all, const std::string& name) {
  std::vector<std::string> ids;
  for (const ModelProfile& profile : all.catalogue->all()) {
    if (profile.name == name)
      return fail(ErrorKind::invalid, "the model \"" + name + "\" is not PROVIDER/NAME",
                  "did you mean " + profile.id() + "?");
    ids.push_back(profile.id());
  }
  const std::vector<std::string_view> views(ids.begin(), ids.end());
  const std::string near(nearest_name(name, views));
  return fail(ErrorKind::invalid,
              "the model \"" + name.substr(0, 200) + "\" names no provider that is known",
              near.empty() ? "`tug models` lists them" : "did you mean " + near + "?");
}

// What most models have none of.
bool may_be_missing(std::string_view field) {
  return field == "price.tiers" || field == "price.cache_write_1h" || field == "drop_params" ||
         field == "quirks" || field == "api";
}

std::vector<CatalogueField> fields_of(const Listed& all, std::string_view provider,
                                      std::string_view name) {
  std::vector<CatalogueField> fields = all.catalogue->explain(provider, name);
  for (CatalogueField& field : fields) {
    if (field.field != "api" || !field.layer.empty()) continue;
    for (const ProviderConfig& each : all.providers) {
      if (each.name == provider)
        field = {"api", std::string(name_of(each.api)), "the provider", "", ""};
    }
  }
  return fields;
}

// It can be asked, or somebody has written about its models.
bool is_known(const Listed& all, std::string_view provider) {
  const auto same = [&](const std::string& name) { return name == provider; };
  return provider == "script" || std::ranges::any_of(all.providers, same, &ProviderConfig::name) ||
         std::ranges::any_of(all.catalogue->all(), same, &ModelProfile::provider);
}

int show(const Options& options, const ConfigFlags& flags, const std::string& given) {
  auto all = listed(options, flags);
  if (!all) return report(options, all.error(), unusable);
  const std::string provider(provider_of(given));
  const bool known = is_known(*all, provider);
  if (!known || provider.size() + 1 >= given.size())
    return report(options, not_a_model(*all, given).error(), unusable);
  const std::string name(split_effort(std::string_view(given).substr(provider.size() + 1)).name);
  const auto fields = fields_of(*all, provider, name);
  const std::string missing = missing_key(all->providers, provider);
  if (options.json()) {
    Json rows = Json::array();
    const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
    for (const CatalogueField& field : fields) {
      rows.push_back(Json::object({{"field", field.field},
                                   {"value", field.layer.empty() ? Json() : Json(field.value)},
                                   {"layer", or_null(field.layer)},
                                   {"as_of", or_null(field.as_of)},
                                   {"source", or_null(field.source)}}));
    }
    Json object = to_json(*all, all->catalogue->profile(provider, name));
    object.set("fields", std::move(rows));
    print(print_json(object) + "\n");
    return ok;
  }
  std::vector<std::vector<std::string>> rows = {{"FIELD", "VALUE", "FROM", "AS OF", "SOURCE"}};
  for (const CatalogueField& field : fields) {
    if (field.layer.empty() && may_be_missing(field.field)) continue;
    rows.push_back({field.field, terminal_text(field.value), terminal_text(field.layer),
                    terminal_text(field.as_of), terminal_text(field.source)});
  }
  print(terminal_text(provider + "/" + name) + (missing.empty() ? "" : ", needs " + missing) +
        "\n" + table(rows));
  if (all->catalogue->profile(provider, name).context_tokens == 0)
    notice("its window is not known: " + std::to_string(kAssumedContextTokens) +
           " tokens are assumed until the provider says otherwise");
  return ok;
}

Failure cannot_write(const std::string& path) {
  return fail(ErrorKind::invalid, path + ": " + std::strerror(errno),
              "make the folder writable, or name another --state-dir");
}

// All of it or nothing: readers see the old file until the new one is on disk.
Result<void> replace_file(const std::string& path, const std::string& text) {
  const std::string fresh = path + "." + std::to_string(getpid()) + ".new";
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return cannot_write(fresh);
  errno = write_all(fd, text);
  const bool written = errno == 0 && fsync(fd) == 0;
  const int reason = errno;
  close(fd);
  if (written && rename(fresh.c_str(), path.c_str()) == 0) return {};
  if (!written) errno = reason;
  Failure failure = cannot_write(path);
  unlink(fresh.c_str());
  return failure;
}

std::string today() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

struct Updated {
  std::string path;
  std::size_t models = 0;
};

Result<Updated> update_from(const Options& options, const std::string& from) {
  if (from.starts_with("http://") || from.starts_with("https://")) {
    return fail(ErrorKind::invalid, from.substr(0, 200) + ": an address cannot be read from",
                "load it first: curl -fsS ADDRESS | tug models update --from -");
  }
  TUG_TRY(text, read_input(from));
  auto rows = read_model_list(text);
  if (!rows) return Failure(rows.error().within(from == "-" ? "stdin" : from));
  for (CatalogueRow& row : *rows) row.as_of = today();
  TUG_TRY(folder, state_folder(options));
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (!problem && access((folder + "/journal.db").c_str(), F_OK) != 0) chmod(folder.c_str(), 0700);
  const std::string path = folder + "/" + std::string(kModelsFile);
  TUG_TRY(replaced, replace_file(path, print_rows(*rows)));
  return Updated{path, rows->size()};
}

int update(const Options& options, const std::string& from) {
  auto updated = update_from(options, from);
  if (!updated) return report(options, updated.error(), unusable);
  if (options.json()) {
    print(print_json(Json::object(
              {{"path", updated->path}, {"models", static_cast<std::int64_t>(updated->models)}})) +
          "\n");
  } else {
    print(std::to_string(updated->models) + " models written to " + terminal_text(updated->path) +
          "\n");
  }
  return ok;
}

}  // namespace

Command models_command(Options& options) {
  auto flags = std::make_shared<ConfigFlags>();
  auto name = std::make_shared<std::string>();
  auto from = std::make_shared<std::string>();
  const std::vector<Flag> taken = config_flags(*flags) + common_flags(options);
  Command show_part{.name = "show",
                    .summary = "What is known about a model, and who says so",
                    .examples = "  tug models show anthropic/claude-sonnet-5-5\n",
                    .flags = std::vector<Flag>{{.names = "MODEL",
                                                .value = "PROVIDER/NAME",
                                                .help = "PROVIDER/NAME",
                                                .target = name.get(),
                                                .required = true}} +
                             taken,
                    .run = [flags, name, &options] { return show(options, *flags, *name); }};
  Command update_part{
      .name = "update",
      .summary = "Take windows and prices from a published list",
      .examples =
          "  curl -fsS https://models.dev/api.json | tug models update --from -\n"
          "  curl -fsS https://openrouter.ai/api/v1/models | tug models update --from -\n",
      .flags = std::vector<Flag>{{.names = "--from",
                                  .value = "FILE",
                                  .help = "The list of models.dev or OpenRouter; - for stdin",
                                  .target = from.get(),
                                  .required = true}} +
               common_flags(options),
      .run = [from, &options] { return update(options, *from); }};
  return {.name = "models",
          .summary = "The models that are known: windows, prices, whose key is there",
          .examples = "  tug models\n  tug models show openai/gpt-6-sol\n",
          .flags = taken,
          .run = [flags, &options] { return list(options, *flags); },
          .parts = {std::move(show_part), std::move(update_part)}};
}

}  // namespace tug::cli
