// A typed answer: the struct is the schema. A wrong answer is shown to the model, which may correct
// it; the answer can be watched while it comes.
#include <tug/journal/sink.h>
#include <tug/testkit/models.h>
#include <tug/tug.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

enum class Mood { sunny, grey, stormy };

struct Day {
  std::string name;
  Mood mood = Mood::grey;
  std::optional<int> degrees;
};

struct Report {
  std::string city;
  std::vector<Day> days;
};

class Watch final : public tug::Sink {
 public:
  void on_event(const tug::Event& event) override {
    if (event.kind == tug::Kind::output_delta) {
      std::printf("so far: %s\n", print_json(event.data["output"]).c_str());
    } else if (event.kind == tug::Kind::output_retry) {
      std::printf("wrong:  %s\n", std::string(event.data["error"].as_string()).c_str());
    }
  }
};

int main() {
  using namespace tug::testkit;
  // The model answers by calling `final_result`; this one gets it wrong first.
  tug::Harness harness{scripted(
      {calls("final_result", R"({"city":"Oslo","days":[{"name":"Monday","mood":"purple"}]})"),
       calls("final_result",
             R"({"city":"Oslo","days":[{"name":"Monday","mood":"sunny","degrees":21}]})")})};

  const auto report =
      harness.ask<Report>("The weather in Oslo", {.observers = {std::make_shared<Watch>()}});
  if (!report) {
    std::printf("%s\n", report.error().message().c_str());
    return 1;
  }
  for (const Day& day : report->days) {
    std::printf("%s, %s: %s, %d degrees\n", report->city.c_str(), day.name.c_str(),
                std::string(tug::enum_name(day.mood)).c_str(), day.degrees.value_or(0));
  }
  return 0;
}
