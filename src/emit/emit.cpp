#include "emit/emit.h"

#include "emit/printer.h"
#include "support/panic.h"

namespace tang::emit {

namespace {

const Dialect* const kDialects[] = {
#define DIALECT(id) &id,
#include "emit/dialects.def"
};

const Dialect& dialect_of(const Target& target) {
  for (const Dialect* d : kDialects)
    if (d->name == target.name) return *d;
  TANG_PANIC("no dialect prints {}", target.name);
}

}  // namespace

const std::vector<Target>& targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> list;
    for (const Dialect* d : kDialects)
      list.push_back({.name = d->name,
                      .description = d->description,
                      .extension = d->extension,
                      .capabilities = d->capabilities});
    return list;
  }();
  return all;
}

const Target* find_target(std::string_view name) {
  for (const Target& target : targets())
    if (target.name == name) return &target;
  return nullptr;
}

std::vector<Artifact> emit(const Target& target, const kernel::Module& module,
                           const std::string& stem) {
  const Dialect& dialect = dialect_of(target);
  return dialect.files(module, print_module(module, dialect), stem);
}

}  // namespace tang::emit
