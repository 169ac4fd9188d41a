/* contract_axes.c - the normal form of a product.
 *
 * In normal form extents are at least 2, the steps of dst are positive, no neighbours of a role
 * can be walked as one axis, and dst's fastest axis of rows and cols belongs to cols. */
#include "contract_plan.h"

#include "plan/plan.h"

void tni_product_begin(tni_product *p, const tn_dtype dtype[TNI_SIDES], tn_dtype compute)
{
    for (int c = 0; c < TNI_ROLES; c++) {
        p->count[c] = 0;
        p->size[c] = 1;
    }
    for (int k = 0; k < TNI_SIDES; k++) {
        p->shift[k] = 0;
        p->dtype[k] = dtype[k];
    }
    p->compute = p->take = compute;
    p->sum = tni_sum_of(compute);
    p->alpha = 1;
    p->beta = 0;
    p->alone = p->swapped = false;
}

tni_sum tni_sum_of(tn_dtype compute)
{
    switch (compute) {
    case TN_F32:
        return TNI_SUM_F32;
    case TN_F64:
        return TNI_SUM_F64;
    case TN_C64:
        return TNI_SUM_C64;
    case TN_C128:
        return TNI_SUM_C128;
    case TN_BOOL:
        return TNI_SUM_BOOL;
    default:
        return tni_width(compute) == 8   ? TNI_SUM_U64
               : tni_width(compute) == 4 ? TNI_SUM_U32
                                         : TNI_SUM_U16;
    }
}

/* The operand by whose steps a role is ordered. */
static int product_leader(int role)
{
    return role == TNI_DEPTH ? TNI_LEFT : TNI_DST;
}

static void product_forward(tni_product *p, tni_contract_axis *x, int leader)
{
    if (x->step[leader] >= 0)
        return;
    for (int k = 0; k < TNI_SIDES; k++) {
        p->shift[k] += (x->n - 1) * x->step[k];
        x->step[k] = -x->step[k];
    }
}

static bool product_outside(const tni_contract_axis *a, const tni_contract_axis *b, int leader)
{
    for (int i = 0; i < TNI_SIDES; i++) {
        const int k = (leader + i) % TNI_SIDES;
        const int64_t x = tni_abs_step(a->step[k]), y = tni_abs_step(b->step[k]);
        if (x != y)
            return x > y;
    }
    return false;
}

static void product_sort(tni_contract_axis *x, int n, int leader)
{
    for (int i = 1; i < n; i++) {
        const tni_contract_axis one = x[i];
        int j = i;
        for (; j > 0 && product_outside(&one, &x[j - 1], leader); j--)
            x[j] = x[j - 1];
        x[j] = one;
    }
}

static bool product_as_one(const tni_contract_axis *outer, const tni_contract_axis *inner)
{
    int64_t end;
    for (int k = 0; k < TNI_SIDES; k++)
        if (!tni_mul(inner->n, inner->step[k], &end) || outer->step[k] != end)
            return false;
    return true;
}

static int product_merge(tni_contract_axis *x, int n)
{
    int kept = 0;
    for (int i = 1; i < n; i++) {
        if (product_as_one(&x[kept], &x[i])) {
            const int64_t both = x[kept].n * x[i].n;
            x[kept] = x[i];
            x[kept].n = both;
        } else {
            x[++kept] = x[i];
        }
    }
    return n ? kept + 1 : 0;
}

static void swap_ints(int64_t *a, int64_t *b)
{
    const int64_t was = *a;
    *a = *b;
    *b = was;
}

void tni_product_swap(tni_product *p)
{
    const int rows = p->count[TNI_ROWS], cols = p->count[TNI_COLS];
    for (int i = 0; i < rows || i < cols; i++) {
        const tni_contract_axis was = p->axis[TNI_ROWS][i];
        p->axis[TNI_ROWS][i] = p->axis[TNI_COLS][i];
        p->axis[TNI_COLS][i] = was;
    }
    p->count[TNI_ROWS] = cols;
    p->count[TNI_COLS] = rows;
    swap_ints(&p->size[TNI_ROWS], &p->size[TNI_COLS]);
    swap_ints(&p->shift[TNI_LEFT], &p->shift[TNI_RIGHT]);
    const tn_dtype was = p->dtype[TNI_LEFT];
    p->dtype[TNI_LEFT] = p->dtype[TNI_RIGHT];
    p->dtype[TNI_RIGHT] = was;
    for (int c = 0; c < TNI_ROLES; c++)
        for (int i = 0; i < p->count[c]; i++)
            swap_ints(&p->axis[c][i].step[TNI_LEFT], &p->axis[c][i].step[TNI_RIGHT]);
    p->swapped = !p->swapped;
}

/* Whether rows and cols must be exchanged: a vector is one row, and dst's fastest axis is in
 * cols. */
static bool product_is_transposed(const tni_product *p)
{
    const int rows = p->count[TNI_ROWS], cols = p->count[TNI_COLS];
    if (!rows || !cols)
        return rows > 0;
    return p->axis[TNI_ROWS][rows - 1].step[TNI_DST] <
           p->axis[TNI_COLS][cols - 1].step[TNI_DST];
}

/* Clear the strides of operands without elements, which are arbitrary and never followed. */
static void product_forget_empty(tni_product *p)
{
    bool dst = false;
    for (int c = 0; c < TNI_ROLES; c++)
        dst |= c != TNI_DEPTH && p->size[c] == 0;
    if (!dst && p->size[TNI_DEPTH] != 0)
        return;
    for (int c = 0; c < TNI_ROLES; c++)
        for (int i = 0; i < p->count[c]; i++)
            for (int k = 0; k < TNI_SIDES; k++)
                if (dst || k == TNI_LEFT || k == TNI_RIGHT)
                    p->axis[c][i].step[k] = 0;
}

void tni_product_normal(tni_product *p)
{
    product_forget_empty(p);
    for (int c = 0; c < TNI_ROLES; c++) {
        const int leader = product_leader(c);
        for (int i = 0; i < p->count[c]; i++)
            product_forward(p, &p->axis[c][i], leader);
        product_sort(p->axis[c], p->count[c], leader);
        p->count[c] = product_merge(p->axis[c], p->count[c]);
    }
    if (product_is_transposed(p)) {
        tni_product_swap(p);
        product_sort(p->axis[TNI_DEPTH], p->count[TNI_DEPTH], TNI_LEFT);
    }
}
