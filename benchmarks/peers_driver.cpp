// Tugline against the mock server that the peers are measured with: WORKLOAD [N], MOCK_URL in the
// environment, one JSON line on stdout. The public API, the journal in memory, one subscriber that
// sees every event.
#include <sys/resource.h>
#include <tug/io/engine.h>
#include <tug/journal/event.h>
#include <tug/journal/sink.h>
#include <tug/model/catalogue.h>
#include <tug/model/models.h>
#include <tug/tug.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "resident.h"

namespace {

struct Sum {
  double a = 0;
  double b = 0;
};

double now_ms() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}
double cpu_ms() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return ms(use.ru_utime) + ms(use.ru_stime);
}
double peak_mb() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_maxrss) / 1024;
}
double resident_mb() { return static_cast<double>(tug::resident_bytes()) / 1048576; }

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

// The subscriber: counts what it sees, and adds up the text of deltas.
struct Watcher final : tug::Sink {
  void on_event(const tug::Event& event) override {
    ++events;
    if (event.kind != tug::Kind::model_delta) return;
    const std::string_view text = event.data["text"].as_string();
    if (text.empty()) return;
    ++deltas;
    bytes += text.size();
  }
  std::size_t events = 0;
  std::size_t deltas = 0;
  std::size_t bytes = 0;
};

struct Mark {
  double wall;
  double cpu;
};

class Bench {
 public:
  Bench() {
    tug::ProviderConfig mock{.name = "mock",
                             .api = tug::Api::openai_chat,
                             .base_url = url(),
                             .key = tug::Secret("x"),
                             .quirks = {"max_tokens"}};
    add_providers(*models_, tug::make_catalogue(), tug::make_http_client(), {mock});
  }

  void cold() { run("turns-1", 1); }

  std::string turn(long turns) {
    std::vector<double> walls;
    std::vector<double> cpus;
    for (int i = 0; i < 8; ++i) {
      const double wall = now_ms();
      const double cpu = cpu_ms();
      run("turns-" + std::to_string(turns), turns);
      walls.push_back((now_ms() - wall) / static_cast<double>(turns));
      cpus.push_back((cpu_ms() - cpu) / static_cast<double>(turns));
    }
    return text(R"(,"first_wall":%.5f,"first_cpu":%.5f,"warm_wall":%.5f,"warm_cpu":%.5f)", walls[0],
                cpus[0], median({walls.end() - 4, walls.end()}),
                median({cpus.end() - 4, cpus.end()}));
  }

  std::string grow(long turns) {
    payload_ = std::string(2048, 'x');
    run("turns-5", 5);
    marks_.reserve(static_cast<std::size_t>(turns));
    marking_ = true;
    const double resident = resident_mb();
    const double wall = now_ms();
    const double cpu = cpu_ms();
    run("turns-" + std::to_string(turns), turns);
    std::string out = text(R"(,"total_wall":%.3f,"total_cpu":%.3f,"rss0_mb":%.2f,"at":{)",
                           now_ms() - wall, cpu_ms() - cpu, resident);
    const char* comma = "";
    for (const long at : {50, 100, 200, 400, 800}) {
      if (at > turns) break;
      const Mark& from = marks_[static_cast<std::size_t>(at - 25)];
      const Mark& to = marks_[static_cast<std::size_t>(at - 1)];
      out += comma + text(R"("%ld":{"wall":%.5f,"cpu":%.5f})", at, (to.wall - from.wall) / 24,
                          (to.cpu - from.cpu) / 24);
      comma = ",";
    }
    return out + "}";
  }

  std::string conc(long agents) {
    run("turns-10", 10);
    const double resident = resident_mb();
    const double wall = now_ms();
    const double cpu = cpu_ms();
    std::vector<tug::Run> runs;
    runs.reserve(static_cast<std::size_t>(agents));
    tug::Harness& harness = agent("turns-10-lat-200");
    for (long i = 0; i < agents; ++i) runs.push_back(harness.start("Go.", watched()));
    long failed = 0;
    for (tug::Run& each : runs) failed += each.wait().text != "done";
    calls_ = 0;
    const double peak = peak_mb();
    return text(R"(,"n":%ld,"wall":%.2f,"cpu":%.2f,"rss0_mb":%.2f,"peak_mb":%.2f)", agents,
                now_ms() - wall, cpu_ms() - cpu, resident, peak) +
           text(R"(,"per_agent_kb":%.2f,"failed":%ld)",
                (peak - resident) * 1024 / static_cast<double>(agents), failed);
  }

  std::string stream(long chunks) {
    run_streamed("stream-2000-chunks");
    watcher_->deltas = watcher_->bytes = 0;
    const double resident = resident_mb();
    const double wall = now_ms();
    const double cpu = cpu_ms();
    run_streamed("stream-" + std::to_string(chunks) + "-chunks");
    std::string out =
        text(R"(,"n":%ld,"chunks":%zu,"bytes":%zu,"wall":%.3f,"cpu":%.3f,"rss0_mb":%.2f)", chunks,
             watcher_->deltas, watcher_->bytes, now_ms() - wall, cpu_ms() - cpu, resident);
    if (watcher_->bytes != static_cast<std::size_t>(4 * chunks)) out += R"(,"err":"bytes")";
    return out;
  }

  std::string fan(long agents) {
    const auto go = [&](long count) {
      tug::Harness& parent = agent("fan-" + std::to_string(count) + "-tool-sub", With::subagent);
      check(parent.run("Go.", watched()), count);
    };
    go(4);
    const double wall = now_ms();
    const double cpu = cpu_ms();
    go(agents);
    return text(R"(,"n":%ld,"wall":%.2f,"cpu":%.3f)", agents, now_ms() - wall, cpu_ms() - cpu);
  }

 private:
  static std::string url() {
    const char* given = std::getenv("MOCK_URL");
    return given ? given : "http://127.0.0.1:8377/v1";
  }
  enum class With { add, subagent, nothing };

  // As the peers do: an agent is defined once and used many times.
  tug::Harness& agent(const std::string& model, With with = With::add) {
    auto& made = agents_[model];
    if (made) return *made;
    tug::HarnessOptions options;
    options.model = "mock/" + model;
    options.engine = engine_;
    options.models = models_;
    options.system_prompt = "You are a calculator.";
    options.settings.stream = with == With::nothing;
    options.settings.keep_reply = false;
    options.defaults.max_turns = 4000;
    options.defaults.max_tool_calls = 4000;
    made = std::make_unique<tug::Harness>(std::move(options));
    if (with == With::nothing) return *made;
    made->inline_tool("add", "Add two numbers", [this](const Sum& sum) {
      ++calls_;
      if (marking_) marks_.push_back({now_ms(), cpu_ms()});
      return std::to_string(static_cast<long>(sum.a + sum.b)) + payload_;
    });
    if (with == With::subagent) add_subagent(*made);
    return *made;
  }
  static void add_subagent(tug::Harness& harness) {
    tug::AgentConfig sub;
    sub.model = "mock/turns-1-lat-100";
    sub.tools = std::vector<std::string>{"add"};
    // The server sends more arguments than this one, for the peers that want others.
    sub.input_schema = tug::Json::object(
        {{"type", "object"},
         {"properties", tug::Json::object({{"input", tug::Json::object({{"type", "string"}})}})},
         {"required", tug::Json::array({"input"})}});
    sub.prompt = [](const tug::Json& args) { return std::string(args["input"].as_string()); };
    harness.agent("sub", "Run a subagent", sub);
  }
  tug::RunOptions watched() {
    tug::RunOptions options;
    options.keep_events = false;
    options.observers.push_back(watcher_);
    return options;
  }
  void check(const tug::RunResult& result, long calls) {
    if (result.text != "done") {
      give_up("bad result: " + result.text + (result.error ? to_string(*result.error) : ""));
    }
    if (calls_ != calls) give_up(std::to_string(calls_) + " calls, not " + std::to_string(calls));
    calls_ = 0;
  }
  void run(const std::string& model, long calls) {
    check(agent(model).run("Go.", watched()), calls);
  }
  void run_streamed(const std::string& model) {
    const tug::RunResult result = agent(model, With::nothing).run("Go.", watched());
    if (result.error) give_up(to_string(*result.error));
  }

  static double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
  }
  template <class... Args>
  static std::string text(const char* format, Args... args) {
    char buffer[256];
    std::snprintf(buffer, sizeof buffer, format, args...);
    return buffer;
  }

  std::shared_ptr<Watcher> watcher_ = std::make_shared<Watcher>();
  std::shared_ptr<tug::Engine> engine_ = tug::make_engine({.loops = 1, .workers = 1});
  std::shared_ptr<tug::Models> models_ = tug::make_models();
  std::map<std::string, std::unique_ptr<tug::Harness>> agents_;
  std::string payload_;
  std::vector<Mark> marks_;
  bool marking_ = false;
  long calls_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  const std::string workload = count > 1 ? arguments[1] : "cold";
  const long n = count > 2 ? std::atol(arguments[2]) : 0;
  Bench bench;
  std::string out;
  if (workload == "cold") {
    bench.cold();
  } else if (workload == "turn") {
    out = bench.turn(n ? n : 50);
  } else if (workload == "grow") {
    out = bench.grow(n ? n : 400);
  } else if (workload == "conc") {
    out = bench.conc(n ? n : 1000);
  } else if (workload == "stream") {
    out = bench.stream(n ? n : 50000);
  } else if (workload == "fan") {
    out = bench.fan(n ? n : 64);
  } else {
    std::fprintf(stderr, "usage: peers_driver cold|turn|grow|conc|stream|fan [N]\n");
    return 2;
  }
  std::printf("{\"driver\":\"tug\",\"workload\":\"%s\"%s,\"maxrss_mb\":%.2f}\n", workload.c_str(),
              out.c_str(), peak_mb());
  return 0;
}
