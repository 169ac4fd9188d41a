/* strip_plan.c - cuts elementwise work into blocks and chooses the form of each operand.
 *
 * The strip runs along the axis along which most operands are dense.  An operand that is dense
 * along another axis brings that axis into the block, where it is transposed.  The passes are,
 * in this order: pick_inner, classify, lower (which counts the registers), size_buffers and
 * cut_blocks, classify again if a block is one strip, lay_out (strip_arena.c). */
#include "plan/plan.h"
#include "runtime/runtime.h"

/* Measured on a Zen 4 server core (L1 32 KB, L2 1 MB). */
enum {
    SHORT =
        96, /* shorter rows are joined: a kernel's call costs as much as 50 to 100 elements */
    LONG = 32 * 1024, /* elements of a block without buffers: 300 times the cost of a call */
    MAPPED = 4096,    /* elements of a block for the user's function: 40 times that cost */
    /* Bytes of a transposed operand's buffer, which fits L1: 32 x 256 f32 are faster than 32 x
     * 128 and 32 x 384. */
    STAGE = 32 * 1024,
    STAGE_OUT = 48 * 1024, /* the same for dst: longer rows of the sources are better */
    NEAR = 24 * 1024,      /* bytes of all registers: strips of 512 to 1024 f32 are best */
    /* Bytes of a run in an operand that is transposed.  a + b.T of 4096 x 4096 f32 is at 0.67
     * of a loop with one line (and rows of dst twice as long), at 0.83 with two. */
    PIECE = 128,
    ROWS = 64,        /* most rows of a block: one line of u8 is better than two */
    LEAST_PIECE = 16, /* fewest elements of such a run: a vector of any width */
    MANY = 1024,      /* elements of a row of a block that is done by columns */
    /* Rows a multiple of this many bytes apart share sets of L1, which does not hold 64 of
     * them. */
    ALIASED = 512,
    STREAM_LEAST = 1024, /* bytes of a row: its ends, partial lines, are at most an eighth */
    ROUNDING = 2048,     /* bytes that remain for rounding up what is packed to lines */
    LEAST_SPACE = TNI_ARENA / 8 /* of registers and packed operands, beside many constants */
};

/* Whether operand k is dense, or a broadcast source, along axis a. */
static bool strip_is_unit_stride(const tni_strips *s, const tni_axis *a, int k)
{
    return a->step[k] == s->operand[k].width || (k > 0 && a->step[k] == 0);
}

/* Make the axis along which most operands have unit stride the innermost one; dst counts a
 * little more than a source. */
static void strip_pick_inner(tni_strips *s)
{
    tni_nest *nest = &s->nest;
    int best = nest->ndim - 1, most = -1;
    for (int i = nest->ndim - 1; i >= 0; i--) {
        int score = 0;
        for (int k = 0; k < nest->nop; k++)
            if (strip_is_unit_stride(s, &nest->axis[i], k))
                score += k ? 2 : 3;
        if (score > most) {
            most = score;
            best = i;
        }
    }
    const tni_axis inner = nest->axis[best];
    for (int i = best; i + 1 < nest->ndim; i++)
        nest->axis[i] = nest->axis[i + 1];
    nest->axis[nest->ndim - 1] = inner;
}

/* Whether operand k has to be packed because of its step along the inner axis.  A strip
 * function of the user accepts any step: for it, only an operand that is dense along another
 * axis is worth packing. */
static bool strip_needs_packing(const tni_strips *s, int k)
{
    bool dense = !s->map;
    for (int i = 0; i + 1 < s->nest.ndim && !dense; i++)
        dense = tni_abs_step(s->nest.axis[i].step[k]) == s->operand[k].width;
    return dense && !strip_is_unit_stride(s, &s->nest.axis[s->nest.ndim - 1], k);
}

static bool strip_packs(const tni_strips *s)
{
    bool packs = false;
    for (int k = 0; k < s->nest.nop; k++)
        packs |= strip_needs_packing(s, k);
    return packs;
}

/* The axis that joins the inner one in a block: the one along which the first operand to pack
 * is dense, or else the next one outwards. */
static int strip_second(const tni_strips *s)
{
    const int last = s->nest.ndim - 1;
    for (int k = 0; k < s->nest.nop; k++)
        for (int i = last - 1; i >= 0 && strip_needs_packing(s, k); i--)
            if (tni_abs_step(s->nest.axis[i].step[k]) == s->operand[k].width)
                return i;
    return last - 1;
}

/* Whether a strip is a single op, from operands straight to dst. */
static bool strip_is_one_op(const tni_strips *s)
{
    const tni_instr *x = &s->instr[s->once];
    return !s->flat && s->ninstr - s->once == 1 && x->kind == TNI_DO_APPLY && !x->one &&
           x->out == 0 && s->operand[0].form == TNI_DIRECT;
}

/* How many of the n elements along the second axis a block has: two lines of the widest operand
 * (four if one op runs in a cache), but at least one line of a transposed operand and at most
 * ROWS. */
static int64_t strip_piece(const tni_strips *s, int64_t n)
{
    int widest = 1, packed = 1;
    for (int k = 0; k < s->nest.nop; k++) {
        const int width = s->operand[k].width;
        widest = width > widest ? width : widest;
        packed = strip_needs_packing(s, k) && width > packed ? width : packed;
    }
    int64_t piece = PIECE / widest;
    if (!s->beyond && strip_is_one_op(s))
        piece = 2 * piece;
    piece = piece < 64 / packed ? 64 / packed : piece;
    piece = piece < LEAST_PIECE ? LEAST_PIECE : piece < ROWS ? piece : ROWS;
    return piece < n ? piece : n;
}

/* The size of equal blocks of n, at most `most`, that end at lines of any operand if they
 * can. */
static int64_t strip_cut(int64_t n, int64_t most)
{
    const int64_t even = most >= 64 ? 64 : most >= 16 ? 16 : 1;
    if (most < 1)
        most = 1;
    if (n <= most)
        return n;
    const int64_t each = tni_ceil_div(n, tni_ceil_div(n, most / even * even));
    return (each + even - 1) / even * even;
}

/* Whether operand k is the same single value in every block. */
static bool strip_is_broadcast(const tni_strips *s, int k)
{
    bool broadcast = k > 0;
    for (int i = 0; i < s->nest.ndim; i++)
        broadcast &= s->nest.axis[i].step[k] == 0;
    return broadcast;
}

/* Whether operand k is one dense strip in a block (first is its width), or one value (first is
 * 0). */
static bool strip_is_whole(const tni_strips *s, int k, int64_t first)
{
    int64_t step = first;
    for (int j = s->nblock - 1; j >= 0; j--) {
        const int i = s->axis[j];
        if (s->block[i] > 1 && s->nest.axis[i].step[k] != step)
            return false;
        if (s->block[i] < s->nest.axis[i].n && first)
            step = -1; /* no axis outside a cut one continues it */
        else
            step *= s->block[i];
    }
    return true;
}

/* Set the forms of the operands; until the blocks are cut, operands of joined rows count as
 * packed unless they are a single value.  True if a form changed. */
static bool strip_classify(tni_strips *s, bool cut)
{
    const tni_axis *in = &s->nest.axis[s->nest.ndim - 1];
    bool changed = false;
    for (int k = 0; k < s->nest.nop; k++) {
        tni_operand *o = &s->operand[k];
        const bool whole = s->flat && cut;
        const bool dense = whole     ? strip_is_whole(s, k, o->width)
                           : s->flat ? false
                                     : in->step[k] == o->width;
        const bool broadcast = k > 0 && (whole     ? strip_is_whole(s, k, 0)
                                         : s->flat ? strip_is_broadcast(s, k)
                                                   : in->step[k] == 0);
        const bool packed = s->map ? strip_needs_packing(s, k) : !dense && !broadcast;
        const int8_t form = (int8_t)(packed                 ? TNI_PACKED
                                     : broadcast && !s->map ? TNI_SPLAT
                                                            : TNI_DIRECT);
        changed |= cut && form != o->form;
        o->form = form;
    }
    return changed;
}

/* The elements of a strip and of a block with which buffers and registers fit the cache. */
static void strip_size_buffers(const tni_strips *s, int64_t run, int64_t *strip, int64_t *block)
{
    int64_t packed = 0, widest = s->widest;
    for (int k = 0; k < s->nest.nop; k++) {
        packed += s->operand[k].form == TNI_PACKED ? s->operand[k].width : 0;
        widest = s->operand[k].width > widest ? s->operand[k].width : widest;
    }
    const int64_t small = (int64_t)s->nsmall * TNI_SPLAT_BYTES + (int64_t)s->nreg * 64;
    const int64_t registers = (int64_t)s->nreg * (s->widest + 1); /* and lines between */
    const int64_t all = (strip_packs(s) ? TNI_ARENA : NEAR) - ROUNDING;
    const int64_t capacity = all - small > LEAST_SPACE ? all - small : LEAST_SPACE;
    *strip = registers ? NEAR / registers : LONG;
    *block = s->map ? MAPPED : LONG;
    if (packed) { /* a sixteenth remains for lines between rows (strip_pitch) */
        *block = capacity / (packed + (s->flat ? registers : registers / run)) / 16 * 15;
        const int64_t stage = s->operand[0].form == TNI_PACKED ? STAGE_OUT : STAGE;
        *block = *block < stage / widest ? *block : stage / widest;
    }
    if (s->flat && registers && !packed)
        *block = *strip;
    if (registers && *strip > capacity / registers)
        *strip = capacity / registers;
}

/* Add axes to the block, from the inside, until it holds enough elements. */
static void strip_grow(tni_strips *s, int64_t held, int64_t most, unsigned long long used)
{
    for (int i = s->nest.ndim - 1; i >= 0 && s->nblock < TNI_BLOCK_AXES; i--) {
        if (used >> i & 1 || most / held < 2)
            continue;
        for (int j = s->nblock++; j > 0; j--)
            s->axis[j] = s->axis[j - 1];
        s->axis[0] = i;
        s->block[i] = strip_cut(s->nest.axis[i].n, most / held);
        held *= s->block[i];
        if (s->block[i] < s->nest.axis[i].n)
            break;
    }
}

static int64_t strip_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void strip_cut_blocks(tni_strips *s)
{
    const tni_nest *nest = &s->nest;
    const int last = nest->ndim - 1;
    const tni_axis *in = &nest->axis[last];
    const int second = last > 0 ? strip_second(s) : 0;
    const int64_t run = last > 0 ? strip_piece(s, nest->axis[second].n) : 1;
    int64_t strip, most;
    strip_size_buffers(s, run, &strip, &most);
    s->nblock = 1;
    s->down = false;
    s->axis[0] = last;
    for (int i = 0; i < last; i++)
        s->block[i] = 1;
    if (last == 0) {
        s->block[0] = strip_cut(in->n, strip_least(strip, most));
    } else if (!strip_packs(s)) {
        s->block[last] = s->flat ? in->n : strip_cut(in->n, strip_least(strip, most));
        if (s->block[last] == in->n)
            strip_grow(s, in->n, most, 1ull << last);
    } else {
        const tni_axis *out = &nest->axis[second];
        s->block[last] =
            strip_cut(in->n, s->flat ? most / run : strip_least(strip, most / run));
        s->block[second] = strip_least(most / s->block[last] / run * run, out->n);
        s->down = !s->flat && s->beyond;
        s->axis[0] = second;
        s->axis[1] = last;
        s->nblock = 2;
        if (s->block[last] == in->n && s->block[second] == out->n)
            strip_grow(s, in->n * out->n, most, 1ull << last | 1ull << second);
    }
}

/* Whether the op reads transposed operands by columns: in a cache, if rows of dst do not share
 * sets. */
static bool strip_takes_columns(const tni_strips *s)
{
    const tni_axis *rows = &s->nest.axis[s->axis[0]];
    bool packs = false, dense_down = true;
    for (int k = 1; k < s->nest.nop; k++) {
        const bool packed = s->operand[k].form == TNI_PACKED;
        packs |= packed;
        dense_down &= !packed || rows->step[k] == s->operand[k].width;
    }
    return s->op_alone && packs && dense_down && !s->beyond && rows->step[0] % ALIASED;
}

static void strip_count_items(tni_strips *s)
{
    s->items = 1;
    for (int i = 0; i < s->nest.ndim; i++) {
        ASSERT(s->block[i] >= 1 && s->block[i] <= s->nest.axis[i].n);
        s->items *= tni_ceil_div(s->nest.axis[i].n, s->block[i]);
    }
    ASSERT(s->nblock <= TNI_BLOCK_AXES && s->items >= 1 && s->items <= s->count);
}

static void strip_measure(tni_strips *s)
{
    const tni_nest *nest = &s->nest;
    s->count = 1;
    for (int i = 0; i < nest->ndim; i++)
        s->count *= nest->axis[i].n;
    int64_t width = 0;
    for (int k = 0; k < nest->nop; k++)
        width += s->operand[k].width;
    s->bytes = tni_mul_saturated(s->count, width);
    s->beyond = s->bytes >= tni_cache_sizes()->stream;
}

/* Whether dst is large, and its rows are worth streaming. */
static bool strip_streams(const tni_strips *s, const tni_axis *in)
{
    return !s->map && s->count * s->operand[0].width >= tni_cache_sizes()->stream &&
           strip_is_unit_stride(s, in, 0) && in->n * s->operand[0].width >= STREAM_LEAST;
}

/* Whether nothing is packed and a part is one strip: one axis without registers, or a single
 * block. */
static bool strip_is_single(const tni_strips *s)
{
    bool single = !s->map && ((s->nest.ndim == 1 && s->nreg == 0) ||
                              (s->items == 1 && (s->flat || s->nest.ndim == 1)));
    for (int k = 0; k < s->nest.nop; k++)
        single &= s->operand[k].form != TNI_PACKED;
    return single;
}

void tni_strips_plan(tni_strips *s, tni_instr *instr, const tni_program *p,
                     const tn_tensor *const *ts)
{
    tni_nest *nest = &s->nest;
    const int nop = p->nsrc + 1;
    ASSERT(nop <= TNI_MAX_OPERANDS);
    for (int k = 0; k < nop; k++) {
        s->operand[k].width = (int8_t)tni_width(ts[k]->dtype);
        s->operand[k].dtype = (int8_t)ts[k]->dtype;
    }
    s->instr = instr;
    s->name = p->name;
    s->map = p->map;
    s->user = p->user;
    s->steps = p->nstep;
    s->text = s->list = NULL;
    tni_nest_normal(nest, nop, ts);
    if (nest->empty)
        return;
    if (nest->ndim == 0) { /* a single element is a row of one */
        nest->ndim = 1;
        nest->axis[0].n = 1;
        nest->axis[0].role = TNI_MAP;
        for (int k = 0; k < nop; k++)
            nest->axis[0].step[k] = s->operand[k].width;
    }
    strip_measure(s);
    if (nest->ndim > 1)
        strip_pick_inner(s);
    const tni_axis *in = &nest->axis[nest->ndim - 1];
    s->stream = strip_streams(s, in);
    s->flat = !s->map && in->n < SHORT && nest->ndim > 1;
    strip_classify(s, false);
    tni_strips_lower(s, p);
    strip_cut_blocks(s);
    if (s->flat && strip_classify(s, true))
        tni_strips_lower(s, p);
    s->op_alone = s->nblock == 2 && strip_is_one_op(s);
    s->columns = strip_takes_columns(s);
    if (s->columns)
        s->block[nest->ndim - 1] = strip_cut(in->n, MANY);
    strip_count_items(s);
    s->single = strip_is_single(s);
    s->prefetch = (s->nreg > 0 || s->down) && s->bytes >= TNI_PREFETCH_LEAST;
    tni_strips_lay_out(s);
}

/* ---- dense strips, several results ---- */

int64_t tni_strips_plan_dense(tni_strips *s, tni_instr *instr, const tni_program *p,
                              const tn_dtype *dtype, uint32_t broadcast)
{
    s->nest.nop = p->nsrc + 1;
    s->nest.ndim = s->nblock = 1;
    s->nest.axis[0].step[0] = 1;
    s->axis[0] = 0;
    s->operand[0] = (tni_operand){.form = TNI_DIRECT, .width = 1};
    for (int k = 0; k < p->nsrc; k++) {
        const bool one = broadcast >> k & 1;
        s->operand[k + 1] = (tni_operand){.form = one ? TNI_SPLAT : TNI_DIRECT,
                                          .width = (int8_t)tni_width(dtype[k]),
                                          .dtype = (int8_t)dtype[k]};
        s->nest.axis[0].step[k + 1] = one ? 0 : tni_width(dtype[k]);
    }
    s->instr = instr;
    s->name = p->name;
    s->map = NULL;
    s->steps = p->nstep;
    s->results = p->nvalue;
    s->stream = s->prefetch = s->flat = s->down = s->op_alone = s->columns = s->nest.empty =
        false;
    tni_strips_lower(s, p);
    const int64_t registers = (int64_t)s->nreg * (s->widest + 1);
    const int64_t capacity =
        TNI_ARENA - ROUNDING - (int64_t)s->nsmall * TNI_SPLAT_BYTES - (int64_t)s->nreg * 64;
    int64_t n = registers ? strip_least(NEAR, capacity) / registers : TNI_TREE_BLOCK;
    n = n >= 64 ? strip_least(n / 64 * 64, TNI_TREE_BLOCK) : n > 1 ? n : 1;
    s->nest.axis[0].n = s->block[0] = n;
    tni_strips_lay_out(s);
    return n;
}
