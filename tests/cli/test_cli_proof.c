/* test_cli_proof.c - the proof of a reshard beside a bitmap: random plans hold, and of plans
 * with one number of one piece changed those hold that still give each element one source. */
#include "../../cli/pieces.h"

#include "draw.h"

enum { ELEMENTS = 400 };

static int64_t numel_of(int ndim, const int64_t *shape)
{
    int64_t n = 1;
    for (int i = 0; i < ndim; i++)
        n *= shape[i];
    return n;
}

/* Count the visits of each element of v; false: one lies outside. */
static bool visit(const virtual *v, int *seen)
{
    memset(seen, 0, ELEMENTS * sizeof *seen);
    for (int64_t k = 0; k < v->n; k++) {
        const nest_piece *p = &v->pieces[k];
        for (int64_t number = 0; number < piece_count(p); number++) {
            int64_t at[TN_MAX_NDIM], left = number, flat = 0;
            memcpy(at, p->at, sizeof at);
            for (int i = 0; i < p->nloops; i++) {
                at[p->loops[i].axis] += left % p->loops[i].n * p->loops[i].step;
                left /= p->loops[i].n;
            }
            for (int i = 0; i < v->ndim; i++) {
                if (at[i] < 0 || at[i] >= v->shape[i])
                    return false;
                flat = flat * v->shape[i] + at[i];
            }
            seen[flat]++;
        }
    }
    return true;
}

static bool covers(const virtual *v)
{
    int seen[ELEMENTS];
    bool good = visit(v, seen);
    for (int64_t i = 0; good && i < numel_of(v->ndim, v->shape); i++)
        good = seen[i] == 1;
    return good;
}

/* An input of 1 to 4 axes, cut and joined again in another order, permuted, reshaped. */
static void draw_plan(rng *r, virtual *v, tn_tensor *in)
{
    int64_t shape[4];
    const int ndim = (int)pick(r, 1, 4);
    int axes[4] = {0, 1, 2, 3};
    for (int i = 0; i < ndim; i++)
        shape[i] = pick(r, 1, ndim < 3 ? 12 : 4);
    assert_int_equal(tn_init(in, NULL, TN_F32, ndim, shape), TN_OK);
    assert_int_equal(virtual_input(v, 0, in), DONE);
    for (int64_t steps = pick(r, 0, 4); steps > 0; steps--) {
        const int axis = (int)pick(r, 0, v->ndim - 1);
        const int64_t n = v->shape[axis], at = pick(r, 0, n);
        virtual low = {0}, high = {0};
        switch (next(r) % 4) {
        case 0: /* the second part first */
            assert_int_equal(virtual_copy(&low, v), DONE);
            assert_int_equal(virtual_copy(&high, v), DONE);
            if (at > 0 && at < n) {
                assert_int_equal(virtual_cut(&low, axis, 0, at), DONE);
                assert_int_equal(virtual_cut(&high, axis, at, n), DONE);
                assert_int_equal(virtual_join(&high, &low, axis), DONE);
                virtual_free(v);
                assert_int_equal(virtual_copy(v, &high), DONE);
            }
            virtual_free(&low);
            virtual_free(&high);
            break;
        case 1:
            if (v->ndim <= 4) {
                shuffle(r, axes, v->ndim);
                assert_int_equal(virtual_permute(v, axes), DONE);
                for (int i = 0; i < 4; i++)
                    axes[i] = i;
            }
            break;
        case 2:
            assert_int_equal(virtual_slice(v, v->ndim > 1 ? "[::-1, ::-1]" : "[::-1]"), DONE);
            break;
        default: {
            const int64_t numel = numel_of(v->ndim, v->shape);
            const int64_t some[] = {numel % 2 ? numel : numel / 2, numel % 2 ? 1 : 2};
            assert_int_equal(virtual_reshape(v, 2, some), DONE);
        }
        }
    }
}

/* One number of one piece is another one. */
static void change(rng *r, virtual *v)
{
    nest_piece *p = &v->pieces[pick(r, 0, v->n - 1)];
    const int64_t by = next(r) % 2 ? 1 : -1;
    loop *l = p->nloops ? &p->loops[pick(r, 0, p->nloops - 1)] : NULL;
    switch (next(r) % 4) {
    case 0:
        p->at[pick(r, 0, v->ndim - 1)] += by;
        break;
    case 1:
        p->in_at += by;
        break;
    case 2:
        if (l && l->n + by > 0 && piece_count(p) / l->n * (l->n + by) <= 4 * ELEMENTS)
            l->n += by;
        break;
    default:
        if (l && l->step + by > 0)
            l->step += by;
    }
}

static void agree(uint64_t seed, const virtual *v, const tn_tensor *in, bool *holds)
{
    virtual back = {0};
    if (virtual_covers(v) != covers(v))
        fail_msg("TEST_SEED=%llu: the result is %s by the bitmap", (unsigned long long)seed,
                 covers(v) ? "covered" : "not covered");
    *holds = covers(v);
    for (int64_t k = 0; k < v->n;
         k++) /* the proof comes to inputs with covered results alone */
        if (v->pieces[k].in_at < 0)
            return;
    if (*holds && virtual_inverse(&back, v, 0, in->ndim, in->shape) == DONE) {
        if (virtual_covers(&back) != covers(&back))
            fail_msg("TEST_SEED=%llu: the input is %s by the bitmap", (unsigned long long)seed,
                     covers(&back) ? "covered" : "not covered");
        *holds = covers(&back);
    }
    virtual_free(&back);
}

static void plans_hold_unless_changed(void **state)
{
    const uint64_t seed = seed_asked(), cases = number_asked("TEST_CASES", 4000);
    int64_t refused = 0;
    (void)state;
    for (uint64_t i = 0; i < cases; i++) {
        rng r = {seed + i};
        virtual v = {0};
        tn_tensor in;
        bool holds;
        draw_plan(&r, &v, &in);
        agree(seed + i, &v, &in, &holds);
        if (!holds)
            fail_msg("TEST_SEED=%llu: the plan does not hold", (unsigned long long)(seed + i));
        change(&r, &v);
        agree(seed + i, &v, &in, &holds);
        refused += !holds;
        virtual_free(&v);
    }
    printf("%lld of %llu changed plans do not pass\n", (long long)refused,
           (unsigned long long)cases);
    assert_true(cases < 100 || refused > (int64_t)cases / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_hold_unless_changed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
