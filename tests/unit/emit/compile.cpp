// Builds printed C with the compilers of the machine and loads it.
#include "compile.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace tang::emit {

namespace {

namespace fs = std::filesystem;

constexpr const char* kWarnings =
    " -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -pedantic -Werror ";

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A directory of its own for each call, removed when the process ends.
fs::path fresh_directory() {
  struct Root {
    fs::path path;
    int n = 0;
    Root() {
      std::string name = (fs::temp_directory_path() / "tang-emit-XXXXXX").string();
      path = mkdtemp(name.data());
    }
    ~Root() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  };
  static Root root;
  fs::path dir = root.path / std::to_string(root.n++);
  fs::create_directory(dir);
  return dir;
}

fs::path write(const std::vector<Artifact>& artifacts) {
  const fs::path dir = fresh_directory();
  for (const Artifact& a : artifacts) std::ofstream(dir / ("t" + a.suffix)) << a.text;
  return dir;
}

struct ArgumentBytes {
  std::vector<std::byte> bytes;
  void put(const void* value, size_t size) {
    bytes.resize((bytes.size() + size - 1) / size * size);
    const size_t at = bytes.size();
    bytes.resize(at + size);
    std::memcpy(bytes.data() + at, value, size);
  }
};

}  // namespace

const std::vector<std::string>& compilers() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list = {"gcc"};
    if (std::system("clang-19 --version > /dev/null 2>&1") == 0)
      list.push_back("clang-19");
    else
      std::cerr << "clang-19 is not installed: emitted C is built with gcc alone\n";
    return list;
  }();
  return all;
}

Built build(const kernel::Module& module, const std::vector<Artifact>& artifacts,
            const std::string& compiler, const std::string& flags) {
  const fs::path dir = write(artifacts);
  const std::string command = "cd " + dir.string() + " && " + compiler + " -std=c11" + kWarnings +
                              flags + " -fPIC -shared t.c -o t.so -lm 2> errors";
  Built built;
  if (std::system(command.c_str()) != 0) {
    built.error = compiler + " " + flags + ":\n" + read(dir / "errors");
    return built;
  }
  void* library = dlopen((dir / "t.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    built.error = dlerror();
    return built;
  }
  const std::string symbol = module.prefix + "_" + module.entry;
  built.entry = dlsym(library, symbol.c_str());
  built.workspace = dlsym(library, (symbol + "_workspace").c_str());
  if (built.entry == nullptr || built.workspace == nullptr) built.error = "no " + symbol;
  return built;
}

std::string check_header_as_cpp(const std::vector<Artifact>& artifacts) {
  const fs::path dir = write(artifacts);
  std::ofstream(dir / "t.cpp") << "#include \"t.h\"\n";
  const std::string command =
      "cd " + dir.string() + " && g++ -std=c++11" + kWarnings + "-fsyntax-only t.cpp 2> errors";
  return std::system(command.c_str()) == 0 ? "" : read(dir / "errors");
}

Call call(const Built& built, const kernel::Module& module, const std::vector<int64_t>& dims,
          const std::vector<Value>& scalars, std::vector<Array>& tensors) {
  ArgumentBytes args;
  for (const int64_t dim : dims) args.put(&dim, sizeof dim);
  for (size_t s = 0; s < scalars.size(); ++s) {
    const Type type = module.scalars[s].type;
    const uint64_t bits = encode(type == Type::i4 ? Type::i8 : type, scalars[s]);
    args.put(&bits, static_cast<size_t>(std::max(type_bits(type), 8)) / 8);
  }
  for (Array& tensor : tensors) {
    void* data = tensor.data.empty() ? nullptr : tensor.data.data();
    args.put(&data, sizeof data);
  }
  void* none = nullptr;
  args.put(&none, sizeof none);

  Call out;
  out.workspace_bytes =
      reinterpret_cast<int64_t (*)(const void*)>(built.workspace)(args.bytes.data());
  std::vector<std::byte> workspace(static_cast<size_t>(std::max<int64_t>(out.workspace_bytes, 0)),
                                   std::byte{0xFF});
  void* data = workspace.empty() ? nullptr : workspace.data();
  std::memcpy(args.bytes.data() + args.bytes.size() - sizeof data, &data, sizeof data);
  out.status = reinterpret_cast<int (*)(const void*)>(built.entry)(args.bytes.data());
  return out;
}

}  // namespace tang::emit
