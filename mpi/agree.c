/* agree.c - agreement: all ranks succeed or all fail, with the same message.
 *
 * One small reduction finds out whether a rank has failed and whether all notes are equal; only
 * on failure is text broadcast. */
#include <inttypes.h>

#include "ranks.h"

uint64_t tnm_mix(uint64_t hash, uint64_t x)
{
    hash ^= x + 0x9e3779b97f4a7c15u + (hash << 12) + (hash >> 4);
    hash *= 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 31;
}

static tnm_note *note_add(tnm_notes *notes, const char *what, uint64_t hash)
{
    tnm_note *note = &notes->at[notes->n < TNM_NOTES ? notes->n++ : TNM_NOTES - 1];
    note->what = what;
    note->hash = tnm_mix(7, hash);
    note->text[0] = 0;
    return note;
}

void tnm_note_number(tnm_notes *notes, const char *what, int64_t x)
{
    tnm_note *note = note_add(notes, what, (uint64_t)x);
    snprintf(note->text, sizeof note->text, "%" PRId64, x);
}

void tnm_note_text(tnm_notes *notes, const char *what, const char *text)
{
    uint64_t hash = 1;
    for (const char *s = text ? text : ""; *s; s++)
        hash = tnm_mix(hash, (unsigned char)*s);
    tnm_note *note = note_add(notes, what, hash);
    snprintf(note->text, sizeof note->text, "%s", text ? text : "not given");
}

void tnm_note_dist(tnm_notes *notes, const char *what, const tn_dist *d)
{
    tnm_note *note = note_add(notes, what, tn_dist_hash(d));
    if (!d || tn_dist_print(d, note->text, sizeof note->text) != TN_OK)
        note->text[0] = 0;
}

void tnm_note_axes(tnm_notes *notes, const int *axes, int ndim)
{
    char text[TNM_TEXT] = "";
    size_t used = 0;
    for (int i = 0; i < ndim && used + 8 < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, i ? ",%d" : "%d",
                                 axes ? axes[i] : i);
    tnm_note_text(notes, "axes", text);
}

void tnm_note_shape(tnm_notes *notes, const int64_t *shape, int ndim)
{
    char text[TNM_TEXT] = "";
    uint64_t hash = (uint64_t)ndim;
    size_t used = 0;
    for (int i = 0; i < ndim; i++) {
        hash = tnm_mix(hash, (uint64_t)shape[i]);
        if (used + 24 < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     i ? ", %" PRId64 : "%" PRId64, shape[i]);
    }
    tnm_note *note = note_add(notes, "shape", hash);
    snprintf(note->text, sizeof note->text, "(%.300s)", text);
}

void tnm_note_dtype(tnm_notes *notes, const char *what, tn_dtype dtype)
{
    tnm_note *note = note_add(notes, what, (uint64_t)dtype);
    snprintf(note->text, sizeof note->text, "%s", tn_dtype_name(dtype));
}

static uint64_t notes_hash(const tnm_notes *notes)
{
    uint64_t hash = 3;
    for (int i = 0; notes && i < notes->n; i++)
        hash = tnm_mix(hash, notes->at[i].hash);
    return hash;
}

typedef struct words {
    int32_t status;
    char text[508];
} words;

/* Every rank receives the status and the message of rank root. */
static tn_status hear(tnm_comm *c, int root, tn_status status)
{
    words w = {.status = (int32_t)status};
    if (c->rank == root)
        snprintf(w.text, sizeof w.text, "%s", tn_error());
    MPITRY("mpi", MPI_Bcast(&w, sizeof w, MPI_BYTE, root, c->comm));
    w.text[sizeof w.text - 1] = 0;
    return tnm_fail((tn_status)w.status, "rank %d: %.490s", root, w.text);
}

/* The notes differ: find the lowest rank that differs from rank 0, and the first note in which
 * it differs.  Ranks that make different calls have different lists of notes. */
static tn_status differ(tnm_comm *c, const tnm_notes *notes)
{
    uint64_t first[TNM_NOTES] = {0};
    char mine[TNM_TEXT + 64] = "", zero[TNM_TEXT] = "";
    int at = -1, lowest;
    for (int i = 0; i < notes->n && c->rank == 0; i++)
        first[i] = notes->at[i].hash;
    MPITRY("mpi", MPI_Bcast(first, sizeof first, MPI_BYTE, 0, c->comm));
    for (int i = notes->n - 1; i >= 0; i--)
        at = notes->at[i].hash != first[i] ? i : at;
    int who = at >= 0 ? c->rank : c->size;
    MPITRY("mpi", MPI_Allreduce(&who, &lowest, 1, MPI_INT, MPI_MIN, c->comm));
    if (lowest == c->size)
        return tnm_fail(TN_ERANKS, "the ranks made different calls");
    if (c->rank == lowest)
        snprintf(mine, sizeof mine, "%s is %.200s", notes->at[at].what, notes->at[at].text);
    MPITRY("mpi", MPI_Bcast(&at, 1, MPI_INT, lowest, c->comm));
    if (c->rank == 0 && at < notes->n)
        memcpy(zero, notes->at[at].text, sizeof zero);
    MPITRY("mpi", MPI_Bcast(mine, sizeof mine, MPI_BYTE, lowest, c->comm));
    MPITRY("mpi", MPI_Bcast(zero, sizeof zero, MPI_BYTE, 0, c->comm));
    return tnm_fail(TN_ERANKS, "rank %d: %s, rank 0 has %.200s", lowest, mine, zero);
}

tn_status tnm_agree(tnm_comm *c, tn_status status, const tnm_notes *notes, int64_t *least)
{
    /* The minima of hash and -hash are opposite only if the hashes of all ranks are equal. */
    const int64_t hash = (int64_t)(notes_hash(notes) >> 1);
    int64_t mine[4] = {status == TN_OK ? c->size : c->rank, hash, -hash, least ? *least : 0};
    int64_t all[4];
    MPITRY("mpi", MPI_Allreduce(mine, all, 4, MPI_INT64_T, MPI_MIN, c->comm));
    if (all[0] < c->size)
        return hear(c, (int)all[0], status);
    if (all[1] != -all[2])
        return notes ? differ(c, notes) : tnm_fail(TN_ERANKS, "the ranks made different calls");
    if (least)
        *least = all[3];
    return TN_OK;
}
