// Deflate streams back to bytes, by the canonical codes of RFC 1951.
//
// A code is decoded bit by bit: codes of one length are consecutive numbers, so it is enough to
// know how many there are of each length and the symbols in order of their codes.
#include <array>

#include "driver/zip.h"

namespace tang {
namespace {

constexpr int kLongestCode = 15;
constexpr int kEndOfBlock = 256;

struct Code {
  std::array<uint16_t, kLongestCode + 1> count{};  // codes of each length
  std::vector<uint16_t> symbols;                   // in order of their codes

  // False when the lengths promise more codes than there are.
  bool build(const std::vector<uint8_t>& lengths) {
    count.fill(0);
    for (const uint8_t length : lengths) ++count[length];
    count[0] = 0;
    int left = 1;
    std::array<size_t, kLongestCode + 2> next{};
    for (int length = 1; length <= kLongestCode; ++length) {
      left = 2 * left - count[length];
      if (left < 0) return false;
      next[length + 1] = next[length] + count[length];
    }
    symbols.assign(lengths.size(), 0);
    for (size_t symbol = 0; symbol < lengths.size(); ++symbol)
      if (lengths[symbol] != 0) symbols[next[lengths[symbol]]++] = static_cast<uint16_t>(symbol);
    return true;
  }
};

class Inflater {
 public:
  Inflater(std::string_view bytes, size_t size) : bytes_(bytes), size_(size) {}

  std::optional<std::string> run() {
    bool last = false;
    while (!last && !bad_) {
      last = bits(1) != 0;
      const uint32_t kind = bits(2);
      if (kind == 0) {
        stored();
      } else if (kind == 1) {
        fixed();
      } else if (kind == 2) {
        dynamic();
      } else {
        bad_ = true;
      }
    }
    if (bad_ || out_.size() != size_) return std::nullopt;
    return std::move(out_);
  }

 private:
  uint32_t bits(int n) {
    uint32_t value = 0;
    for (int i = 0; i < n; ++i) {
      if (at_ / 8 >= bytes_.size()) {
        bad_ = true;
        return 0;
      }
      value |= static_cast<uint32_t>((static_cast<unsigned char>(bytes_[at_ / 8]) >> (at_ % 8)) & 1)
               << i;
      ++at_;
    }
    return value;
  }

  int symbol(const Code& code) {
    int value = 0, first = 0, index = 0;
    for (int length = 1; length <= kLongestCode && !bad_; ++length) {
      value |= static_cast<int>(bits(1));
      const int count = code.count[length];
      if (value - first < count) return code.symbols[index + value - first];
      index += count;
      first = (first + count) * 2;
      value *= 2;
    }
    bad_ = true;
    return kEndOfBlock;
  }

  void put(char c) {
    if (out_.size() == size_) {
      bad_ = true;
    } else {
      out_ += c;
    }
  }

  void stored() {
    at_ = (at_ + 7) / 8 * 8;
    const uint32_t length = bits(16);
    if (bits(16) != (length ^ 0xFFFF)) bad_ = true;
    const size_t from = at_ / 8;
    if (bad_ || bytes_.size() - from < length || size_ - out_.size() < length) {
      bad_ = true;
      return;
    }
    out_.append(bytes_.substr(from, length));
    at_ += size_t{8} * length;
  }

  void codes(const Code& literals, const Code& distances) {
    static constexpr std::array<uint16_t, 29> kLength = {
        3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
        31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static constexpr std::array<uint8_t, 29> kLengthBits = {
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    while (!bad_) {
      const int literal = symbol(literals);
      if (literal < kEndOfBlock) {
        put(static_cast<char>(literal));
        continue;
      }
      if (literal == kEndOfBlock) return;
      const int row = literal - kEndOfBlock - 1;
      if (row >= static_cast<int>(kLength.size())) break;
      const size_t length = kLength[row] + bits(kLengthBits[row]);
      const int far = symbol(distances);
      if (far >= 30) break;
      // Distances double every second code: 1, 2, 3, 4, 5, 7, 9, 13, ...
      const int extra = far < 4 ? 0 : far / 2 - 1;
      const size_t start = far < 4 ? far + 1 : (size_t{2} + (far & 1)) << extra;
      const size_t distance = start + (far < 4 ? 0 : 1) + bits(extra);
      if (bad_ || distance > out_.size()) break;
      for (size_t i = 0; i < length; ++i) put(out_[out_.size() - distance]);
    }
    bad_ = true;
  }

  void fixed() {
    std::vector<uint8_t> lengths(288, 8);
    for (int i = 144; i < 256; ++i) lengths[i] = 9;
    for (int i = 256; i < 280; ++i) lengths[i] = 7;
    Code literals, distances;
    literals.build(lengths);
    distances.build(std::vector<uint8_t>(30, 5));
    codes(literals, distances);
  }

  void dynamic() {
    static constexpr std::array<uint8_t, 19> kOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                       11, 4,  12, 3, 13, 2, 14, 1, 15};
    const size_t n_literals = bits(5) + 257, n_distances = bits(5) + 1, n_lengths = bits(4) + 4;
    std::vector<uint8_t> lengths(kOrder.size(), 0);
    for (size_t i = 0; i < n_lengths; ++i) lengths[kOrder[i]] = static_cast<uint8_t>(bits(3));
    Code run_lengths;
    if (bad_ || !run_lengths.build(lengths)) {
      bad_ = true;
      return;
    }
    lengths.clear();
    while (!bad_ && lengths.size() < n_literals + n_distances) {
      const int s = symbol(run_lengths);
      if (s < 16) {
        lengths.push_back(static_cast<uint8_t>(s));
        continue;
      }
      if (s == 16 && lengths.empty()) bad_ = true;
      if (bad_) break;
      const uint8_t repeated = s == 16 ? lengths.back() : uint8_t{0};
      const size_t times = s == 16 ? 3 + bits(2) : s == 17 ? 3 + bits(3) : 11 + bits(7);
      lengths.insert(lengths.end(), times, repeated);
    }
    Code literals, distances;
    bad_ = bad_ || lengths.size() != n_literals + n_distances ||
           !literals.build({lengths.begin(), lengths.begin() + static_cast<long>(n_literals)}) ||
           !distances.build({lengths.begin() + static_cast<long>(n_literals), lengths.end()});
    if (!bad_) codes(literals, distances);
  }

  std::string_view bytes_;
  size_t size_;
  size_t at_ = 0;  // in bits
  bool bad_ = false;
  std::string out_;
};

}  // namespace

std::optional<std::string> inflate(std::string_view bytes, size_t size) {
  return Inflater(bytes, size).run();
}

}  // namespace tang
