/* comm.c - a duplicate of each communicator of the user, cached as an attribute of it.
 *
 * The duplicate separates tenon's messages from the user's, and returns errors.  It is freed
 * after the communicator and all plans that use it. */
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>

#include "ranks.h"

static int keyval = MPI_KEYVAL_INVALID;

tn_status tnm_fail(tn_status status, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return tn_set_error(status, text);
}

tn_status tnm_refused(int error, const char *call, const char *what)
{
    char words[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    const char *end = strchr(what, '(');
    MPI_Error_string(error, words, &n);
    return tnm_fail(TN_EMPI, "%s: %.*s: %.300s; the communicator is no longer usable", call,
                    end ? (int)(end - what) : (int)strlen(what), what, words);
}

void tnm_comm_hold(tnm_comm *c)
{
    c->holders++;
}

void tnm_comm_drop(tnm_comm *c)
{
    if (--c->holders > 0)
        return;
    int over = 0;
    MPI_Finalized(&over);
    if (!over) {
        MPI_Comm_free(&c->node);
        MPI_Comm_free(&c->comm);
    }
    free(c->node_of);
    free(c);
}

static int forget(MPI_Comm user, int key, void *value, void *extra)
{
    (void)user;
    (void)key;
    (void)extra;
    tnm_comm_drop(value);
    return MPI_SUCCESS;
}

/* Split off the ranks that share memory with this one.  TENON_MPI_PER_NODE=n makes every n of
 * them a node, so that one machine can simulate several. */
static tn_status comm_split(tnm_comm *c, const char *call)
{
    const char *text = getenv("TENON_MPI_PER_NODE");
    const int each = text ? atoi(text) : 0;
    MPI_Comm whole;
    int at;
    MPITRY(call, MPI_Comm_split_type(c->comm, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL,
                                     &c->node));
    if (each > 0) {
        whole = c->node;
        MPITRY(call, MPI_Comm_rank(whole, &at));
        MPITRY(call, MPI_Comm_split(whole, at / each, at, &c->node));
        MPITRY(call, MPI_Comm_free(&whole));
    }
    MPITRY(call, MPI_Comm_set_errhandler(c->node, MPI_ERRORS_RETURN));
    return TN_OK;
}

static tn_status comm_make(tnm_comm **out, MPI_Comm user, const char *call)
{
    tnm_comm *c = calloc(1, sizeof *c);
    MPI_Comm duplicate;
    MPITRY(call, MPI_Comm_dup(user, &duplicate));
    MPITRY(call, MPI_Comm_set_errhandler(duplicate, MPI_ERRORS_RETURN));
    int bad = c == NULL, any = 0;
    MPITRY(call, MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, duplicate));
    if (any) {
        MPI_Comm_free(&duplicate);
        free(c);
        return tnm_fail(TN_ENOMEM, "%s: cannot allocate memory for the communicator", call);
    }
    c->comm = duplicate;
    c->holders = 1;
    MPITRY(call, MPI_Comm_rank(duplicate, &c->rank));
    MPITRY(call, MPI_Comm_size(duplicate, &c->size));
    TRY(comm_split(c, call));
    MPITRY(call, MPI_Comm_set_attr(user, keyval, c));
    *out = c;
    return TN_OK;
}

/* Threads with different communicators may get here at the same time. */
static int keyval_make(void)
{
    static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
    int error = MPI_SUCCESS;
    pthread_mutex_lock(&alone);
    if (keyval == MPI_KEYVAL_INVALID)
        error = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL);
    pthread_mutex_unlock(&alone);
    return error;
}

tn_status tnm_comm_of(tnm_comm **c, MPI_Comm user, const char *call)
{
    int flag = 0;
    void *value;
    MPI_Initialized(&flag);
    if (!flag)
        return tnm_fail(TN_EMPI, "%s: MPI is not initialised", call);
    MPI_Finalized(&flag);
    if (flag)
        return tnm_fail(TN_EMPI, "%s: MPI is finalised", call);
    if (user == MPI_COMM_NULL)
        return tnm_fail(TN_EARG, "%s: the communicator is MPI_COMM_NULL", call);
    MPITRY(call, MPI_Comm_test_inter(user, &flag));
    if (flag)
        return tnm_fail(TN_EUNSUPPORTED, "%s: the communicator is an intercommunicator", call);
    MPITRY(call, keyval_make());
    MPITRY(call, MPI_Comm_get_attr(user, keyval, &value, &flag));
    if (flag) {
        *c = value;
        return TN_OK;
    }
    return comm_make(c, user, call);
}

tn_status tnm_comm_nodes(tnm_comm *c, const char *call)
{
    if (c->node_of)
        return TN_OK;
    const size_t size = (size_t)c->size;
    int lead = c->rank, *all = malloc((3 * size + 1) * sizeof *all);
    const tn_status status =
        tnm_agree(c, all ? TN_OK : tnm_fail(TN_ENOMEM, "%s: out of memory", call), NULL, NULL);
    if (status != TN_OK) {
        free(all);
        return status;
    }
    MPITRY(call, MPI_Bcast(&lead, 1, MPI_INT, 0, c->node));
    MPITRY(call, MPI_Allgather(&lead, 1, MPI_INT, all, 1, MPI_INT, c->comm));
    int *first = all + 2 * size, nodes = 0;
    for (int r = 0; r < c->size; r++) /* a node's lowest rank comes first and numbers it */
        all[r] = all[r] == r ? nodes++ : all[all[r]];
    memset(first, 0, ((size_t)nodes + 1) * sizeof *first);
    for (int r = 0; r < c->size; r++)
        first[all[r] + 1]++;
    for (int k = 0; k < nodes; k++)
        first[k + 1] += first[k];
    for (int r = 0; r < c->size; r++)
        all[size + (size_t)first[all[r]]++] = r;
    memmove(first + 1, first, (size_t)nodes * sizeof *first);
    first[0] = 0;
    c->nodes = nodes;
    c->members = all + size;
    c->node_first = first;
    c->node_of = all;
    return TN_OK;
}

tn_status tnm_on_node(tnm_comm *c, int64_t n, int *ranks)
{
    MPI_Group all, node;
    MPITRY("mpi", MPI_Comm_group(c->comm, &all));
    MPITRY("mpi", MPI_Comm_group(c->node, &node));
    for (int64_t i = 0; i < n; i += 64) { /* MPI forbids the two lists to alias */
        int out[64], count = n - i < 64 ? (int)(n - i) : 64;
        MPITRY("mpi", MPI_Group_translate_ranks(all, count, ranks + i, node, out));
        for (int k = 0; k < count; k++)
            ranks[i + k] = out[k] == MPI_UNDEFINED ? -1 : out[k];
    }
    MPI_Group_free(&all);
    MPI_Group_free(&node);
    return TN_OK;
}
