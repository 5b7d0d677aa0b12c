// The public interface over the pipeline.
#include <fmt/format.h>

#include <stdexcept>

#include "driver/pipeline.h"
#include "tang/tang.h"

namespace tang {
namespace {

CompilePlace place_of(const Sources& sources, Span span) {
  if (!span.valid()) return {};
  const LineColumn at = sources.place(span.file, span.begin);
  return {.file = sources.name(span.file), .line = at.line, .column = at.column};
}

CompileMessage message_of(const Sources& sources, const Diagnostic& d) {
  CompileMessage message{.is_error = d.severity == Severity::error,
                         .name = d.name,
                         .place = place_of(sources, d.span),
                         .text = d.message};
  for (const Note& note : d.notes)
    message.notes.push_back({.place = place_of(sources, note.span), .text = note.message});
  Diagnostics alone;
  Diagnostic& copy = message.is_error ? alone.error(d.name, d.span, d.message)
                                      : alone.warning(d.name, d.span, d.message);
  copy.notes = d.notes;
  message.rendered = render_text(alone, sources, false);
  return message;
}

}  // namespace

CompileResult compile(const CompileRequest& request) {
  const emit::Target* target = emit::find_target(request.target);
  if (!target) throw std::invalid_argument("there is no target " + request.target);
  const std::string prefix = request.prefix.empty() ? default_prefix(request.name) : request.prefix;
  if (!is_c_name(prefix)) throw std::invalid_argument("'" + prefix + "' is no prefix of a C name");

  FrontEndOptions options;
  options.parse = {.bind = request.bind, .entry = request.entry, .import = request.import};
  if (!request.import) options.parse.import = [](const std::string&) { return std::nullopt; };
  options.passes = all_passes();
  Sources sources;
  const uint32_t file = sources.add(request.name, request.text);
  Diagnostics diagnostics;
  const std::optional<Scheduled> scheduled = front_end(sources, file, options, diagnostics);
  CompileResult result{.ok = scheduled.has_value()};
  for (const Diagnostic& d : diagnostics.all()) result.messages.push_back(message_of(sources, d));
  if (!scheduled) return result;
  const Compiled compiled = back_end(*scheduled, *target, {.prefix = prefix});
  const std::string stem = program_stem(request.name);
  for (emit::Artifact& artifact : artifacts(*target, compiled.module, stem))
    result.files.push_back({.name = stem + artifact.suffix, .text = std::move(artifact.text)});
  return result;
}

std::vector<std::string> compile_targets() {
  std::vector<std::string> names;
  for (const emit::Target& target : emit::targets()) names.emplace_back(target.name);
  return names;
}

std::string compiler_version() {
  return TANG_VERSION;
}

}  // namespace tang
