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

static const char *const names[] = {
    "TN_OK",      "TN_ENULL",    "TN_EARG",         "TN_EDTYPE", "TN_ESHAPE",
    "TN_ESTRIDE", "TN_EOVERLAP", "TN_EOVERFLOW",    "TN_ENOMEM", "TN_EDEVICE",
    "TN_EIO",     "TN_EFORMAT",  "TN_EUNSUPPORTED", "TN_ERANKS", "TN_EMPI",
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
