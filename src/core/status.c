/* status.c - statuses and the calling thread's sentence.
 *
 * The sentence lives in a fixed buffer of the thread: failing allocates nothing. */
#include <stdarg.h>
#include <stdio.h>

#include <tenon/tenon.h>

#include "core.h"

#define TEXT(x)  TEXT_(x)
#define TEXT_(x) #x

static _Thread_local char sentence[512];
static _Thread_local int column; /* of the text that the failing call was given; 0: none */

/* Indexed by the enumerator, so a row out of order or missing leaves a NULL that test_core
 * finds. */
static const char *const names[] = {
#define STATUS(name) [name] = #name,
#include "status.def"
#undef STATUS
};

tn_status tni_fail(tn_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    column = 0;
    return status;
}

tn_status tni_fail_at(tn_status status, int at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    column = at;
    return status;
}

int tn_error_column(void)
{
    return column;
}

tn_status tn_set_error(tn_status status, const char *text)
{
    return tni_fail(status, "%s", text ? text : "");
}

const char *tn_error(void)
{
    return sentence;
}

const char *tn_status_name(tn_status status)
{
    return (unsigned)status < (unsigned)COUNT(names) ? names[status] : "TN_?";
}

const char *tn_version(void)
{
    return TEXT(TN_VERSION_MAJOR) "." TEXT(TN_VERSION_MINOR) "." TEXT(TN_VERSION_PATCH);
}
