// From graph to instructions. Each side of a select and the right side of a lazy operator is a
// region; a node goes to the region that encloses all its uses, innermost such. Regions form a tree
// and are written depth first with an explicit stack, since selects may nest ten thousand deep.
#include <array>
#include <utility>

#include "interp/code.h"
#include "support/panic.h"

namespace tang::interpreter {

namespace {

constexpr uint32_t kNowhere = UINT32_MAX;

struct Regions {
  struct Region {
    uint32_t parent = 0;
    uint32_t jump = 0;  // an ancestor further up, so that walks take logarithmic time
    uint32_t depth = 0;
    std::vector<uint32_t> nodes;
  };
  std::vector<Region> all = {Region{}};
  std::vector<uint32_t> of_node;                      // kNowhere: not needed
  std::vector<std::array<uint32_t, 2>> side_of_node;  // the regions of its lazy arguments

  // A region's jump is twice as long as its parent's two jumps when these are equally long.
  uint32_t open(uint32_t parent) {
    const Region& above = all[parent];
    const Region& further = all[above.jump];
    const bool even = above.depth - further.depth == further.depth - all[further.jump].depth;
    all.push_back({.parent = parent,
                   .jump = even ? further.jump : parent,
                   .depth = above.depth + 1,
                   .nodes = {}});
    return static_cast<uint32_t>(all.size() - 1);
  }
  // The innermost region that encloses both.
  uint32_t meet(uint32_t a, uint32_t b) const {
    if (all[a].depth < all[b].depth) std::swap(a, b);
    while (all[a].depth > all[b].depth)
      a = all[all[a].jump].depth >= all[b].depth ? all[a].jump : all[a].parent;
    while (a != b) {
      const bool far = all[a].jump != all[b].jump;  // equal depths jump equally far
      a = far ? all[a].jump : all[a].parent;
      b = far ? all[b].jump : all[b].parent;
    }
    return a;
  }
  void use(uint32_t node, uint32_t region) {
    uint32_t& mine = of_node[node];
    mine = mine == kNowhere ? region : meet(mine, region);
  }
};

Regions place(const Code& code, const std::vector<uint32_t>& roots) {
  const std::vector<Node>& nodes = code.graph.nodes;
  Regions regions;
  regions.of_node.assign(nodes.size(), kNowhere);
  regions.side_of_node.resize(nodes.size());
  for (const uint32_t root : roots) regions.use(root, 0);
  // Users come before their arguments in this order, so that a node's own region is final.
  for (size_t id = nodes.size(); id-- > 0;) {
    const uint32_t region = regions.of_node[id];
    if (region == kNowhere || code.computed[id]) continue;
    const Node& node = nodes[id];
    const bool lazy = node.kind == Node::Kind::select || node.kind == Node::Kind::both;
    for (size_t i = 0; i < node.args.size(); ++i) {
      uint32_t from = region;
      if (lazy && i > 0) from = regions.side_of_node[id][i - 1] = regions.open(region);
      regions.use(node.args[i], from);
    }
  }
  for (uint32_t id = 0; id < nodes.size(); ++id)
    if (regions.of_node[id] != kNowhere && !code.computed[id])
      regions.all[regions.of_node[id]].nodes.push_back(id);
  return regions;
}

Instruction& append(Code& code, Instruction instruction) {
  code.instructions.push_back(instruction);
  return code.instructions.back();
}

size_t append_jump(Code& code, Instruction::Code jump, uint32_t on) {
  append(code, {.code = jump, .a = on});
  return code.instructions.size() - 1;
}

void land(Code& code, size_t jump) {
  code.instructions[jump].number = static_cast<uint32_t>(code.instructions.size());
}

void append_move(Code& code, uint32_t to, uint32_t from) {
  if (to != from) append(code, {.code = Instruction::Code::move, .to = to, .a = from});
}

// A node without lazy sides, or whose sides hold nothing.
void append_node(Code& code, uint32_t id) {
  const Node& node = code.graph.nodes[id];
  Instruction out{.op = node.op,
                  .operand = node.operand,
                  .type = node.type,
                  .to = id,
                  .number = node.number,
                  .form = node.form,
                  .n = node.n};
  const auto arg = [&](size_t i) { return i < node.args.size() ? node.args[i] : 0; };
  out.a = arg(0);
  out.b = arg(1);
  out.c = arg(2);
  switch (node.kind) {
    case Node::Kind::constant:
    case Node::Kind::state:
      return;  // in their registers from the start
    case Node::Kind::form:
      out.code = Instruction::Code::form;
      break;
    case Node::Kind::apply:
    case Node::Kind::both:
      out.code = Instruction::Code::apply;
      break;
    case Node::Kind::select:
      out.code = Instruction::Code::pick;
      break;
    case Node::Kind::test:
      out.code = Instruction::Code::test;
      break;
    case Node::Kind::locate:
      out.code = Instruction::Code::locate;
      out.a = static_cast<uint32_t>(code.operands.size());
      code.operands.insert(code.operands.end(), node.args.begin(), node.args.end());
      break;
    case Node::Kind::fetch:
      out.code = Instruction::Code::fetch;
      break;
    case Node::Kind::fetch_at:
      out.code = Instruction::Code::fetch_at;
      break;
  }
  append(code, out);
}

// A region being written, and what to do at its end.
struct Frame {
  enum class End : uint8_t { none, then_side, else_side, right_side };
  uint32_t region = 0;
  size_t next = 0;
  End end = End::none;
  uint32_t node = 0;  // whose side it is
  size_t jump = 0;    // that skips the region
};

void open_node(Code& code, const Regions& regions, uint32_t id, std::vector<Frame>& stack) {
  const Node& node = code.graph.nodes[id];
  const auto [first, second] = regions.side_of_node[id];
  const bool is_select = node.kind == Node::Kind::select;
  const bool sides_empty =
      (!is_select && node.kind != Node::Kind::both) ||
      (regions.all[first].nodes.empty() && (!is_select || regions.all[second].nodes.empty()));
  if (sides_empty) {
    append_node(code, id);
  } else if (is_select) {
    const size_t jump = append_jump(code, Instruction::Code::jump_unless, node.args[0]);
    stack.push_back({.region = first, .end = Frame::End::then_side, .node = id, .jump = jump});
  } else {
    append_move(code, id, node.args[0]);
    const size_t jump = append_jump(
        code,
        node.op == Op::logic_and ? Instruction::Code::jump_unless : Instruction::Code::jump_if,
        node.args[0]);
    stack.push_back({.region = first, .end = Frame::End::right_side, .node = id, .jump = jump});
  }
}

void close_frame(Code& code, const Regions& regions, const Frame& frame,
                 std::vector<Frame>& stack) {
  const Node& node = code.graph.nodes[frame.node];
  switch (frame.end) {
    case Frame::End::none:
      break;
    case Frame::End::then_side: {
      append_move(code, frame.node, node.args[1]);
      const size_t over = append_jump(code, Instruction::Code::jump, 0);
      land(code, frame.jump);
      stack.push_back({.region = regions.side_of_node[frame.node][1],
                       .end = Frame::End::else_side,
                       .node = frame.node,
                       .jump = over});
      break;
    }
    case Frame::End::else_side:
      append_move(code, frame.node, node.args[2]);
      land(code, frame.jump);
      break;
    case Frame::End::right_side:
      append_move(code, frame.node, node.args[1]);
      land(code, frame.jump);
      break;
  }
}

}  // namespace

Code start_code(Graph graph) {
  Code code{.graph = std::move(graph),
            .instructions = {},
            .operands = {},
            .registers = {},
            .computed = {}};
  for (const Node& node : code.graph.nodes) {
    code.registers.push_back(node.value);
    code.computed.push_back(node.kind == Node::Kind::constant || node.kind == Node::Kind::state);
  }
  return code;
}

void emit_values(Code& code, const std::vector<uint32_t>& roots) {
  const Regions regions = place(code, roots);
  std::vector<Frame> stack = {{.region = 0}};
  while (!stack.empty()) {
    Frame& top = stack.back();
    const std::vector<uint32_t>& nodes = regions.all[top.region].nodes;
    if (top.next < nodes.size()) {
      open_node(code, regions, nodes[top.next++], stack);
    } else {
      const Frame ended = top;
      stack.pop_back();
      close_frame(code, regions, ended, stack);
    }
  }
  for (const uint32_t id : regions.all[0].nodes) code.computed[id] = true;
}

void emit_stop_unless(Code& code, uint32_t node) {
  append(code, {.code = Instruction::Code::stop_unless, .a = node});
}

void emit_moves(Code& code, const std::vector<uint32_t>& to, const std::vector<uint32_t>& from) {
  // Through temporaries where a source is another target: (x, y) = (y, x).
  std::vector<uint32_t> sources = from;
  for (uint32_t& source : sources) {
    if (code.graph.nodes[source].kind != Node::Kind::state) continue;
    code.registers.push_back({});
    const auto temporary = static_cast<uint32_t>(code.registers.size() - 1);
    append_move(code, temporary, source);
    source = temporary;
  }
  for (size_t i = 0; i < to.size(); ++i) append_move(code, to[i], sources[i]);
}

}  // namespace tang::interpreter
