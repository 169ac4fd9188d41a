/* plan_facts.c - describes a plan as a struct, as text and as JSON.
 *
 * The class of the plan fills in the struct; text and JSON are generated from it alone. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "plan.h"

void tni_facts_set(char *text, size_t size, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, size, fmt, args);
    va_end(args);
}

void tni_facts_add(tn_facts *f, const char *name, const char *fmt, ...)
{
    ASSERT(f->nmore < TN_FACTS_MORE);
    tn_fact *more = &f->more[f->nmore++];
    FACT(more->name, "%s", name);
    va_list args;
    va_start(args, fmt);
    vsnprintf(more->text, sizeof more->text, fmt, args);
    va_end(args);
    /* The user's text may contain any byte, but a fact is one line, and a JSON string has no
     * control bytes. */
    for (char *c = more->text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
}

static void facts_of(const tn_plan *plan, tn_facts *f)
{
    memset(f, 0, sizeof *f);
    FACT(f->call, "%s", plan->call);
    FACT(f->isa, "%s", tn_isa());
    f->dtype = plan->ts[0].dtype;
    f->ndim = plan->ts[0].ndim;
    memcpy(f->shape, plan->ts[0].shape, (size_t)f->ndim * sizeof f->shape[0]);
    plan->class->facts(plan, f);
}

/* ---- text that is truncated at the end of the buffer ---- */

typedef struct facts_text {
    char *buf;
    size_t size, used; /* used: bytes of the whole text */
} facts_text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
facts_put(facts_text *t, const char *fmt, ...)
{
    size_t left = t->used < t->size ? t->size - t->used : 0;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(left ? t->buf + t->used : NULL, left, fmt, args);
    va_end(args);
    if (n > 0)
        t->used += (size_t)n;
}

static void facts_list(facts_text *t, const char *between, int n, const int64_t *numbers)
{
    for (int i = 0; i < n; i++)
        facts_put(t, "%s%lld", i ? between : "", (long long)numbers[i]);
}

/* ---- lines ---- */

static void facts_lines(facts_text *t, const tn_facts *f)
{
    facts_put(t, "%s %s (", f->call, tn_dtype_name(f->dtype));
    facts_list(t, ", ", f->ndim, f->shape);
    facts_put(t, "): %s\n", f->way);
    if (f->why[0])
        facts_put(t, "  why      %s\n", f->why);
    if (f->threads == 0)
        return;
    for (int i = 0; i < f->nmore; i++)
        facts_put(t, "  %-8s %s\n", f->more[i].name, f->more[i].text);
    if (f->unit)
        facts_put(t, "  unit     %lld bytes, %lld of them\n", (long long)f->unit,
                  (long long)f->units);
    if (f->tile_ndim) {
        facts_put(t, "  tile     ");
        facts_list(t, " x ", f->tile_ndim, f->tile);
        facts_put(t, ", %lld tile%s\n", (long long)f->tiles, f->tiles == 1 ? "" : "s");
    }
    if (f->stores[0])
        facts_put(t, "  stores   %s\n", f->stores);
    if (f->buffer)
        facts_put(t, "  buffers  %lld bytes a thread\n", (long long)f->buffer);
    if (f->flops)
        facts_put(t, "  flops    %lld\n  workspace %lld bytes\n", (long long)f->flops,
                  (long long)f->workspace);
    facts_put(t, "  bytes    %lld read, %lld written\n", (long long)f->read,
              (long long)f->written);
    facts_put(t, "  threads  %d, kernels %s\n", f->threads, f->isa);
}

/* ---- JSON ---- */

static void facts_string(facts_text *t, const char *text)
{
    facts_put(t, "\"");
    for (; *text; text++)
        facts_put(t, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    facts_put(t, "\"");
}

static const struct {
    const char *name;
    size_t offset;
    char kind; /* s text, l int64_t, i int, b bool */
} members[] = {
#define MEMBER(name, kind)                                                                     \
    {                                                                                          \
#name, offsetof(tn_facts, name), kind                                                  \
    }
    MEMBER(call, 's'),    MEMBER(way, 's'),       MEMBER(why, 's'),     MEMBER(stores, 's'),
    MEMBER(isa, 's'),     MEMBER(read, 'l'),      MEMBER(written, 'l'), MEMBER(unit, 'l'),
    MEMBER(units, 'l'),   MEMBER(tiles, 'l'),     MEMBER(run, 'l'),     MEMBER(buffer, 'l'),
    MEMBER(flops, 'l'),   MEMBER(workspace, 'l'), MEMBER(steps, 'i'),   MEMBER(threads, 'i'),
    MEMBER(streams, 'b'), MEMBER(scalar, 'b'),
#undef MEMBER
};

static void facts_member(facts_text *t, const tn_facts *f, int i)
{
    const char *at = (const char *)f + members[i].offset;
    facts_put(t, "\"%s\": ", members[i].name);
    if (members[i].kind == 's')
        facts_string(t, at);
    else if (members[i].kind == 'l')
        facts_put(t, "%lld", (long long)*(const int64_t *)(const void *)at);
    else if (members[i].kind == 'i')
        facts_put(t, "%d", *(const int *)(const void *)at);
    else
        facts_put(t, "%s", *(const bool *)at ? "true" : "false");
    facts_put(t, ", ");
}

static void facts_json(facts_text *t, const tn_facts *f)
{
    facts_put(t, "{");
    for (int i = 0; i < COUNT(members); i++)
        facts_member(t, f, i);
    facts_put(t, "\"dtype\": \"%s\", \"shape\": [", tn_dtype_name(f->dtype));
    facts_list(t, ", ", f->ndim, f->shape);
    facts_put(t, "], \"tile\": [");
    facts_list(t, ", ", f->tile_ndim, f->tile);
    facts_put(t, "], \"more\": {");
    for (int i = 0; i < f->nmore; i++) {
        facts_put(t, i ? ", " : "");
        facts_string(t, f->more[i].name);
        facts_put(t, ": ");
        facts_string(t, f->more[i].text);
    }
    facts_put(t, "}}\n");
}

/* ---- the public calls ---- */

typedef void facts_form(facts_text *t, const tn_facts *f);

static tn_status facts_write(const tn_plan *plan, char *buf, size_t size, facts_form *form,
                             const char *call)
{
    if (!plan)
        return tni_fail(TN_ENULL, "%s: plan is NULL", call);
    if (!buf && size)
        return tni_fail(TN_ENULL, "%s: buf is NULL and size is %zu", call, size);
    if (size)
        buf[0] = 0;
    tn_facts f;
    facts_of(plan, &f);
    form(&(facts_text){.buf = buf, .size = size}, &f);
    return TN_OK;
}

static size_t facts_size(const tn_plan *plan, facts_form *form)
{
    if (!plan)
        return 0;
    tn_facts f;
    facts_text t = {0};
    facts_of(plan, &f);
    form(&t, &f);
    return t.used + 1;
}

tn_status tn_plan_facts(tn_facts *facts, const tn_plan *plan)
{
    if (!facts || !plan)
        return tni_fail(TN_ENULL, "plan_facts: %s is NULL", facts ? "plan" : "facts");
    facts_of(plan, facts);
    return TN_OK;
}

tn_status tn_plan_explain(const tn_plan *plan, char *buf, size_t size)
{
    return facts_write(plan, buf, size, facts_lines, "plan_explain");
}

size_t tn_plan_explain_size(const tn_plan *plan)
{
    return facts_size(plan, facts_lines);
}

tn_status tn_plan_json(const tn_plan *plan, char *buf, size_t size)
{
    return facts_write(plan, buf, size, facts_json, "plan_json");
}

size_t tn_plan_json_size(const tn_plan *plan)
{
    return facts_size(plan, facts_json);
}
