// A run under way: `start` begins it, its events are iterated as they happen, and it can be
// cancelled and asked how far it is from any thread.
#include <tug/testkit/models.h>
#include <tug/tug.h>

#include <chrono>
#include <cstdio>
#include <string>

void print_status(const char* when, const tug::Run& run) {
  const tug::RunStatusRecord status = run.status();
  std::printf("%s: %s, busy with %s, turn %u\n", when, std::string(name_of(status.status)).c_str(),
              std::string(name_of(status.activity)).c_str(), status.turn);
}

int main() {
  tug::Harness poet{tug::testkit::streaming("Rain on the harbour, the gulls are asleep.", 12)};
  tug::Run run = poet.start("A line about rain");
  // Records have a seq and are in the journal; live events only go by.
  while (auto event = run.next_event()) {
    if (event->kind == tug::Kind::model_delta) {
      std::printf("  piece  \"%s\"\n", std::string(event->data["text"].as_string()).c_str());
    } else {
      std::printf("%2llu  %s\n", static_cast<unsigned long long>(event->seq),
                  std::string(event->name()).c_str());
    }
  }
  print_status("after", run);

  // A model that would take an hour.
  tug::Harness sleeper{
      tug::testkit::slow(std::chrono::hours(1), tug::testkit::says("Good morning."))};
  run = sleeper.start("Wake me up", {.limits = {.max_turns = 5}});
  while (auto event = run.next_event()) {
    if (event->kind != tug::Kind::model_started) continue;
    print_status("during", run);
    run.cancel("changed my mind");
  }
  const tug::RunResult result = run.wait();
  print_status("cancelled", run);
  std::printf("%s\n", result.error->message().c_str());
  return result.status == tug::RunStatus::cancelled ? 0 : 1;
}
