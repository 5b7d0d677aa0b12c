// An explanation as one page without scripts or other files: the graph before and after as a
// picture, then the kernels, the steps, what was left alone, and the laws.
//
// The picture is layered: a definition stands one row below the lowest of what it reads. Stored
// tensors are boxes, what is computed inside of another kernel has a dashed border.
#include <fmt/format.h>

#include <algorithm>

#include "driver/explanation.h"

namespace tang {

namespace {

constexpr int kBoxHeight = 34, kRowHeight = 78, kGap = 24, kMargin = 16, kCharWidth = 8;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

struct Box {
  std::string label, title, kind;
  int row = 0, x = 0, width = 0;
  std::vector<size_t> reads;
  int y() const { return kMargin + row * kRowHeight; }
  int middle() const { return x + width / 2; }
};

// Inputs in the first row, then each definition below what it reads.
std::vector<Box> boxes_of(const ExplainedProgram& p) {
  std::vector<Box> boxes;
  const auto add = [&](const std::string& label, const std::string& title,
                       const std::string& kind) {
    boxes.push_back({.label = label,
                     .title = title,
                     .kind = kind,
                     .row = 0,
                     .x = 0,
                     .width = std::max(44, kCharWidth * static_cast<int>(label.size()) + 20),
                     .reads = {}});
    return boxes.size() - 1;
  };
  std::vector<std::string> inputs;
  for (const ExplainedDef& def : p.defs)
    for (const std::string& name : def.from)
      if (std::find(inputs.begin(), inputs.end(), name) == inputs.end()) {
        inputs.push_back(name);
        add(name, "input " + name, "input");
      }
  const size_t first = boxes.size();
  for (const ExplainedDef& def : p.defs) {
    std::string kind = def.place == "stored" ? "stored" : "inside";
    if (def.folds) kind += " folds";
    if (def.is_output) kind += " output";
    const size_t n = add(def.names, def.text + "\n" + def.place, kind);
    for (const std::string& name : def.from)
      boxes[n].reads.push_back(
          static_cast<size_t>(std::find(inputs.begin(), inputs.end(), name) - inputs.begin()));
    for (const size_t read : def.reads) boxes[n].reads.push_back(first + read);
    for (const size_t read : boxes[n].reads)
      boxes[n].row = std::max(boxes[n].row, boxes[read].row + 1);
  }
  return boxes;
}

// Rows side by side, each box as near to the middle of what it reads as the one before allows.
void lay_out(std::vector<Box>& boxes) {
  int rows = 0;
  for (const Box& box : boxes) rows = std::max(rows, box.row + 1);
  for (int row = 0; row < rows; ++row) {
    struct Wanted {
      double at;
      size_t box;
    };
    std::vector<Wanted> wanted;
    for (size_t n = 0; n < boxes.size(); ++n) {
      if (boxes[n].row != row) continue;
      double at = 0;
      for (const size_t read : boxes[n].reads) at += boxes[read].middle();
      wanted.push_back({boxes[n].reads.empty() ? -1.0 : at / double(boxes[n].reads.size()), n});
    }
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const Wanted& a, const Wanted& b) { return a.at < b.at; });
    int next = kMargin;
    for (const Wanted& w : wanted) {
      Box& box = boxes[w.box];
      box.x = std::max(next, static_cast<int>(w.at) - box.width / 2);
      next = box.x + box.width + kGap;
    }
  }
}

std::string picture(const ExplainedProgram& p, const std::string& what) {
  std::vector<Box> boxes = boxes_of(p);
  lay_out(boxes);
  int width = 0, height = 0;
  for (const Box& box : boxes) {
    width = std::max(width, box.x + box.width + kMargin);
    height = std::max(height, box.y() + kBoxHeight + kMargin);
  }
  std::string svg = fmt::format(
      "<svg role=\"img\" aria-label=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\">\n",
      escaped(what), width, height, width, height);
  for (const Box& box : boxes)
    for (const size_t read : box.reads) {
      const Box& from = boxes[read];
      const int top = from.y() + kBoxHeight, bottom = box.y();
      const int bend = (bottom - top) / 2;
      // A line that passes rows keeps to the side of what stands there.
      const int aside = box.row - from.row > 1 ? std::max(from.width, box.width) / 2 + kGap : 0;
      svg += fmt::format("<path class=\"edge\" d=\"M{} {} C{} {} {} {} {} {}\"/>\n", from.middle(),
                         top, from.middle() + aside, top + bend, box.middle() + aside,
                         bottom - bend, box.middle(), bottom);
    }
  for (const Box& box : boxes)
    svg += fmt::format(
        "<g class=\"{}\"><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
        "rx=\"5\"/><text x=\"{}\" y=\"{}\">{}</text></g>\n",
        box.kind, escaped(box.title), box.x, box.y(), box.width, kBoxHeight, box.middle(),
        box.y() + kBoxHeight / 2 + 5, escaped(box.label));
  return svg + "</svg>\n";
}

constexpr const char* kStyle = R"(
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem;
       color: #1c2733; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
pre, code { font: 14px/1.5 ui-monospace, monospace; }
pre { background: #f4f6f8; padding: .7rem .9rem; border-radius: 6px; overflow-x: auto;
      margin: .4rem 0 1rem; }
figure { margin: 0; overflow-x: auto; border: 1px solid #dde3e8; border-radius: 6px; }
figcaption { padding: .5rem .9rem; background: #f4f6f8; }
.graphs { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); }
svg text { font: 13px ui-monospace, monospace; text-anchor: middle; fill: #1c2733; }
svg rect { fill: #fff; stroke: #5b6b7a; stroke-width: 1.3; }
svg .input rect { fill: #eef1f4; stroke: #b4bfc9; }
svg .inside rect { stroke-dasharray: 5 3; }
svg .folds rect { fill: #e6f0fb; }
svg .output rect { stroke: #0b6e4f; stroke-width: 2.2; }
svg .edge { fill: none; stroke: #9aa7b3; stroke-width: 1.2; }
dt { font-weight: 600; margin-top: .6rem; } dd { margin: 0 0 .2rem 1.4rem; }
.law { color: #7a4b00; } summary { cursor: pointer; }
)";

std::string figure(const ExplainedProgram& p, const std::string& what) {
  return fmt::format("<figure><figcaption>{}: {} definitions, {} kernel{}, {} bytes between them"
                     "</figcaption>\n{}</figure>\n",
                     what, p.defs.size(), p.n_kernels, p.n_kernels == 1 ? "" : "s",
                     escaped(p.intermediate), picture(p, what));
}

std::string lines(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& line : all) text += (text.empty() ? "" : "\n") + line;
  return "<pre>" + escaped(text) + "</pre>\n";
}

}  // namespace

std::string explain_html(const std::string& name, const Explanation& e) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{0}</title>\n<style>{1}</style></head>\n<body>\n<h1>{0}</h1>\n",
      escaped(name), kStyle);
  out += "<p>Grey boxes are inputs, blue ones fold, a green border is an output. What has a dashed "
         "border is never stored: it is computed inside of what reads it.</p>\n";
  out += "<div class=\"graphs\">\n" + figure(e.before, "As written") +
         figure(e.after, "As compiled") + "</div>\n";
  out += "<h2>Kernels</h2>\n";
  for (const ExplainedKernel& k : e.kernels) {
    std::vector<std::string> text = k.computes;
    text.push_back(k.schedule);
    out += fmt::format("<h3><code>{}</code></h3>\n{}", escaped(k.name), lines(text));
  }
  out += "<h2>What was rewritten</h2>\n";
  if (e.steps.empty()) out += "<p>Nothing.</p>\n";
  for (const Explanation::Step& s : e.steps) {
    out += fmt::format("<details><summary><b>{}</b>: {}", escaped(s.pass), escaped(s.says));
    for (const std::string& law : s.laws)
      out += fmt::format(" <span class=\"law\">[{}]</span>", escaped(law));
    out += "</summary>\n" + lines(s.before);
    if (!s.after.empty()) out += "becomes\n" + lines(s.after);
    out += "</details>\n";
  }
  if (!e.refusals.empty()) out += "<h2>What was left alone</h2>\n<dl>\n";
  for (const Explanation::Refusal& r : e.refusals)
    out += fmt::format("<dt><code>{}</code></dt><dd>{}: {}</dd>\n", escaped(r.name),
                       escaped(r.pass), escaped(r.why));
  if (!e.refusals.empty()) out += "</dl>\n";
  out += "<h2>Laws</h2>\n";
  if (e.laws.empty()) {
    out += "<p>Every rewrite is exact in floating point.</p>\n";
  } else {
    out += "<p>Equal over the real numbers, up to rounding in floating point.</p>\n<dl>\n";
    for (const Explanation::Law& law : e.laws)
      out += fmt::format("<dt>{}</dt><dd>{}{}</dd>\n", escaped(law.name), escaped(law.says),
                         law.condition.empty() ? "" : ", where " + escaped(law.condition));
    out += "</dl>\n";
  }
  return out + "</body>\n</html>\n";
}

}  // namespace tang
