/* dimension.cpp - unsqueeze, squeeze and pad in their three modes, written for a tensor library
 * with a backend object; the names below are all that it needs on top of <tenon/tenon.hpp>. */
#include <cstdio>
#include <cstdlib>

#include <tenon/tenon.hpp>

namespace tr
{
using Tensor = tn::tensor;
using Shape = tn::shape;
using TRException = tn::error;
struct DType {
    static constexpr tn_dtype FP32 = TN_F32, INT8 = TN_I8;
};

struct CpuBackend {
    Tensor unsqueeze(const Tensor &a, int dim) const
    {
        return tn::unsqueeze(a, dim);
    }
    void unsqueeze_inplace(Tensor &a, int dim) const
    {
        tn::unsqueeze_inplace(a, dim);
    }
    void unsqueeze_into(const Tensor &a, Tensor &b) const
    {
        tn::unsqueeze_into(a, b);
    }
    Tensor squeeze(const Tensor &a, int dim) const
    {
        return tn::squeeze(a, dim);
    }
    void squeeze_inplace(Tensor &a, int dim) const
    {
        tn::squeeze_inplace(a, dim);
    }
    void squeeze_into(const Tensor &a, Tensor &b) const
    {
        tn::squeeze_into(a, b);
    }
    Tensor pad(const Tensor &a, int padding) const
    {
        return tn::pad(a, padding);
    }
    void pad_into(const Tensor &a, int padding, Tensor &b) const
    {
        tn::pad_into(a, padding, b);
    }
};
struct BackendManager {
    static const CpuBackend *get_cpu_backend()
    {
        static const CpuBackend backend;
        return &backend;
    }
};
} // namespace tr

using tr::BackendManager, tr::DType, tr::Shape, tr::Tensor, tr::TRException;

static void expect(bool holds, const char *what)
{
    if (!holds) {
        std::printf("wrong: %s\n", what);
        std::exit(1);
    }
}
#define EXPECT(x) expect(x, #x)

template <class F> static void expect_throws(tn_status status, F f)
{
    try {
        f();
    } catch (const TRException &e) {
        std::printf("%s: %s\n", e.name(), e.what());
        expect(e.status() == status, tn_status_name(status));
        return;
    }
    expect(false, "an exception");
}

static void basic_operations(const tr::CpuBackend *cpu_backend)
{
    // Scalar to 1D
    Tensor scalar = Tensor::full(Shape(), 3.14f);
    Tensor vec = cpu_backend->unsqueeze(scalar, 0); // Shape: (1,)
    EXPECT(vec.shape() == Shape(1));

    // 1D to 2D
    Tensor vec1d = Tensor::full(Shape(3), 2.0f);
    Tensor mat = cpu_backend->unsqueeze(vec1d, 0); // Shape: (1, 3)
    EXPECT(mat.shape() == Shape(1, 3));

    // 2D to 3D (insert at position 1)
    Tensor mat2d = Tensor::full(Shape(2, 3), 1.0f);
    Tensor tensor3d = cpu_backend->unsqueeze(mat2d, 1); // Shape: (2, 1, 3)
    EXPECT(tensor3d.shape() == Shape(2, 1, 3));

    // and back
    Tensor one = Tensor::full(Shape(1), 5.0f);
    EXPECT(cpu_backend->squeeze(one, 0).shape() == Shape());
    Tensor squeezed = cpu_backend->squeeze(tensor3d, 1); // Shape: (2, 3)
    EXPECT(squeezed.shape() == Shape(2, 3) && squeezed.at<float>(1, 2) == 1.0f);
}

static void pad_operations(const tr::CpuBackend *cpu_backend)
{
    // 2D padding
    Tensor input2d = Tensor::randn(Shape(3, 4), 42, DType::FP32);
    Tensor padded2d = cpu_backend->pad(input2d, 1); // Shape: (5, 6)
    EXPECT(padded2d.shape() == Shape(5, 6) && padded2d.at<float>(0, 0) == 0);
    EXPECT(padded2d.at<float>(1, 1) == input2d.at<float>(0, 0));

    // 3D padding (channel-first format)
    Tensor input3d = Tensor::randn(Shape(2, 3, 4), 123, DType::FP32);
    EXPECT(cpu_backend->pad(input3d, 2).shape() == Shape(2, 7, 8));

    // 4D padding (batch, channel, height, width)
    Tensor input4d = Tensor::randn(Shape(2, 3, 4, 5), 456, DType::FP32);
    EXPECT(cpu_backend->pad(input4d, 1).shape() == Shape(2, 3, 6, 7));

    // INT8 padding
    Tensor input_int8 = Tensor::randint(0, 100, Shape(3, 4), 789, DType::INT8);
    Tensor padded_int8 = cpu_backend->pad(input_int8, 1);
    EXPECT(padded_int8.at<int8_t>(1, 1) == input_int8.at<int8_t>(0, 0));
}

static void into_and_inplace(const tr::CpuBackend *cpu_backend)
{
    // Unsqueeze into pre-allocated tensor
    Tensor input = Tensor::full(Shape(2, 3), 1.0f);
    Tensor output = Tensor::empty(Shape(2, 1, 3), DType::FP32);
    cpu_backend->unsqueeze_into(input, output); // Output gets the unsqueezed data
    EXPECT(output.at<float>(1, 0, 2) == 1.0f);

    // Pad into pre-allocated tensor
    Tensor pad_input = Tensor::randn(Shape(3, 4), 321, DType::FP32);
    Tensor pad_output = Tensor::empty(Shape(5, 6), DType::FP32);
    cpu_backend->pad_into(pad_input, 1, pad_output); // Output gets padded data
    EXPECT(pad_output.at<float>(3, 4) == pad_input.at<float>(2, 3));

    // Unsqueeze inplace
    Tensor tensor = Tensor::full(Shape(2, 3), 1.0f);
    cpu_backend->unsqueeze_inplace(tensor, 1); // tensor.shape() becomes (2, 1, 3)
    EXPECT(tensor.shape() == Shape(2, 1, 3));

    // Squeeze inplace
    Tensor tensor2 = Tensor::full(Shape(1, 4), 2.0f);
    cpu_backend->squeeze_inplace(tensor2, 0); // tensor2.shape() becomes (4,)
    EXPECT(tensor2.shape() == Shape(4));
}

static void errors(const tr::CpuBackend *cpu_backend)
{
    Tensor a = Tensor::full(Shape(2, 3), 1.0f);
    Tensor b = Tensor::full(Shape(2, 4), 1.0f);
    expect_throws(TN_EARG, [&] { cpu_backend->unsqueeze(a, 4); });
    expect_throws(TN_ESHAPE, [&] { cpu_backend->squeeze(a, 0); });
    expect_throws(TN_EARG, [&] { cpu_backend->pad(a, -1); });
    expect_throws(TN_ESHAPE, [&] { cpu_backend->pad(Tensor::full(Shape(3), 1.0f), 1); });
    expect_throws(TN_ESHAPE, [&] { cpu_backend->unsqueeze_into(a, b); });
    expect_throws(TN_ESHAPE, [&] { cpu_backend->pad_into(a, 1, b); });
}

int main()
{
    auto cpu_backend = BackendManager::get_cpu_backend();
    basic_operations(cpu_backend);
    pad_operations(cpu_backend);
    into_and_inplace(cpu_backend);
    errors(cpu_backend);

    // Combine operations for complex transformations
    Tensor img_2d = Tensor::randn(Shape(224, 224), 100, DType::FP32);
    Tensor img_3d = cpu_backend->unsqueeze(img_2d, 0); // (1, 224, 224) - add channel dim
    Tensor img_4d = cpu_backend->unsqueeze(img_3d, 0); // (1, 1, 224, 224) - add batch dim
    Tensor padded_img = cpu_backend->pad(img_4d, 2);   // (1, 1, 228, 228) - add zero padding
    std::printf("padded image %s\n", padded_img.shape().str().c_str());
    return padded_img.shape() == Shape(1, 1, 228, 228) ? 0 : 1;
}
