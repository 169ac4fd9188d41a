/* tune.c - tuning parameters that are measured on a machine, and the text file that stores
 * them.
 *
 * They decide which way a plan chooses and how large its tiles are, and never change a bit of a
 * result.  A file is applied as a whole or not at all: another format, another CPU or a number
 * out of range leaves every parameter as it was. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "local.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

/* The names and ranges in a file, and the values without a file, of which AMD's CPUs may have
 * their own.
 *
 *   rows_direct  on Zen 4, rows of 1.5 KB fall from 1.05 to 0.90 of R when they are carried
 *                instead
 *   line_piece   on Zen 4, 512 bytes reach 0.75 of R, 128 bytes 0.70; other CPUs keep two lines
 *   carried_run  where aligned lines fit, a run of this many units may be carried; where L1
 *                does not hold the source rows, one of half as many, or of four times as many
 *                if those rows are packed: on Zen 4, carrying shorter ones has 0.65 to 0.95 of
 *                the speed of lines; the limit is not a measured optimum
 *
 * The first two are from docs/investigations/copies-at-any-address.md. */
static const struct {
    const char *name;
    int64_t least, most, fallback, amd;
} numbers[TNI_TUNED] = {
    [TNI_ROWS_DIRECT] = {"rows_direct", 64, 1 << 20, 1024, 1024},
    [TNI_LINE_PIECE] = {"line_piece", 64, 4096, 128, 512},
    [TNI_CARRIED_RUN] = {"carried_run", 16, 1 << 30, 1000, 1000},
};

static const char head[] = "tenon tune 1\n";

static atomic_int_least64_t values[TNI_TUNED]; /* 0: not set */
static atomic_int looked;                      /* 1: the file has been looked for */
static atomic_int amd; /* 1: this is one of AMD's CPUs; set before looked */

/* The brand string of the CPU; a file made on another CPU is not used. */
static void cpu_name(char name[64])
{
    snprintf(name, 64, "unknown");
#if defined(__x86_64__) || defined(__i386__)
    unsigned r[12];
    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002 + i, &r[4 * i], &r[4 * i + 1], &r[4 * i + 2],
                         &r[4 * i + 3]))
            return;
    memcpy(name, r, 48);
    name[48] = 0;
#endif
}

static bool made_by_amd(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d;
    return __get_cpuid(0, &a, &b, &c, &d) && !memcmp(&b, "Auth", 4) && !memcmp(&c, "cAMD", 4);
#else
    return false;
#endif
}

int64_t tni_tuned(tni_tuned_number which)
{
    if (UNLIKELY(!atomic_load_explicit(&looked, memory_order_acquire)))
        tni_tune_first();
    int64_t v = atomic_load_explicit(&values[which], memory_order_relaxed);
    if (v)
        return v;
    return atomic_load_explicit(&amd, memory_order_relaxed) ? numbers[which].amd
                                                            : numbers[which].fallback;
}

const char *tni_tuned_name(tni_tuned_number which)
{
    return numbers[which].name;
}

void tni_tune_set(tni_tuned_number which, int64_t value)
{
    atomic_store_explicit(&values[which], value, memory_order_relaxed);
}

/* ---- the file ---- */

/* Why a file is not used: a status, and what the error sentence says after the path. */
typedef struct refusal {
    tn_status status;
    char why[160];
} refusal;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static bool
refuse(refusal *r, tn_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->why, sizeof r->why, fmt, args);
    va_end(args);
    r->status = status;
    return false;
}

/* Parse line number `at`, "name value". */
static bool take_line(const char *line, int at, int64_t *found, refusal *r)
{
    char name[32];
    long long value;
    int used = 0, i = 0;
    if (sscanf(line, "%31s %lld%n", name, &value, &used) != 2 || line[used] != 0)
        return refuse(r, TN_EFORMAT, "line %d: expected a name and a number", at);
    while (i < TNI_TUNED && strcmp(name, numbers[i].name) != 0)
        i++;
    if (i == TNI_TUNED)
        return refuse(r, TN_EFORMAT, "line %d: unknown name \"%s\"", at, name);
    if (found[i])
        return refuse(r, TN_EFORMAT, "line %d: duplicate name %s", at, name);
    if (value < numbers[i].least || value > numbers[i].most)
        return refuse(r, TN_EFORMAT, "line %d: %s: got %lld, expected %lld to %lld", at, name,
                      value, (long long)numbers[i].least, (long long)numbers[i].most);
    found[i] = value;
    return true;
}

static bool parse(char *text, refusal *r)
{
    int64_t found[TNI_TUNED] = {0};
    char name[64], *line = text + sizeof head - 1;
    cpu_name(name);
    if (strncmp(text, head, sizeof head - 1) != 0)
        return refuse(r, TN_EFORMAT, "not a tune file of version 1");
    for (int at = 2; *line; at++) {
        char *end = strchr(line, '\n');
        if (!end)
            return refuse(r, TN_EFORMAT, "line %d is truncated", at);
        *end = 0;
        if (!strncmp(line, "cpu ", 4)) {
            if (strcmp(line + 4, name) != 0)
                return refuse(r, TN_EUNSUPPORTED, "measured on %.48s, this CPU is %s", line + 4,
                              name);
        } else if (*line != '#' && !take_line(line, at, found, r)) {
            return false;
        }
        line = end + 1;
    }
    for (int i = 0; i < TNI_TUNED; i++)
        if (found[i])
            tni_tune_set((tni_tuned_number)i, found[i]);
    return true;
}

/* Load the numbers of a file, without setting the calling thread's error sentence. */
static bool load(const char *path, refusal *r)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return refuse(r, TN_EIO, "%s", strerror(errno));
    ssize_t n = read(fd, text, sizeof text);
    const int error = errno;
    close(fd);
    if (n < 0)
        return refuse(r, TN_EIO, "%s", strerror(error));
    if (n == (ssize_t)sizeof text || memchr(text, 0, (size_t)n))
        return refuse(r, TN_EFORMAT, "not a tune file of version 1");
    text[n] = 0;
    return parse(text, r);
}

static void now_looked(void)
{
    atomic_store_explicit(&amd, made_by_amd(), memory_order_relaxed);
    atomic_store_explicit(&looked, 1, memory_order_release);
}

tn_status tn_tune_load(const char *path)
{
    refusal r;
    if (!path)
        return tni_fail(TN_ENULL, "tune_load: path is NULL");
    if (!load(path, &r))
        return tni_fail(r.status, "tune_load: %s: %s", path, r.why);
    now_looked();
    return TN_OK;
}

tn_status tn_tune_save(const char *path)
{
    char text[512], name[64];
    if (!path)
        return tni_fail(TN_ENULL, "tune_save: path is NULL");
    cpu_name(name);
    int used = snprintf(text, sizeof text, "%scpu %s\n", head, name);
    for (int i = 0; i < TNI_TUNED; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s %lld\n", numbers[i].name,
                         (long long)tni_tuned((tni_tuned_number)i));
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return tni_fail(TN_EIO, "tune_save: %s: %s", path, strerror(errno));
    const bool whole = write(fd, text, (size_t)used) == used;
    if (close(fd) != 0 || !whole)
        return tni_fail(TN_EIO, "tune_save: %s: %s", path, strerror(errno));
    return TN_OK;
}

/* Load the file that TENON_TUNE names, or else tenon/tune in the user's configuration folder.
 * A file that does not load is ignored, and the caller's error sentence is left alone. */
void tni_tune_first(void)
{
    char path[512] = "";
    const char *named = getenv("TENON_TUNE"), *config = getenv("XDG_CONFIG_HOME"),
               *home = getenv("HOME");
    if (named)
        snprintf(path, sizeof path, "%s", named);
    else if (config && *config)
        snprintf(path, sizeof path, "%s/tenon/tune", config);
    else if (home && *home)
        snprintf(path, sizeof path, "%s/.config/tenon/tune", home);
    refusal ignored;
    if (path[0])
        (void)load(path, &ignored);
    now_looked();
}
