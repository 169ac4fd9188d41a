/* iop_border_more.c - the public functions of losses, indices, windows, interpolation, products
 * and 4-bit weights. */
#include "iop_border.h"

/* clang-format off */
CREATE(HuberLoss, (T output, T input, T target, float delta, int reduction),
       .t = {output, input, target}, .num = {(double)reduction, (double)delta})
RUN(HuberLoss, (void *output, const void *input, const void *target), output, input, target)

CREATE(SmoothL1Loss, (T output, T input, T target, float beta, int reduction),
       .t = {output, input, target}, .num = {(double)reduction, (double)beta})
RUN(SmoothL1Loss, (void *output, const void *input, const void *target), output, input, target)

CREATE(HingeEmbeddingLoss, (T y, T input, T target, double margin, int reduction),
       .t = {y, input, target}, .num = {(double)reduction, margin})
RUN(HingeEmbeddingLoss, (void *y, const void *input, const void *target), y, input, target)

CREATE(GaussianNllLoss,
       (T y, T input, T target, T var, int full, double eps, int reduction),
       .t = {y, input, target, var}, .num = {(double)reduction, eps, (double)full})
RUN(GaussianNllLoss, (void *y, const void *input, const void *target, const void *var),
    y, input, target, var)

CREATE(BCEWithLogits,
       (T out, T logits, T target, T weight, T pos_weight, infiniopReduction_t reduction),
       .t = {out, logits, target, weight, pos_weight}, .num = {(double)reduction})
RUN(BCEWithLogits,
    (void *out, const void *logits, const void *target, const void *weight,
     const void *pos_weight),
    out, logits, target, weight, pos_weight)

CREATE(CrossEntropy, (T y, T x, T target), .t = {y, x, target})
RUN(CrossEntropy, (void *y, const void *x, const void *target), y, x, target)

CREATE(MultiMarginLoss,
       (T output, T input, T target, T weight, int p, float margin, int reduction),
       .t = {output, input, target, weight},
       .num = {(double)reduction, (double)p, (double)margin})
RUN(MultiMarginLoss,
    (void *output, const void *input, const void *target, const void *weight),
    output, input, target, weight)

CREATE(TripletMarginLoss,
       (T output, T anchor, T positive, T negative, float margin, int p, float eps, int swap,
        int reduction),
       .t = {output, anchor, positive, negative},
       .num = {(double)reduction, (double)margin, (double)swap, (double)p, (double)eps})
RUN(TripletMarginLoss,
    (void *output, const void *anchor, const void *positive, const void *negative),
    output, anchor, positive, negative)

CREATE(TripletMarginWithDistanceLoss,
       (T output, T anchor, T positive, T negative, float margin, int swap, int reduction),
       .t = {output, anchor, positive, negative},
       .num = {(double)reduction, (double)margin, (double)swap})
RUN(TripletMarginWithDistanceLoss,
    (void *output, const void *anchor, const void *positive, const void *negative),
    output, anchor, positive, negative)

CREATE(Take, (T output, T input, T indices), .t = {output, input, indices})
RUN(Take, (void *output, const void *input, const void *indices), output, input, indices)

CREATE(IndexAdd, (T output, T input, int64_t dim, T index, T source, float alpha),
       .t = {output, input, index, source}, .num = {(double)dim, (double)alpha})
RUN(IndexAdd, (void *output, const void *input, const void *index, const void *source),
    output, input, index, source)

CREATE(IndexCopy, (T output, T input, int64_t dim, T index, T source),
       .t = {output, input, index, source}, .num = {(double)dim})
RUN(IndexCopy, (void *output, const void *input, const void *index, const void *source),
    output, input, index, source)

CREATE(Scatter, (T output, T input, T indices, T updates, int axis, int reduction),
       .t = {output, input, indices, updates}, .num = {(double)axis, (double)reduction})
RUN(Scatter, (void *output, const void *input, const void *indices, const void *updates),
    output, input, indices, updates)

CREATE(MaskedSelect, (T input, T mask), .t = {input, mask})
infiniStatus_t infiniopMaskedSelect(infiniopMaskedSelectDescriptor_t desc, void *workspace,
                                    size_t workspace_size, const void *input,
                                    const bool *mask, void **data_ptr, size_t *dlen,
                                    void *stream)
{
    (void)stream;
    return tni_iop_go(TNI_IOP_MaskedSelect, desc, workspace, workspace_size, NULL,
                      (void *[]){data_ptr, dlen}, (const void *const[]){input, mask});
}

CREATE(Argwhere, (T input), .t = {input})
infiniStatus_t infiniopArgwhere(infiniopArgwhereDescriptor_t desc, void *workspace,
                                size_t workspace_size, void **output, size_t *count,
                                const void *input, void *stream)
{
    (void)stream;
    return tni_iop_go(TNI_IOP_Argwhere, desc, workspace, workspace_size, NULL,
                      (void *[]){output, count}, (const void *const[]){input});
}

CREATE(AvgPool1d, (T output, T input, size_t kernel_size, size_t stride, size_t padding),
       .t = {output, input}, .num = {(double)kernel_size, (double)stride, (double)padding})
RUN(AvgPool1d, (void *output, const void *input), output, input)

CREATE(AvgPool3d, (T y, T x, void *kernel_size, void *stride, void *padding),
       .t = {y, x}, .array = {kernel_size, stride, padding})
RUN(AvgPool3d, (void *y, const void *x), y, x)

CREATE(AdaptiveAvgPool1d, (T output, T input), .t = {output, input})
RUN(AdaptiveAvgPool1d, (void *output, const void *input), output, input)

CREATE(AdaptiveAvgPool3D, (T y, T x, size_t *output_size), .t = {y, x}, .array = {output_size})
RUN(AdaptiveAvgPool3D, (void *y, const void *x), y, x)

CREATE(AdaptiveMaxPool1d, (T y, T x, size_t output_size),
       .t = {y, x}, .num = {(double)output_size})
RUN(AdaptiveMaxPool1d, (void *y, const void *x), y, x)

CREATE(Conv, (T y, T x, T w, T bias, void *pads, void *strides, void *dilations, size_t n),
       .t = {y, x, w, bias}, .num = {(double)n}, .array = {pads, strides, dilations})
RUN(Conv, (void *y, const void *x, const void *w, const void *bias), y, x, w, bias)

CREATE(UpsampleNearest, (T output, T input), .t = {output, input})
RUN(UpsampleNearest, (void *output, const void *input), output, input)

CREATE(UpsampleBilinear, (T output, T input, int align_corners),
       .t = {output, input}, .num = {(double)align_corners})
RUN(UpsampleBilinear, (void *output, const void *input), output, input)

CREATE(Interpolate,
       (T y, T x, const char *mode, void *size, void *scale_factor, int align_corners),
       .t = {y, x}, .num = {(double)align_corners}, .array = {mode, size, scale_factor})
RUN(Interpolate, (void *y, const void *x), y, x)

CREATE(AffineGrid, (T output, T input, uint8_t align_corners),
       .t = {output, input}, .num = {(double)align_corners})
RUN(AffineGrid, (void *output, const void *input), output, input)

CREATE(Addbmm, (T out, T input, T batch1, T batch2, float alpha, float beta),
       .t = {out, input, batch1, batch2}, .num = {(double)alpha, (double)beta})
RUN(Addbmm, (void *out, const void *input, const void *batch1, const void *batch2),
    out, input, batch1, batch2)

CREATE(Addr, (T out, T input, T vec1, T vec2, float beta, float alpha),
       .t = {out, input, vec1, vec2}, .num = {(double)alpha, (double)beta})
RUN(Addr, (void *out, const void *input, const void *vec1, const void *vec2),
    out, input, vec1, vec2)

CREATE(Inner, (T out, T input, T other), .t = {out, input, other})
RUN(Inner, (void *out, const void *input, const void *other), out, input, other)

CREATE(Kron, (T y, T x1, T x2), .t = {y, x1, x2})
RUN(Kron, (void *y, const void *x1, const void *x2), y, x1, x2)

CREATE(MatrixPower, (T y, T x, int n), .t = {y, x}, .num = {(double)n})
RUN(MatrixPower, (void *y, const void *x), y, x)

CREATE(Logdet, (T y, T x), .t = {y, x})
RUN(Logdet, (void *y, const void *x), y, x)

CREATE(Vander, (T output, T input, int N, int increasing),
       .t = {output, input}, .num = {(double)N, (double)increasing})
RUN(Vander, (void *output, const void *input), output, input)

CREATE(Diff, (T y, T x, int dim, int n), .t = {y, x}, .num = {(double)dim, (double)n})
RUN(Diff, (void *y, const void *x), y, x)

CREATE(Mxfp4Dequantize, (T out, T packed, T scales), .t = {out, packed, scales})
RUN(Mxfp4Dequantize, (void *out, const void *packed, const void *scales), out, packed, scales)

CREATE(LinearMxfp4, (T output, T input, T packed, T scale, T bias, float alpha),
       .t = {output, input, packed, scale, bias}, .num = {(double)alpha})
RUN(LinearMxfp4,
    (void *output, const void *input, const void *packed, const void *scale, const void *bias),
    output, input, packed, scale, bias)

CREATE(FusedMoeMxfp4,
       (T output, T input, T experts, T routing, T w13, T s13, T w2, T s2,
        infiniopFusedMoeActivation_t activation),
       .t = {output, input, experts, routing, w13, s13, w2, s2}, .num = {(double)activation})
RUN(FusedMoeMxfp4,
    (void *output, const void *input, const void *experts, const void *routing,
     const void *w13, const void *s13, const void *w2, const void *s2),
    output, input, experts, routing, w13, s13, w2, s2)
/* clang-format on */
