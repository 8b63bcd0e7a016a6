#include <benchmark/benchmark.h>

#include "tug/core/json.h"
#include "tug/core/schema.h"

namespace {

using tug::Json;

const char* kToolSchema =
    R"({"type":"object","properties":{
        "path":{"type":"string","minLength":1,"description":"the file"},
        "limit":{"type":"integer","minimum":1,"maximum":1000},
        "mode":{"enum":["read","write","append"]},
        "recursive":{"type":"boolean"},
        "tags":{"type":"array","items":{"type":"string"},"maxItems":10}},
        "required":["path","mode"],"additionalProperties":false})";
const char* kArguments =
    R"({"path":"src/core/json.cpp","limit":200,"mode":"read","recursive":true,"tags":["a","b"]})";

void schema_check_5_fields(benchmark::State& state) {
  const auto schema = tug::Schema::compile(*tug::parse_json(kToolSchema));
  const Json arguments = *tug::parse_json(kArguments);
  if (!schema->check(arguments)->empty()) state.SkipWithError("not valid");
  for (auto _ : state) benchmark::DoNotOptimize(schema->check(arguments));
}
BENCHMARK(schema_check_5_fields);

void schema_valid_5_fields(benchmark::State& state) {
  const auto schema = tug::Schema::compile(*tug::parse_json(kToolSchema));
  const Json arguments = *tug::parse_json(kArguments);
  for (auto _ : state) benchmark::DoNotOptimize(schema->valid(arguments));
}
BENCHMARK(schema_valid_5_fields);

void schema_refuse_5_fields(benchmark::State& state) {
  const auto schema = tug::Schema::compile(*tug::parse_json(kToolSchema));
  Json arguments = *tug::parse_json(kArguments);
  arguments.set("limit", "many");
  for (auto _ : state) benchmark::DoNotOptimize(schema->check(arguments));
}
BENCHMARK(schema_refuse_5_fields);

void schema_compile_5_fields(benchmark::State& state) {
  const Json source = *tug::parse_json(kToolSchema);
  for (auto _ : state) benchmark::DoNotOptimize(tug::Schema::compile(source));
}
BENCHMARK(schema_compile_5_fields);

void schema_check_metaschema(benchmark::State& state) {
  const auto schema = tug::Schema::compile(
      Json::object({{"$ref", "https://json-schema.org/draft/2020-12/schema"}}));
  const Json source = *tug::parse_json(kToolSchema);
  for (auto _ : state) benchmark::DoNotOptimize(schema->valid(source));
}
BENCHMARK(schema_check_metaschema);

}  // namespace
