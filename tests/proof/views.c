/* views.c - views stay inside the tensor they are made from: what tests/check/proof.sh proves
 * beside the contracts of shape.c.
 *
 * A function here is a theorem: requires says what is given, ensures what follows, the loop is
 * the induction over axes.  None is ever called. */
#include "view/shape.c"

/* One axis: a part of m elements that begins at element o and steps k elements, ending e
 * elements further on, touches no byte beyond the n elements it was made from. */
/*@ requires n >= 1 && m >= 1 && 0 <= o < n && 0 <= o + e < n;
    requires e == (m - 1) * k && (m > 1 ==> t == k * s);
    assigns \nothing;
    ensures least(run(n, s)) <= (n > 1 ? o * s : 0) + least(run(m, t));
    ensures (n > 1 ? o * s : 0) + most(run(m, t)) <= most(run(n, s)); */
static void part_of_an_axis(int64_t n, int64_t s, int64_t o, int64_t k, int64_t e, int64_t m,
                            int64_t t)
{
    //@ ghost between(o, n, s);
    //@ ghost between(o + e, n, s);
    //@ ghost ends(m, t);
    //@ assert run(m, t) == e * s;
    //@ assert (o + e) * s == o * s + e * s;
}

/*@ predicate part{L}(int64_t *n, int64_t *s, int64_t *o, int64_t *k, int64_t *m, int64_t *t,
                      integer ndim) =
        \forall integer i; 0 <= i < ndim ==>
            n[i] >= 1 && m[i] >= 1 && 0 <= o[i] < n[i] && 0 <= o[i] + (m[i] - 1) * k[i] < n[i]
   && (m[i] > 1 ==> t[i] == k[i] * s[i]); */

/* All axes: what tn_slice, tn_select, tn_view, tn_flip and tn_broadcast make (k is 1, the step,
 * -1 or 0), in any order of the axes. */
/*@ requires ndim >= 0 && list(n, ndim) && list(s, ndim) && list(o, ndim) && list(k, ndim);
    requires list(m, ndim) && list(t, ndim) && part(n, s, o, k, m, t, ndim);
    assigns \nothing;
    ensures low(n, s, 0, ndim) <= offset_of(n, s, o, 0, ndim) + low(m, t, 0, ndim);
    ensures offset_of(n, s, o, 0, ndim) + high(m, t, 0, ndim, width) <=
            high(n, s, 0, ndim, width);
*/
void part_lies_inside(int ndim, const int64_t *n, const int64_t *s, const int64_t *o,
                      const int64_t *k, const int64_t *m, const int64_t *t, int64_t width)
{
    /*@ loop invariant -1 <= i < ndim;
        loop invariant low(n, s, i + 1, ndim) <=
                       offset_of(n, s, o, i + 1, ndim) + low(m, t, i + 1, ndim);
        loop invariant offset_of(n, s, o, i + 1, ndim) + high(m, t, i + 1, ndim, width) <=
                       high(n, s, i + 1, ndim, width);
        loop assigns i;
        loop variant i; */
    for (int i = ndim - 1; i >= 0; i--) {
        //@ assert -n[i] < (m[i] - 1) * k[i] < n[i];
        const int64_t steps = m[i] - 1, e = steps * k[i];
        part_of_an_axis(n[i], s[i], o[i], k[i], e, m[i], t[i]);
    }
}

/* The axes that tn_windows makes of one: count windows of size elements, step apart. */
/*@ requires n >= 1 && count >= 1 && size >= 1 && step >= 1;
    requires (count - 1) * step + size <= n && (count > 1 ==> t == step * s);
    assigns \nothing;
    ensures least(run(n, s)) <= least(run(count, t)) + least(run(size, s));
    ensures most(run(count, t)) + most(run(size, s)) <= most(run(n, s)); */
void windows_lie_inside(int64_t n, int64_t s, int64_t count, int64_t size, int64_t step,
                        int64_t t)
{
    const int64_t windows = count - 1, e = windows * step;
    //@ ghost ends(count, t);
    //@ ghost ends(size, s);
    //@ ghost between(e + size - 1, n, s);
    //@ ghost between(e, n, s);
    //@ assert run(count, t) == e * s;
    //@ assert (e + size - 1) * s == e * s + (size - 1) * s;
}

/* The axis that tn_diagonal makes of two: m elements, no more than either has. */
/*@ requires 1 <= m <= n1 && m <= n2 && (m > 1 ==> t == s1 + s2);
    assigns \nothing;
    ensures least(run(n1, s1)) + least(run(n2, s2)) <= least(run(m, t));
    ensures most(run(m, t)) <= most(run(n1, s1)) + most(run(n2, s2)); */
void diagonal_lies_inside(int64_t n1, int64_t s1, int64_t n2, int64_t s2, int64_t m, int64_t t)
{
    //@ ghost ends(m, t);
    //@ ghost between(m - 1, n1, s1);
    //@ ghost between(m - 1, n2, s2);
    //@ assert run(m, t) == (m - 1) * s1 + (m - 1) * s2;
}

/* The axes that tn_reshape makes of one, and the one that it makes of them. */
/*@ requires n == a * b && a >= 1 && b >= 1;
    assigns \nothing;
    ensures a > 1 && b > 1 ==> (a - 1) * (b * s) + (b - 1) * s == run(n, s); */
void split_axes_reach_as_far(int64_t n, int64_t s, int64_t a, int64_t b)
{
    //@ assert n > 1 || (a == 1 && b == 1);
    //@ assert (a - 1) * (b * s) + (b - 1) * s == (a * b) * s - s;
}

/* Row-major strides fill size bytes without a gap. */
/*@ requires ndim >= 0 && extents(shape, ndim) && list(stride, ndim) && width >= 1;
    requires sized(shape, 0, ndim, width);
    requires \forall integer i; 0 <= i < ndim ==> stride[i] == size(shape, i + 1, ndim, width);
    assigns \nothing;
    ensures reach(shape, stride, 0, ndim, width) == size(shape, 0, ndim, width);
    ensures spans(shape, stride, 0, ndim, width); */
void dense_strides_reach_the_size(int ndim, const int64_t *shape, const int64_t *stride,
                                  int64_t width)
{
    /*@ loop invariant -1 <= i < ndim;
        loop invariant reach(shape, stride, i + 1, ndim, width) ==
                       size(shape, i + 1, ndim, width);
        loop invariant spans(shape, stride, i + 1, ndim, width);
        loop assigns i;
        loop variant i; */
    for (int i = ndim - 1; i >= 0; i--) {
        //@ ghost ends(shape[i], stride[i]);
        //@ assert stride[i] == size(shape, i + 1, ndim, width);
        //@ assert far(shape[i], stride[i]) == wide(shape[i]) * stride[i] - stride[i];
        //@ assert size(shape, i, ndim, width) == wide(shape[i]) * stride[i];
        /*@ assert reach(shape, stride, i, ndim, width) ==
                   far(shape[i], stride[i]) + reach(shape, stride, i + 1, ndim, width); */
    }
}

//@ predicate times(integer a, integer b, integer c) = a == b * c;
/*@ ghost
    /@ requires count >= 1 && width >= 1 && times(bytes, width, count);
       assigns \nothing;
       ensures times(wide(n) * bytes, width, wide(n) * count);
       ensures wide(n) * count <= wide(n) * bytes; @/
    static void scales(int64_t n, int64_t width, int64_t count, int64_t bytes) {} */

/* What fits in bytes fits as a count: tni_shape_count may be asked of every checked tensor. */
/*@ requires ndim >= 0 && extents(shape, ndim) && width >= 1;
    requires sized(shape, 0, ndim, width);
    assigns \nothing;
    ensures size(shape, 0, ndim, width) == width * size(shape, 0, ndim, 1);
    ensures sized(shape, 0, ndim, 1); */
void bytes_bound_the_count(int ndim, const int64_t *shape, int64_t width)
{
    int64_t count = 1, bytes = width;
    /*@ loop invariant -1 <= i < ndim;
        loop invariant count == size(shape, i + 1, ndim, 1);
        loop invariant bytes == size(shape, i + 1, ndim, width);
        loop invariant 1 <= count <= bytes && times(bytes, width, count);
        loop invariant sized(shape, i + 1, ndim, 1);
        loop assigns i, count, bytes;
        loop variant i; */
    for (int i = ndim - 1; i >= 0; i--) {
        //@ ghost grows(shape[i], count);
        //@ ghost grows(shape[i], bytes);
        //@ assert size(shape, i, ndim, 1) == wide(shape[i]) * count;
        //@ assert size(shape, i, ndim, width) == wide(shape[i]) * bytes;
        //@ ghost scales(shape[i], width, count, bytes);
        if (shape[i] > 1) {
            count *= shape[i];
            bytes *= shape[i];
        }
    }
}

/* The elements of a checked tensor have offsets: tni_shape_offset may be asked of it. */
/*@ requires ndim >= 0 && extents(shape, ndim) && list(stride, ndim) && width >= 1;
    requires spans(shape, stride, 0, ndim, width);
    assigns \nothing;
    ensures spans(shape, stride, 0, ndim, 1);
    ensures high(shape, stride, 0, ndim, width) == high(shape, stride, 0, ndim, 1) + width - 1;
*/
void bytes_bound_the_offsets(int ndim, const int64_t *shape, const int64_t *stride,
                             int64_t width)
{
    /*@ loop invariant -1 <= i < ndim;
        loop invariant reach(shape, stride, i + 1, ndim, width) ==
                       reach(shape, stride, i + 1, ndim, 1) + width - 1;
        loop invariant high(shape, stride, i + 1, ndim, width) ==
                       high(shape, stride, i + 1, ndim, 1) + width - 1;
        loop invariant spans(shape, stride, i + 1, ndim, 1);
        loop assigns i;
        loop variant i; */
    for (int i = ndim - 1; i >= 0; i--) {
        //@ ghost ends(shape[i], stride[i]);
        //@ assert reach(shape, stride, i, ndim, width) <= INT64_MAX;
    }
}
