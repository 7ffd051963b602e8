// generate MODEL TEXT: a model's file, or a folder as models are published, goes on with a text.
#include <qkv/qkv.h>

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  using namespace qkv;
  if (argc != 3) {
    std::fprintf(stderr, "usage: generate MODEL TEXT\n");
    return 2;
  }
  try {
    const Model model = Model::open(argv[1]);  // mapped: nothing is drawn, nothing is copied
    const Tokenizer& tokenizer = *model.tokenizers().tokens;
    const Encoding text = tokenizer.encode(argv[2]);
    const Tensor ids(text.ids, {1, static_cast<std::int64_t>(text.ids.size())});
    const NewTokens written = model.generate({.ids = ids}, {.most = 4});
    const std::vector<std::int32_t> next(written[0].begin(), written[0].end());
    std::printf("%s -> %s\n", argv[2], tokenizer.decode(next).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
