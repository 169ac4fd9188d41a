/* contract_order.c - finds the order in which several sources are multiplied.
 *
 * Every split of every set of sources into two is tried: 3^n steps for n sources, at most 8. */
#include "contract_chain.h"

static double order_size(const tni_contraction *x, const tni_labels *l)
{
    double size = 1;
    for (int w = 0; w * 64 < x->nlabel; w++)
        for (uint64_t bits = l->word[w]; bits; bits &= bits - 1)
            size *= (double)x->extent[w * 64 + __builtin_ctzll(bits)];
    return size;
}

static tni_labels order_join(const tni_labels *a, const tni_labels *b)
{
    tni_labels both;
    for (int w = 0; w < COUNT(both.word); w++)
        both.word[w] = a->word[w] | b->word[w];
    return both;
}

tni_labels tni_labels_of_set(const tni_contraction *x, const tni_labels *of, unsigned set)
{
    tni_labels in = {{0}}, out = of[0];
    for (int k = 0; k < x->nsrc; k++) {
        tni_labels *to = set >> k & 1 ? &in : &out;
        *to = order_join(to, &of[k + 1]);
    }
    for (int w = 0; w < COUNT(in.word); w++)
        in.word[w] &= out.word[w];
    return in;
}

void tni_order_search(tni_order *o, const tni_contraction *x, const tni_labels *of)
{
    tni_labels kept[1 << TN_EINSUM_SOURCES];
    double flops[1 << TN_EINSUM_SOURCES], elements[1 << TN_EINSUM_SOURCES];
    for (unsigned set = 1; set < 1u << x->nsrc; set++) {
        kept[set] = tni_labels_of_set(x, of, set);
        flops[set] = elements[set] = 0;
        if (!(set & (set - 1)))
            continue;
        const double here = order_size(x, &kept[set]);
        flops[set] = -1;
        for (unsigned left = (set - 1) & set; left; left = (left - 1) & set) {
            const unsigned right = set & ~left;
            if (left < right)
                break; /* the same two halves, exchanged */
            const tni_labels both = order_join(&kept[left], &kept[right]);
            const double f = flops[left] + flops[right] + order_size(x, &both);
            const double e = elements[left] + elements[right] + here;
            if (flops[set] < 0 || f < flops[set] || (f == flops[set] && e < elements[set])) {
                flops[set] = f;
                elements[set] = e;
                o->left[set] = (uint8_t)left;
            }
        }
    }
}
