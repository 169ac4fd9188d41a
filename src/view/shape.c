/* shape.c - the arithmetic of extents and strides: counts, dense strides, byte ranges, offsets.
 *
 * All sums and products of unchecked numbers are computed here, with checked.h.  A function
 * that returns false has written nothing.  Extents of 0 count as 1 in sizes, so that what fits
 * still fits when an empty axis is dropped or filled; axes of extent 0 or 1 contribute no
 * stride.
 *
 * The contracts are in ACSL; tests/check/proof.sh proves them for any number of axes.  Their
 * logic functions are defined over the axes i to ndim - 1, so that loops run from the last axis
 * on. */
#include "view.h"

/*@ logic integer wide(integer n) = n > 1 ? n : 1;
    logic integer least(integer a) = a < 0 ? a : 0;
    logic integer most(integer a) = a > 0 ? a : 0;
    logic integer run(integer n, integer stride) = (wide(n) - 1) * stride;
    logic integer far(integer n, integer stride) = (wide(n) - 1) * \abs(stride);

    // bytes of all elements, length of their byte range, its ends, where an index points
    logic integer size{L}(int64_t *shape, integer i, integer ndim, integer width) =
        i >= ndim ? width : wide(shape[i]) * size(shape, i + 1, ndim, width);
    logic integer reach{L}(int64_t *shape, int64_t *stride, integer i, integer ndim,
                           integer width) =
        i >= ndim ? width : far(shape[i], stride[i]) +
                            reach(shape, stride, i + 1, ndim, width);
    logic integer low{L}(int64_t *shape, int64_t *stride, integer i, integer ndim) =
        i >= ndim ? 0 : least(run(shape[i], stride[i])) +
                        low(shape, stride, i + 1, ndim);
    logic integer high{L}(int64_t *shape, int64_t *stride, integer i, integer ndim,
                          integer width) =
        i >= ndim ? width : most(run(shape[i], stride[i])) +
                            high(shape, stride, i + 1, ndim, width);
    logic integer offset_of{L}(int64_t *shape, int64_t *stride, int64_t *index, integer i,
                           integer ndim) =
        i >= ndim ? 0 : (shape[i] > 1 ? index[i] * stride[i] : 0) +
                        offset_of(shape, stride, index, i + 1, ndim);

    predicate list{L}(int64_t *x, integer ndim) = \valid_read(x + (0 .. ndim - 1));
    predicate extents{L}(int64_t *shape, integer ndim) =
        list(shape, ndim) && \forall integer i; 0 <= i < ndim ==> shape[i] >= 0;
    predicate sized{L}(int64_t *shape, integer from, integer ndim, integer width) =
        \forall integer i; from <= i <= ndim ==>
            width <= size(shape, i, ndim, width) <= INT64_MAX;
    predicate spans{L}(int64_t *shape, int64_t *stride, integer from, integer ndim,
                       integer width) =
        \forall integer i; from <= i <= ndim ==>
            width <= reach(shape, stride, i, ndim, width) <= INT64_MAX;
    predicate empty{L}(int64_t *shape, integer from, integer ndim) =
        \exists integer i; from <= i < ndim && shape[i] == 0;
    predicate inside{L}(int64_t *index, int64_t *shape, integer ndim) =
        \forall integer i; 0 <= i < ndim ==> 0 <= index[i] < shape[i];
    predicate neighbours{L}(int64_t *shape, integer i, integer j) =
        i < j && shape[i] != 1 && shape[j] != 1 &&
        \forall integer k; i < k < j ==> shape[k] == 1; */

/* Facts about one axis, proved once and called where a proof needs them. */
/*@ ghost
    /@ requires n >= 0;
       assigns \nothing;
       ensures most(run(n, s)) - least(run(n, s)) == far(n, s) >= 0;
       ensures -far(n, s) <= run(n, s) <= far(n, s);
       ensures run(n, s) == (n > 1 ? (n - 1) * s : 0);
       ensures n <= 1 ==> far(n, s) == 0; @/
    static void ends(int64_t n, int64_t s) {}

    /@ requires 0 <= k < n;
       assigns \nothing;
       ensures least(run(n, s)) <= k * s <= most(run(n, s)); @/
    static void between(int64_t k, int64_t n, int64_t s) {}

    /@ requires a >= 0;
       assigns \nothing;
       ensures a <= wide(n) * a == (n > 1 ? a * n : a); @/
    static void grows(int64_t n, int64_t a) {} */

/*@ requires ndim >= 0 && extents(shape, ndim) && width >= 1 && \valid(size);
    assigns *size;
    ensures \result <==> sized{Pre}(shape, 0, ndim, width);
    ensures *size == (\result ? size{Pre}(shape, 0, ndim, width) : \old(*size)); */
bool tni_shape_size(int ndim, const int64_t *shape, int64_t width, int64_t *size)
{
    int64_t bytes = width;
    /*@ loop invariant -1 <= i < ndim;
        loop invariant bytes == size(shape, i + 1, ndim, width);
        loop invariant sized(shape, i + 1, ndim, width);
        loop assigns i, bytes;
        loop variant i; */
    for (int i = ndim - 1; i >= 0; i--) {
        //@ ghost grows(shape[i], bytes);
        //@ assert size(shape, i, ndim, width) == wide(shape[i]) * bytes;
        if (shape[i] > 1 && !tni_scale(bytes, shape[i], &bytes))
            return false;
    }
    *size = bytes;
    return true;
}

/* Extend the reach by one axis longer than 1. */
/*@ requires \valid(reach) && *reach >= 1 && n > 1;
    assigns *reach;
    ensures \result <==> far(n, stride) + \old(*reach) <= INT64_MAX;
    ensures *reach == (\result ? far(n, stride) + \old(*reach) : \old(*reach)); */
static inline bool stretch(int64_t n, int64_t stride, int64_t *reach)
{
    int64_t step, part;
    return tni_abs(stride, &step) && tni_scale(n - 1, step, &part) &&
           tni_add(*reach, part, reach);
}

/*@ requires ndim >= 0 && extents(shape, ndim) && list(stride, ndim);
    requires width >= 1 && \valid(reach);
    assigns *reach;
    ensures \result <==> spans{Pre}(shape, stride, 0, ndim, width);
    ensures *reach == (\result ? reach{Pre}(shape, stride, 0, ndim, width) : \old(*reach)); */
bool tni_shape_reach(int ndim, const int64_t *shape, const int64_t *stride, int64_t width,
                     int64_t *reach)
{
    int64_t sum = width;
    /*@ loop invariant -1 <= i < ndim;
        loop invariant sum == reach(shape, stride, i + 1, ndim, width);
        loop invariant spans(shape, stride, i + 1, ndim, width);
        loop assigns i, sum;
        loop variant i; */
    for (int i = ndim - 1; i >= 0; i--) {
        //@ ghost ends(shape[i], stride[i]);
        //@ assert reach(shape, stride, i, ndim, width) == far(shape[i], stride[i]) + sum;
        if (shape[i] > 1 && !stretch(shape[i], stride[i], &sum))
            return false;
    }
    *reach = sum;
    return true;
}

/*@ requires ndim >= 0 && list(shape, ndim) && list(stride, ndim) && width >= 1;
    assigns \nothing;
    ensures \result <==> extents(shape, ndim) && sized(shape, 0, ndim, width) &&
                         spans(shape, stride, 0, ndim, width); */
bool tni_shape_fits(int ndim, const int64_t *shape, const int64_t *stride, int64_t width)
{
    int64_t size = width, reach = width;
    /*@ loop invariant -1 <= i < ndim;
        loop invariant \forall integer j; i < j < ndim ==> shape[j] >= 0;
        loop invariant size == size(shape, i + 1, ndim, width);
        loop invariant reach == reach(shape, stride, i + 1, ndim, width);
        loop invariant sized(shape, i + 1, ndim, width);
        loop invariant spans(shape, stride, i + 1, ndim, width);
        loop assigns i, size, reach;
        loop variant i; */
    for (int i = ndim - 1; i >= 0; i--) {
        const int64_t n = shape[i];
        if (n < 0)
            return false;
        //@ ghost grows(n, size);
        //@ ghost ends(n, stride[i]);
        //@ assert size(shape, i, ndim, width) == wide(n) * size;
        if (n > 1 && !tni_scale(size, n, &size))
            return false;
        //@ assert size == size(shape, i, ndim, width);
        //@ assert reach(shape, stride, i, ndim, width) == far(n, stride[i]) + reach;
        if (n > 1 && !stretch(n, stride[i], &reach))
            return false;
    }
    return true;
}

/*@ requires ndim >= 0 && extents(shape, ndim) && width >= 1;
    requires sized(shape, 0, ndim, width);
    requires \valid(stride + (0 .. ndim - 1));
    requires \separated(stride + (0 .. ndim - 1), shape + (0 .. ndim - 1));
    assigns stride[0 .. ndim - 1];
    ensures \forall integer i; 0 <= i < ndim ==>
                stride[i] == size{Pre}(shape, i + 1, ndim, width); */
void tni_shape_dense(int ndim, const int64_t *shape, int64_t width, int64_t *stride)
{
    int64_t step = width;
    /*@ loop invariant -1 <= i < ndim;
        loop invariant step == size{Pre}(shape, i + 1, ndim, width);
        loop invariant \forall integer j; 0 <= j < ndim ==> shape[j] == \at(shape[j], Pre);
        loop invariant \forall integer j; i < j < ndim ==>
                           stride[j] == size{Pre}(shape, j + 1, ndim, width);
        loop assigns i, step, stride[0 .. ndim - 1];
        loop variant i; */
    for (int i = ndim - 1; i >= 0; i--) {
        //@ ghost grows(shape[i], step);
        //@ assert size{Pre}(shape, i, ndim, width) == wide(shape[i]) * step;
        //@ assert size{Pre}(shape, i, ndim, width) <= INT64_MAX;
        stride[i] = step;
        if (shape[i] > 1)
            step *= shape[i];
    }
}

/*@ requires ndim >= 0 && extents(shape, ndim) && sized(shape, 0, ndim, 1);
    assigns \nothing;
    ensures empty(shape, 0, ndim) ==> \result == 0;
    ensures !empty(shape, 0, ndim) ==> \result == size(shape, 0, ndim, 1); */
int64_t tni_shape_count(int ndim, const int64_t *shape)
{
    int64_t count = 1;
    /*@ loop invariant -1 <= i < ndim;
        loop invariant !empty(shape, i + 1, ndim);
        loop invariant count == size(shape, i + 1, ndim, 1);
        loop assigns i, count;
        loop variant i; */
    for (int i = ndim - 1; i >= 0; i--) {
        if (shape[i] == 0)
            return 0;
        //@ ghost grows(shape[i], count);
        //@ assert size(shape, i, ndim, 1) == wide(shape[i]) * count;
        //@ assert size(shape, i, ndim, 1) <= INT64_MAX;
        //@ assert wide(shape[i]) * count == count * shape[i];
        count *= shape[i];
    }
    return count;
}

/*@ requires ndim >= 0 && extents(shape, ndim) && list(stride, ndim) && width >= 1;
    requires spans(shape, stride, 0, ndim, width);
    requires \valid(low) && \valid(high) && \separated(low, high);
    assigns *low, *high;
    ensures empty{Pre}(shape, 0, ndim) ==> *low == 0 && *high == 0;
    ensures !empty{Pre}(shape, 0, ndim) ==>
                *low == low{Pre}(shape, stride, 0, ndim) &&
                *high == high{Pre}(shape, stride, 0, ndim, width) &&
                *low <= 0 && width <= *high &&
                *high - *low == reach{Pre}(shape, stride, 0, ndim, width); */
void tni_shape_range(int ndim, const int64_t *shape, const int64_t *stride, int64_t width,
                     int64_t *low, int64_t *high)
{
    int64_t from = 0, to = width;
    /*@ loop invariant -1 <= i < ndim;
        loop invariant !empty(shape, i + 1, ndim);
        loop invariant from == low(shape, stride, i + 1, ndim);
        loop invariant to == high(shape, stride, i + 1, ndim, width);
        loop invariant to - from == reach(shape, stride, i + 1, ndim, width);
        loop invariant from <= 0 && width <= to;
        loop assigns i, from, to;
        loop variant i; */
    for (int i = ndim - 1; i >= 0; i--) {
        if (shape[i] == 0) {
            from = to = 0;
            break;
        }
        //@ ghost ends(shape[i], stride[i]);
        /*@ assert reach(shape, stride, i, ndim, width) ==
                   far(shape[i], stride[i]) + (to - from); */
        //@ assert reach(shape, stride, i, ndim, width) <= INT64_MAX;
        if (shape[i] == 1)
            continue;
        const int64_t steps = shape[i] - 1, last = steps * stride[i];
        if (last < 0)
            from += last;
        else
            to += last;
    }
    *low = from;
    *high = to;
}

/*@ requires ndim >= 0 && list(shape, ndim) && list(stride, ndim);
    assigns \nothing;
    ensures \result <==> (\forall integer i, j; 0 <= i && j < ndim && neighbours(shape, i, j)
   ==> stride[i] == shape[j] * stride[j]); */
bool tni_shape_merges(int ndim, const int64_t *shape, const int64_t *stride)
{
    int inner = -1;
    /*@ loop invariant -1 <= i < ndim;
        loop invariant inner == -1 || (i < inner < ndim && shape[inner] != 1);
        loop invariant \forall integer k; i < k < (inner < 0 ? ndim : inner) ==> shape[k] == 1;
        loop invariant \forall integer j, k; i < j && k < ndim && neighbours(shape, j, k) ==>
                           stride[j] == shape[k] * stride[k];
        loop assigns i, inner;
        loop variant i; */
    for (int i = ndim - 1; i >= 0; i--) {
        if (shape[i] == 1)
            continue;
        int64_t whole;
        //@ assert inner >= 0 ==> neighbours(shape, i, inner);
        if (inner >= 0 && !(tni_mul(shape[inner], stride[inner], &whole) && stride[i] == whole))
            return false;
        inner = i;
    }
    return true;
}

/*@ requires ndim >= 0 && extents(shape, ndim) && list(stride, ndim) && list(index, ndim);
    requires spans(shape, stride, 0, ndim, 1) && inside(index, shape, ndim);
    assigns \nothing;
    ensures \result == offset_of(shape, stride, index, 0, ndim);
    ensures low(shape, stride, 0, ndim) <= \result < high(shape, stride, 0, ndim, 1); */
int64_t tni_shape_offset(int ndim, const int64_t *shape, const int64_t *stride,
                         const int64_t *index)
{
    int64_t sum = 0;
    /*@ loop invariant -1 <= i < ndim;
        loop invariant sum == offset_of(shape, stride, index, i + 1, ndim);
        loop invariant low(shape, stride, i + 1, ndim) <= sum;
        loop invariant sum < high(shape, stride, i + 1, ndim, 1);
        loop invariant high(shape, stride, i + 1, ndim, 1) - low(shape, stride, i + 1, ndim) ==
                       reach(shape, stride, i + 1, ndim, 1);
        loop invariant low(shape, stride, i + 1, ndim) <= 0;
        loop invariant 1 <= high(shape, stride, i + 1, ndim, 1);
        loop assigns i, sum;
        loop variant i; */
    for (int i = ndim - 1; i >= 0; i--) {
        //@ assert reach(shape, stride, i, ndim, 1) <= INT64_MAX;
        //@ ghost ends(shape[i], stride[i]);
        //@ ghost between(index[i], shape[i], stride[i]);
        if (shape[i] > 1)
            sum += index[i] * stride[i];
    }
    return sum;
}

/* Clamp a slice bound to [low, high] as Python does; a negative bound counts from the end. */
/*@ requires n >= 0 && low <= high;
    assigns \nothing;
    ensures low <= \result <= high; */
static int64_t bound(int64_t at, int64_t n, int64_t low, int64_t high)
{
    if (at < 0)
        at += n;
    return at < low ? low : at > high ? high : at;
}

/*@ requires n >= 0 && step != 0 && \valid(start);
    assigns *start;
    ensures 0 <= \result <= n;
    ensures \result > 0 ==> 0 <= *start < n && 0 <= *start + (\result - 1) * step < n; */
int64_t tni_shape_slice(int64_t n, int64_t *start, int64_t stop, int64_t step)
{
    if (step > 0) {
        const int64_t from = bound(*start, n, 0, n), to = bound(stop, n, 0, n);
        *start = from;
        return from < to ? (to - from - 1) / step + 1 : 0;
    }
    const int64_t from = bound(*start, n, -1, n - 1), to = bound(stop, n, -1, n - 1);
    *start = from;
    return from > to ? (to - from + 1) / step + 1 : 0;
}
