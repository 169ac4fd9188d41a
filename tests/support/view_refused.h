/* view_refused.h - checking that a call fails with a status and a message, and changes
 * nothing. */
#ifndef TENON_TEST_VIEW_REFUSED_H
#define TENON_TEST_VIEW_REFUSED_H

#include "view_oracle.h"

static tn_tensor out, before; /* equal as long as every call fails */

static void reset(void)
{
    memset(&before, 0x6b, sizeof before);
    memset(&out, 0x6b, sizeof out);
}

static void refused(tn_status got, tn_status want, const char *sentence, const char *call)
{
    if (got != want)
        fail_msg("%s gives %s, not %s", call, tn_status_name(got), tn_status_name(want));
    if (sentence && strcmp(tn_error(), sentence) != 0)
        fail_msg("%s says \"%s\"", call, tn_error());
    if (memcmp(&out, &before, sizeof out) != 0)
        fail_msg("%s has changed out", call);
}
#define REFUSED(call, status, sentence) refused((call), status, sentence, #call)

#endif
