// A run under way: an observer sees every event as it happens, a handle iterates the records, asks
// how far the run is and cancels it, from any thread.
#include <tug/journal/sink.h>
#include <tug/testkit/models.h>
#include <tug/tug.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

// Called on the loop of the run: it must return at once.
class Printer final : public tug::Sink {
 public:
  void on_event(const tug::Event& event) override {
    // Records have a seq and are in the journal; live events, such as deltas, only go by.
    if (event.kind == tug::Kind::model_delta) {
      std::printf("  piece  \"%s\"\n", std::string(event.data["text"].as_string()).c_str());
    } else {
      std::printf("%2llu  %s\n", static_cast<unsigned long long>(event.seq),
                  std::string(event.name()).c_str());
    }
  }
};

void print_status(const char* when, const tug::Run& run) {
  const tug::RunStatusRecord status = run.status();
  std::printf("%s: %s, busy with %s, turn %u\n", when, std::string(name_of(status.status)).c_str(),
              std::string(name_of(status.activity)).c_str(), status.turn);
}

int main() {
  tug::Harness poet{tug::testkit::streaming("Rain on the harbour, the gulls are asleep.", 12)};
  poet.run("A line about rain", {.observers = {std::make_shared<Printer>()}});

  // A model that would take an hour.
  tug::Harness sleeper{
      tug::testkit::slow(std::chrono::hours(1), tug::testkit::says("Good morning."))};
  const tug::Run run = sleeper.start("Wake me up", {.limits = {.max_turns = 5}});
  for (const tug::Event& event : run.events()) {
    std::printf("%2llu  %s\n", static_cast<unsigned long long>(event.seq),
                std::string(event.name()).c_str());
    if (event.kind != tug::Kind::model_started) continue;
    print_status("during", run);
    run.cancel("changed my mind");
  }
  const tug::RunResult result = run.wait();
  print_status("after", run);
  std::printf("%s\n", result.error->message().c_str());
  return result.status == tug::RunStatus::cancelled ? 0 : 1;
}
