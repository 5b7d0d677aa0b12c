#include "driver/diagnostics_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tang {
namespace {

using Json = nlohmann::ordered_json;

const char* severity_name(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
  }
  return "";
}

// Names and texts may hold any bytes; what is not UTF-8 must not stop us.
std::string dump(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json location_of(Span span, const Sources& sources) {
  const LineColumn from = sources.place(span.file, span.begin);
  const LineColumn to = sources.place(span.file, span.end);
  return {{"file", sources.name(span.file)},
          {"line", from.line},
          {"column", from.column},
          {"end_line", to.line},
          {"end_column", to.column},
          {"begin", span.begin},
          {"end", span.end}};
}

// ---- SARIF --------------------------------------------------------------------------------------

// A path as a reference that a URI may hold.
std::string uri_of(const std::string& path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path)
    uri += kPlain.find(c) != std::string_view::npos
               ? std::string(1, c)
               : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return uri;
}

// SARIF counts characters, from 1: continuation bytes of UTF-8 are none.
int64_t character_column(const Sources& sources, uint32_t file, LineColumn at) {
  const std::string_view before = sources.line(file, at.line).substr(0, at.column - 1);
  return 1 + std::count_if(before.begin(), before.end(),
                           [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

Json physical_location(Span span, const Sources& sources) {
  const LineColumn from = sources.place(span.file, span.begin);
  const LineColumn to = sources.place(span.file, span.end);
  const Json region = {{"startLine", from.line},
                       {"startColumn", character_column(sources, span.file, from)},
                       {"endLine", to.line},
                       {"endColumn", character_column(sources, span.file, to)}};
  return {{"artifactLocation", {{"uri", uri_of(sources.name(span.file))}}}, {"region", region}};
}

Json result_of(const Diagnostic& d, size_t rule, const Sources& sources) {
  Json result = {{"ruleId", d.name},
                 {"ruleIndex", rule},
                 {"level", severity_name(d.severity)},
                 {"message", {{"text", d.message}}}};
  if (d.span.valid())
    result["locations"] = Json::array({{{"physicalLocation", physical_location(d.span, sources)}}});
  Json related = Json::array();
  for (const Note& note : d.notes) {
    Json location = {{"message", {{"text", note.message}}}};
    if (note.span.valid()) location["physicalLocation"] = physical_location(note.span, sources);
    related.push_back(std::move(location));
  }
  if (!related.empty()) result["relatedLocations"] = std::move(related);
  return result;
}

}  // namespace

std::string diagnostics_json(const Diagnostics& diagnostics, const Sources& sources,
                             const std::string& failure) {
  Json list = Json::array();
  for (const Diagnostic* d : in_order_of_place(diagnostics)) {
    Json item = {
        {"severity", severity_name(d->severity)}, {"name", d->name}, {"message", d->message}};
    if (d->span.valid()) item["location"] = location_of(d->span, sources);
    item["notes"] = Json::array();
    for (const Note& note : d->notes) {
      Json entry = {{"message", note.message}};
      if (note.span.valid()) entry["location"] = location_of(note.span, sources);
      item["notes"].push_back(std::move(entry));
    }
    list.push_back(std::move(item));
  }
  Json document = {
      {"version", 1}, {"generator", "tangc " TANG_VERSION}, {"diagnostics", std::move(list)}};
  if (!failure.empty()) document["failure"] = failure;
  return dump(document);
}

std::string diagnostics_sarif(const Diagnostics& diagnostics, const Sources& sources,
                              const std::string& failure) {
  std::vector<std::string> names;
  Json rules = Json::array(), results = Json::array();
  for (const Diagnostic* d : in_order_of_place(diagnostics)) {
    const auto at = std::find(names.begin(), names.end(), d->name);
    const auto rule = static_cast<size_t>(at - names.begin());
    if (at == names.end()) {
      names.push_back(d->name);
      rules.push_back(
          {{"id", d->name}, {"defaultConfiguration", {{"level", severity_name(d->severity)}}}});
    }
    results.push_back(result_of(*d, rule, sources));
  }
  Json invocation = {{"executionSuccessful", failure.empty()}};
  if (!failure.empty())
    invocation["toolExecutionNotifications"] =
        Json::array({{{"level", "error"}, {"message", {{"text", failure}}}}});
  const Json driver = {{"name", "tangc"}, {"version", TANG_VERSION}, {"rules", std::move(rules)}};
  const Json run = {{"tool", {{"driver", driver}}},
                    {"columnKind", "unicodeCodePoints"},
                    {"invocations", Json::array({std::move(invocation)})},
                    {"results", std::move(results)}};
  return dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
               {"version", "2.1.0"},
               {"runs", Json::array({run})}});
}

}  // namespace tang
