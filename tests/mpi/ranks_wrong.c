/* ranks_wrong.c - one wrong argument on one rank: the same status and the same sentence
 * everywhere, dst untouched, and the next good call works. */
#include <sys/stat.h>

#include "ranks_test.h"

enum { N = 60 }; /* rows for each of 1 to 6 ranks */

typedef struct scene {
    tn_dist *d, *other, *wide;
    tn_tensor dst, src;
    int32_t to[N * N], from[N * N];
} scene;

static void scene_make(scene *s)
{
    const int64_t shape[] = {N, N};
    const tn_placement cut = {0, TN_CUT_BLOCK, 0, 0}, cyclic = {0, TN_CUT_CYCLIC, 1, 0};
    int64_t n[2];
    const int mesh = test_size, more = test_size + 1;
    OK(tn_dist_mesh(&s->d, 2, shape, 1, &mesh, &cut, NULL));
    OK(tn_dist_mesh(&s->other, 2, shape, 1, &mesh, &cyclic, NULL));
    OK(tn_dist_mesh(&s->wide, 2, shape, 1, &more, &cut, NULL));
    OK(tn_dist_part(s->d, test_rank, 0, n));
    OK(tn_init(&s->dst, s->to, TN_I32, 2, n));
    OK(tn_init(&s->src, s->from, TN_I32, 2, n));
    part_fill(&s->src, s->d, 0, TN_I32, NULL, shape);
    memset(s->to, 0x5a, sizeof s->to);
}

/* After a failure: the sentence is the same everywhere and names the rank, dst is as it was. */
static void same_everywhere(const scene *s, tn_status status, tn_status want, int bad)
{
    int all[2] = {(int)status, -(int)status}, got[2];
    char mine[512], zero[512], begin[32];
    MPI_Allreduce(all, got, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(got[0] == (int)want && got[1] == -(int)want);
    snprintf(mine, sizeof mine, "%s", tn_error());
    memcpy(zero, mine, sizeof zero);
    MPI_Bcast(zero, sizeof zero, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(!strcmp(mine, zero));
    snprintf(begin, sizeof begin, "rank %d: ", bad);
    CHECK(want == TN_ERANKS || !strncmp(mine, begin, strlen(begin)));
    for (int i = 0; i < N * N; i++)
        CHECK(s->to[i] == 0x5a5a5a5a);
}

static void good_run(scene *s)
{
    tn_mpi_plan *plan = NULL;
    const int axes[] = {1, 0};
    const int64_t shape[] = {N, N};
    int32_t want[N * N];
    OK(tn_mpi_plan_move(&plan, MPI_COMM_WORLD, s->d, TN_I32, s->d, TN_I32, axes, NULL));
    OK(tn_mpi_run(plan, &s->dst, &s->src));
    tn_tensor t = s->dst;
    t.data = want;
    part_fill(&t, s->d, 0, TN_I32, axes, shape);
    CHECK(!memcmp(want, s->to, (size_t)tn_nbytes(&t)));
    tn_mpi_plan_free(plan);
    memset(s->to, 0x5a, sizeof s->to);
}

/* ---- planning ---- */

typedef struct asked {
    const tn_dist *dst, *src;
    tn_dtype to, from;
    const int *axes;
    tn_mpi_options options;
    bool no_plan;
} asked;

static tn_status ask(const asked *a)
{
    tn_mpi_plan *plan = NULL;
    tn_status status = tn_mpi_plan_move(a->no_plan ? NULL : &plan, MPI_COMM_WORLD, a->dst,
                                        a->to, a->src, a->from, a->axes, &a->options);
    CHECK(status != TN_OK || plan);
    tn_mpi_plan_free(status == TN_OK ? plan : NULL);
    return status;
}

static void wrong_plans(scene *s, int bad)
{
    static const int twice[] = {0, 0}, transposed[] = {1, 0};
    const asked good = {s->d, s->d, TN_I32, TN_I32, NULL, {0}, false};
    for (int k = 0; k < 15; k++) {
        asked a = good;
        tn_status want = TN_EARG;
        switch (test_rank == bad ? k : -1 - k) {
        case 0:
            a.no_plan = true;
            break;
        case 1:
            a.dst = NULL;
            break;
        case 2:
            a.src = NULL;
            break;
        case 3:
            a.to = (tn_dtype)99;
            break;
        case 4:
            a.from = (tn_dtype)0;
            break;
        case 5:
            a.axes = twice;
            break;
        case 6:
            a.options.way = (tn_mpi_way)9;
            break;
        case 7:
            a.options.flags = 8;
            break;
        case 8:
            a.options.max_bytes = 100;
            break;
        case 9:
            a.options.reserved[2] = &a;
            break;
        case 10:
            a.dst = s->wide;
            break;
        case 11:
            a.src = s->other;
            break;
        case 12:
            a.axes = transposed;
            break;
        case 13:
            a.to = TN_F32;
            break;
        case 14:
            a.options.way = TN_MPI_P2P;
            break;
        default:
            break;
        }
        want = k < 3 ? TN_ENULL : k < 5 ? TN_EDTYPE : k < 11 ? TN_EARG : TN_ERANKS;
        if (test_size == 1 && k > 10)
            continue; /* nobody differs */
        same_everywhere(s, ask(&a), want, bad);
        good_run(s);
    }
}

/* ---- running ---- */

static void wrong_runs(scene *s, int bad)
{
    tn_mpi_plan *plan = NULL;
    OK(tn_mpi_plan_move(&plan, MPI_COMM_WORLD, s->d, TN_I32, s->d, TN_I32, NULL, NULL));
    for (int k = 0; k < 10; k++) {
        tn_tensor dst = s->dst, src = s->src;
        const tn_tensor *d = &dst, *r = &src;
        switch (test_rank == bad ? k : -1 - k) {
        case 0:
            d = NULL;
            break;
        case 1:
            r = NULL;
            break;
        case 2:
            dst.data = NULL;
            break;
        case 3:
            src.data = NULL;
            break;
        case 4:
            dst.flags = TN_READONLY;
            break;
        case 5:
            dst.dtype = TN_F32;
            break;
        case 6:
            src.shape[1]--;
            break;
        case 7:
            dst.ndim = 1;
            break;
        case 8:
            dst.stride[1] = 0;
            break;
        case 9:
            src.data = (char *)dst.data + 4;
            break;
        default:
            break;
        }
        static const tn_status want[] = {TN_ENULL,   TN_ENULL,   TN_ENULL,  TN_ENULL,
                                         TN_EARG,    TN_EDTYPE,  TN_ESHAPE, TN_ESHAPE,
                                         TN_ESTRIDE, TN_EOVERLAP};
        same_everywhere(s, tn_mpi_run(plan, d, r), want[k], bad);
        good_run(s);
    }
    if (test_size > 1) { /* another plan, another call */
        tn_mpi_plan *other = NULL, *third = NULL;
        const bool me = test_rank == bad;
        OK(tn_mpi_plan_move(&other, MPI_COMM_WORLD, s->d, TN_I32, s->d, TN_I32, NULL, NULL));
        same_everywhere(s, tn_mpi_run(me ? other : plan, &s->dst, &s->src), TN_ERANKS, bad);
        same_everywhere(s,
                        me ? tn_mpi_plan_move(&third, MPI_COMM_WORLD, s->d, TN_I32, s->d,
                                              TN_I32, NULL, NULL)
                           : tn_mpi_run(plan, &s->dst, &s->src),
                        TN_ERANKS, bad);
        tn_mpi_plan_free(other);
    }
    OK(tn_mpi_run(plan, &s->dst, &s->src)); /* the plan is as good as before */
    memset(s->to, 0x5a, sizeof s->to);
    tn_mpi_plan_free(plan);
}

/* ---- the other calls ---- */

#define WRONG(want, call) same_everywhere(s, call, want, bad)
/* What ranks differ in has nobody who is wrong when there is one rank. */
#define DIFFER(call)                                                                           \
    do {                                                                                       \
        if (test_size > 1)                                                                     \
            same_everywhere(s, call, TN_ERANKS, bad);                                          \
    } while (0)

static void wrong_halos(scene *s, int bad)
{
    const bool me = test_rank == bad;
    const MPI_Comm all = MPI_COMM_WORLD;
    const int64_t wide[] = {1, 1}, less[] = {-1, 0}, more[] = {2, 1};
    const int32_t one = 1, two = 2;
    const tn_mpi_options bad_way = {.way = (tn_mpi_way)9}, good = {0};
    tn_mpi_plan *p = NULL;
#define HALO(plan, d, dtype, before, after, mode, value, options)                              \
    tn_mpi_plan_halo(plan, all, d, dtype, before, after, mode, value, options)
    WRONG(TN_ENULL, HALO(me ? NULL : &p, s->d, TN_I32, wide, wide, TN_PAD_EDGE, NULL, NULL));
    WRONG(TN_ENULL, HALO(&p, me ? NULL : s->d, TN_I32, wide, wide, TN_PAD_EDGE, NULL, NULL));
    WRONG(TN_EUNSUPPORTED,
          HALO(&p, me ? s->other : s->d, TN_I32, wide, wide, TN_PAD_EDGE, NULL, NULL));
    WRONG(TN_EARG, HALO(&p, me ? s->wide : s->d, TN_I32, wide, wide, TN_PAD_EDGE, NULL, NULL));
    WRONG(TN_EDTYPE,
          HALO(&p, s->d, me ? (tn_dtype)77 : TN_I32, wide, wide, TN_PAD_EDGE, NULL, NULL));
    WRONG(TN_EARG, HALO(&p, s->d, TN_I32, me ? less : wide, wide, TN_PAD_EDGE, NULL, NULL));
    WRONG(TN_ENULL, HALO(&p, s->d, TN_I32, me ? NULL : wide, wide, TN_PAD_EDGE, NULL, NULL));
    WRONG(TN_EARG, HALO(&p, s->d, TN_I32, wide, me ? less : wide, TN_PAD_EDGE, NULL, NULL));
    WRONG(TN_ENULL, HALO(&p, s->d, TN_I32, wide, me ? NULL : wide, TN_PAD_EDGE, NULL, NULL));
    WRONG(TN_EARG,
          HALO(&p, s->d, TN_I32, wide, wide, me ? (tn_pad_mode)9 : TN_PAD_EDGE, NULL, NULL));
    WRONG(TN_EARG,
          HALO(&p, s->d, TN_I32, wide, wide, TN_PAD_EDGE, NULL, me ? &bad_way : &good));
    DIFFER(HALO(&p, s->d, me ? TN_F32 : TN_I32, wide, wide, TN_PAD_EDGE, NULL, NULL));
    DIFFER(HALO(&p, s->d, TN_I32, me ? more : wide, wide, TN_PAD_EDGE, NULL, NULL));
    DIFFER(HALO(&p, s->d, TN_I32, wide, wide, me ? TN_PAD_WRAP : TN_PAD_EDGE, NULL, NULL));
    DIFFER(HALO(&p, s->d, TN_I32, wide, wide, TN_PAD_CONSTANT, me ? &one : &two, NULL));
#undef HALO
    CHECK(!p);
}

static void wrong_reductions(scene *s, int bad)
{
    const bool me = test_rank == bad;
    static const int twice[] = {0, 0}, transposed[] = {1, 0};
    const tn_mpi_options bad_flags = {.flags = 64}, good = {0};
    tn_mpi_plan *p = NULL;
#define REDUCE(plan, op, dst, dst_dtype, src, src_dtype, axes, options)                        \
    tn_mpi_plan_reduce(plan, MPI_COMM_WORLD, op, dst, dst_dtype, src, src_dtype, axes, options)
    WRONG(TN_ENULL, REDUCE(me ? NULL : &p, TN_ADD, s->d, TN_I32, s->d, TN_I32, NULL, NULL));
    WRONG(TN_EARG, REDUCE(&p, me ? TN_SUB : TN_ADD, s->d, TN_I32, s->d, TN_I32, NULL, NULL));
    WRONG(TN_ENULL, REDUCE(&p, TN_ADD, me ? NULL : s->d, TN_I32, s->d, TN_I32, NULL, NULL));
    WRONG(TN_EARG, REDUCE(&p, TN_ADD, me ? s->wide : s->d, TN_I32, s->d, TN_I32, NULL, NULL));
    WRONG(TN_EDTYPE,
          REDUCE(&p, TN_ADD, s->d, me ? (tn_dtype)77 : TN_I32, s->d, TN_I32, NULL, NULL));
    WRONG(TN_ENULL, REDUCE(&p, TN_ADD, s->d, TN_I32, me ? NULL : s->d, TN_I32, NULL, NULL));
    WRONG(TN_EDTYPE,
          REDUCE(&p, TN_ADD, s->d, TN_I32, s->d, me ? (tn_dtype)77 : TN_I32, NULL, NULL));
    WRONG(TN_EARG, REDUCE(&p, TN_ADD, s->d, TN_I32, s->d, TN_I32, me ? twice : NULL, NULL));
    WRONG(TN_EARG,
          REDUCE(&p, TN_ADD, s->d, TN_I32, s->d, TN_I32, NULL, me ? &bad_flags : &good));
    DIFFER(REDUCE(&p, me ? TN_MUL : TN_ADD, s->d, TN_I32, s->d, TN_I32, NULL, NULL));
    DIFFER(REDUCE(&p, TN_ADD, s->d, TN_I32, me ? s->other : s->d, TN_I32, NULL, NULL));
    DIFFER(REDUCE(&p, TN_ADD, s->d, TN_I32, s->d, TN_I32, me ? transposed : NULL, NULL));
#undef REDUCE
    CHECK(!p);
}

static void wrong_memory(scene *s, int bad)
{
    const bool me = test_rank == bad;
    const MPI_Comm all = MPI_COMM_WORLD;
    const int64_t wide[] = {1, 1}, less[] = {-1, 0}, zero[] = {0, 0}, whole[] = {N, N};
    const int64_t shape[] = {test_size * 3, 5}, start[] = {test_rank * 3, 0}, n[] = {3, 5};
    tn_tensor t;
    tn_dist *d = NULL;
    WRONG(TN_ENULL, tn_mpi_alloc(all, me ? NULL : &t, TN_I32, 2, wide));
    WRONG(TN_EDTYPE, tn_mpi_alloc(all, &t, me ? (tn_dtype)77 : TN_I32, 2, wide));
    WRONG(TN_EARG, tn_mpi_alloc(all, &t, TN_I32, me ? 65 : 2, wide));
    WRONG(TN_ENULL, tn_mpi_alloc(all, &t, TN_I32, 2, me ? NULL : wide));
    WRONG(TN_ESHAPE, tn_mpi_alloc(all, &t, TN_I32, 2, me ? less : wide));
    tn_mpi_free(NULL);

    static int32_t everything[N * N];
    OK(tn_init(&t, everything, TN_I32, 2, whole));
    const int root = bad; /* whole is looked at there */
    WRONG(TN_EARG, tn_mpi_gather(all, me ? -1 : root, &t, s->d, &s->src));
    WRONG(TN_ENULL, tn_mpi_gather(all, root, me ? NULL : &t, s->d, &s->src));
    WRONG(TN_ENULL, tn_mpi_gather(all, root, &t, me ? NULL : s->d, &s->src));
    WRONG(TN_ENULL, tn_mpi_gather(all, root, &t, s->d, me ? NULL : &s->src));
    WRONG(TN_EARG, tn_mpi_gather(all, root, &t, me ? s->wide : s->d, &s->src));
    WRONG(TN_EARG, tn_mpi_scatter(all, me ? test_size : root, s->d, &s->dst, &t));
    WRONG(TN_ENULL, tn_mpi_scatter(all, root, me ? NULL : s->d, &s->dst, &t));
    WRONG(TN_ENULL, tn_mpi_scatter(all, root, s->d, me ? NULL : &s->dst, &t));
    WRONG(TN_ENULL, tn_mpi_scatter(all, root, s->d, &s->dst, me ? NULL : &t));
    tn_tensor other = t;
    other.shape[1]--;
    WRONG(TN_ESHAPE, tn_mpi_gather(all, root, me ? &other : &t, s->d, &s->src));
    DIFFER(tn_mpi_gather(all, me ? (root + 1) % test_size : root, &t, s->d, &s->src));
    DIFFER(tn_mpi_gather(all, root, &t, me ? s->other : s->d, &s->src));

    WRONG(TN_ENULL, tn_mpi_dist_boxes(me ? NULL : &d, all, 2, shape, 1, start, n));
    WRONG(TN_EARG, tn_mpi_dist_boxes(&d, all, me ? -1 : 2, shape, 1, start, n));
    WRONG(TN_ENULL, tn_mpi_dist_boxes(&d, all, 2, me ? NULL : shape, 1, start, n));
    WRONG(TN_EARG, tn_mpi_dist_boxes(&d, all, 2, shape, me ? -1 : 1, start, n));
    WRONG(TN_ENULL, tn_mpi_dist_boxes(&d, all, 2, shape, 1, me ? NULL : start, n));
    WRONG(TN_ENULL, tn_mpi_dist_boxes(&d, all, 2, shape, 1, start, me ? NULL : n));
    DIFFER(tn_mpi_dist_boxes(&d, all, 2, me ? wide : shape, 1, start, n));
    DIFFER(tn_mpi_dist_boxes(&d, all, me ? 1 : 2, shape, 1, start, n));
    /* A hole is the same for all; the lowest rank says it. */
    same_everywhere(s, tn_mpi_dist_boxes(&d, all, 2, shape, 1, start, me ? zero : n), TN_ESHAPE,
                    0);
    CHECK(!d);
}

static void wrong_files(scene *s, int bad, const char *folder)
{
    char path[200], missing[200];
    const bool me = test_rank == bad;
    const MPI_Comm all = MPI_COMM_WORLD;
    static const int twice[] = {0, 0}, transposed[] = {1, 0};
    snprintf(path, sizeof path, "%s/x.npy", folder);
    snprintf(missing, sizeof missing, "%s/none.npy", folder);
    tn_tensor floats = s->src;
    floats.dtype = TN_F32;
    const tn_tensor *list[] = {&s->src}, *no_parts[] = {NULL}, *float_list[] = {&floats};
    const tn_dist *ds[] = {s->d}, *none[] = {NULL}, *other[] = {s->other}, *wide[] = {s->wide};
    const char *names[] = {"a"}, *others[] = {"b"}, *no_name[] = {NULL};
    OK(tn_mpi_save(all, path, 1, NULL, ds, list, NULL));
    WRONG(TN_ENULL, tn_mpi_load(all, me ? NULL : path, NULL, s->d, &s->dst, NULL));
    /* A file that one rank cannot open. */
    WRONG(TN_EIO, tn_mpi_load(all, me ? missing : path, NULL, s->d, &s->dst, NULL));
    WRONG(TN_EARG, tn_mpi_load(all, path, me ? "no" : NULL, s->d, &s->dst, NULL));
    WRONG(TN_ENULL, tn_mpi_load(all, path, NULL, me ? NULL : s->d, &s->dst, NULL));
    WRONG(TN_EARG, tn_mpi_load(all, path, NULL, me ? s->wide : s->d, &s->dst, NULL));
    WRONG(TN_ENULL, tn_mpi_load(all, path, NULL, s->d, me ? NULL : &s->dst, NULL));
    WRONG(TN_EDTYPE, tn_mpi_load(all, path, NULL, s->d, me ? &floats : &s->dst, NULL));
    WRONG(TN_EARG, tn_mpi_load(all, path, NULL, s->d, &s->dst, me ? twice : NULL));
    DIFFER(tn_mpi_load(all, path, NULL, me ? s->other : s->d, &s->dst, NULL));
    DIFFER(tn_mpi_load(all, path, NULL, s->d, &s->dst, me ? transposed : NULL));

    WRONG(TN_ENULL, tn_mpi_save(all, me ? NULL : path, 1, NULL, ds, list, NULL));
    WRONG(TN_EARG, tn_mpi_save(all, path, me ? 0 : 1, NULL, ds, list, NULL));
    WRONG(TN_ENULL, tn_mpi_save(all, path, 1, me ? no_name : NULL, ds, list, NULL));
    WRONG(TN_ENULL, tn_mpi_save(all, path, 1, NULL, me ? NULL : ds, list, NULL));
    WRONG(TN_ENULL, tn_mpi_save(all, path, 1, NULL, me ? none : ds, list, NULL));
    WRONG(TN_EARG, tn_mpi_save(all, path, 1, NULL, me ? wide : ds, list, NULL));
    WRONG(TN_ENULL, tn_mpi_save(all, path, 1, NULL, ds, me ? NULL : list, NULL));
    WRONG(TN_ENULL, tn_mpi_save(all, path, 1, NULL, ds, me ? no_parts : list, NULL));
    if (test_size > 1) /* the rank with the smaller dtype says so */
        CHECK(tn_mpi_save(all, path, 1, NULL, ds, me ? float_list : list, NULL) == TN_EDTYPE);
    DIFFER(tn_mpi_save(all, me ? missing : path, 1, NULL, ds, list, NULL));
    DIFFER(tn_mpi_save(all, path, 1, me ? others : names, ds, list, NULL));
    DIFFER(tn_mpi_save(all, path, 1, NULL, me ? other : ds, list, NULL));
    DIFFER(tn_mpi_save(all, path, 1, NULL, ds, list, me ? "{\"a\": \"b\"}" : NULL));
    OK(tn_mpi_load(all, path, NULL, s->d, &s->dst, NULL)); /* the old file is whole */
    CHECK(!memcmp(s->to, s->from, (size_t)tn_nbytes(&s->dst)));
    memset(s->to, 0x5a, sizeof s->to);
    snprintf(missing, sizeof missing, "%s/no/folder.npy", folder);
    same_everywhere(s, tn_mpi_save(all, missing, 1, NULL, ds, list, NULL), TN_EIO, 0);
    MPI_Barrier(all);
    if (test_rank == 0)
        CHECK(unlink(path) == 0);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/tenon-wrong-XXXXXX";
    static scene s;
    test_begin(&argc, &argv, 150); /* of the clock, on a busy machine too */
    tn_mpi_plan *plan = NULL;
    scene_make(&s);
    CHECK(tn_mpi_plan_move(&plan, MPI_COMM_NULL, s.d, TN_I32, s.d, TN_I32, NULL, NULL) ==
          TN_EARG);
    if (test_rank == 0)
        CHECK(mkdtemp(folder));
    MPI_Bcast(folder, sizeof folder, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int bad = 0; bad < test_size; bad++) {
        wrong_plans(&s, bad);
        wrong_runs(&s, bad);
        wrong_halos(&s, bad);
        wrong_reductions(&s, bad);
        wrong_memory(&s, bad);
        wrong_files(&s, bad, folder);
        good_run(&s);
    }
    if (test_size > 1) { /* an intercommunicator */
        MPI_Comm half, inter;
        MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - test_rank % 2, 5, &inter);
        CHECK(tn_mpi_plan_move(&plan, inter, s.d, TN_I32, s.d, TN_I32, NULL, NULL) ==
              TN_EUNSUPPORTED);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    tn_dist_free(s.d);
    tn_dist_free(s.other);
    tn_dist_free(s.wide);
    if (test_rank == 0) {
        CHECK(rmdir(folder) == 0);
        printf("wrong calls over %d ranks: fine\n", test_size);
    }
    MPI_Finalize();
    return 0;
}
