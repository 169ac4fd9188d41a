/* split.c - how work is cut into parts for threads.
 *
 * Small work stays in one part: below GRAIN bytes a part, waking a thread costs more than it
 * brings. */
#include "plan.h"
#include "runtime/runtime.h"

enum { GRAIN = 128 * 1024 };

int tni_deal_parts(int64_t bytes, int64_t items)
{
    if (bytes < 2 * GRAIN || items < 2)
        return 1;
    int64_t parts = tni_threads();
    if (parts > bytes / GRAIN)
        parts = bytes / GRAIN;
    if (parts > items)
        parts = items;
    return parts < 1 ? 1 : (int)parts;
}

void tni_deal_range(int64_t items, int parts, int part, int64_t *first, int64_t *last)
{
    int64_t each = items / parts, more = items % parts;
    *first = each * part + (part < more ? part : more);
    *last = *first + each + (part < more);
}
