/* explain.c - words for what a plan does, and the public way to read them. */
#include <stdarg.h>
#include <stdio.h>

#include "plan.h"

void tni_text_add(tni_text *text, const char *fmt, ...)
{
    size_t room = text->used < text->size ? text->size - text->used : 0;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(room ? text->buf + text->used : NULL, room, fmt, args);
    va_end(args);
    if (n > 0)
        text->used += (size_t)n;
}

tn_status tn_plan_explain(const tn_plan *plan, char *buf, size_t size)
{
    if (!plan)
        return tni_fail(TN_ENULL, "plan_explain: plan is NULL");
    if (!buf && size)
        return tni_fail(TN_ENULL, "plan_explain: buf is NULL and size is %zu", size);
    if (size)
        buf[0] = 0;
    plan->explain(plan, &(tni_text){.buf = buf, .size = size});
    return TN_OK;
}
