#include "model/request_head.h"

#include <utility>

namespace tug {

Json merged_options(const WireCall& call, std::initializer_list<std::string_view> ours,
                    std::vector<std::string>& notes) {
  Json merged = Json::object();
  for (const Json* options : {&call.provider.options, &call.request.provider_options}) {
    for (const Json::Member& option : options->members()) merged.set(option.key(), option.value);
  }
  for (const std::string_view name : ours) {
    if (merged.erase(name))
      notes.push_back("the option \"" + std::string(name) + "\" is left out: it is ours to say");
  }
  return merged;
}

RequestHead::RequestHead(HttpBody& body, Json options)
    : body_(body), options_(std::move(options)) {}

void RequestHead::begin(std::string_view name) {
  print_json_string(name, text_);
  text_ += ':';
}

void RequestHead::flush() { body_.add(std::exchange(text_, {})); }

void RequestHead::add(std::string_view name, const Json& value) {
  begin(name);
  if (const Json* option = options_.find(name)) {
    print_json(*option, text_);
    options_.erase(name);
  } else {
    print_json(value, text_);
  }
  text_ += ',';
}

void RequestHead::add_object(std::string_view name, Json value) {
  const Json option = options_[name];
  if (!option.is_object() && options_.contains(name)) return add(name, value);
  for (const Json::Member& member : option.members()) value.set(member.key(), member.value);
  options_.erase(name);
  if (!value.empty()) add(name, value);
}

void RequestHead::add_tools(std::string_view tools, std::string_view mark) {
  const Json more = options_["tools"];
  if (!more.is_array() && options_.contains("tools")) return add("tools", Json());
  if (tools.size() <= 2 && more.empty()) return;
  begin("tools");
  options_.erase("tools");
  const bool some = tools.size() > 2;
  if (some) {
    flush();
    if (mark.empty()) {
      body_.add_view(tools.substr(0, tools.size() - 1));
    } else {
      body_.add_view(tools.substr(0, tools.size() - 2));
      text_ += ',';
      text_ += mark;
      text_ += '}';
    }
  } else {
    text_ += '[';
  }
  bool first = !some;
  for (const Json& tool : more.items()) {
    if (!std::exchange(first, false)) text_ += ',';
    print_json(tool, text_);
  }
  text_ += "],";
}

void RequestHead::open_list(std::string_view name) {
  add_members(options_, text_);
  begin(name);
  text_ += '[';
  flush();
}

}  // namespace tug
