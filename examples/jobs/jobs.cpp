/* jobs.cpp - the three jobs of jobs.c in C++. */
#include <cstdio>

#include <tenon/tenon.hpp>

static void show(const char *job, const tn::tensor &t)
{
    double sum = 0;
    for (int64_t i = 0; i < t.size(); i++)
        sum += static_cast<double>(t.data<float>()[i]) * static_cast<double>(i % 7);
    std::printf("%s: %s %.1f\n", job, t.shape().str().c_str(), sum);
}

int main(int argc, char **argv)
try {
    const char *path = argc > 1 ? argv[1] : "jobs.npy";
    auto numbers = tn::tensor::arange(2 * 4 * 5 * 3);
    auto images = numbers.reshape({2, 4, 5, 3});

    // 1. channels first
    auto nchw = images.rearrange("b h w c -> b c h w");
    show("rearrange", nchw);

    // 2. two pixels around each image, mirrored
    auto padded = tn::pad(nchw, {0, 0, 2, 2}, {0, 0, 2, 2}, TN_PAD_REFLECT);
    show("pad", padded);

    // 3. save, then take every second row of the second image
    tn::save(path, padded);
    auto rows = tn::load(path)("1, :, ::2").copy();
    show("file", rows);
} catch (const tn::error &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
