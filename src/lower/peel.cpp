// Full units apart from the clipped one, so that inner loops of full units have constant trip
// counts and no bound to test:
//
//   for k in lo..hi step 8        =>   for k in lo..lo + (hi - lo)/8*8 step 8   (whole)
//     unit clipped by hi                 full unit
//                                      for k in that..hi step 8                 (edge)
//                                        unit clipped by hi
//
// A loop whose step divides its constant extent needs no edge; step 1 is whole as it is.
#include "lower/tile.h"

namespace tang::tile {

namespace {

bool divides(const Loop& loop, const Forms& forms) {
  if (loop.step == 1) return true;
  if (loop.lo.size() != 1 || loop.hi.size() != 1) return false;
  const auto trips = forms.as_constant(loop.hi[0]);
  return trips && *trips % loop.step == 0 && forms.is_constant(loop.lo[0], 0);
}

void peel_items(std::vector<Item>& items, const Forms& forms) {
  std::vector<Item> out;
  for (Item& item : items) {
    auto* loop = std::get_if<Loop>(&item);
    if (!loop) {
      out.push_back(std::move(item));
      continue;
    }
    peel_items(loop->body, forms);
    if (divides(*loop, forms)) {
      loop->whole = true;
      out.push_back(std::move(item));
      continue;
    }
    if (loop->run == kernel::Run::serial && !loop->lo.empty()) {
      Loop interior = *loop;
      interior.whole = true;
      loop->edge = true;
      out.emplace_back(std::move(interior));
    }
    out.push_back(std::move(item));
  }
  items = std::move(out);
}

}  // namespace

void peel(Tree& tree, const Forms& forms) {
  peel_items(tree.body, forms);
}

}  // namespace tang::tile
