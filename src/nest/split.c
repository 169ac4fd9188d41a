/* split.c - how work is divided into parts for threads.
 *
 * Small work stays in one part. */
#include "nest.h"

/* The bytes of a part below which even a thread that is awake does not pay: on Zen 4 one core
 * copies or transposes 128 KB in 2.3 to 3.1 us, and the start and end of a region cost 1 to 5
 * us.  The extra cost of sleeping workers is measured at run time
 * (docs/investigations/waking-workers.md). */
enum { GRAIN = 128 * 1024 };

bool tni_split_worth(int64_t bytes)
{
    return bytes >= 2 * GRAIN;
}

int tni_split_parts(int threads, int64_t bytes, int64_t items)
{
    ASSERT(bytes >= 0 && items >= 0);
    if (!tni_split_worth(bytes) || items < 2)
        return 1;
    int64_t parts = threads;
    if (parts > bytes / GRAIN)
        parts = bytes / GRAIN;
    if (parts > items)
        parts = items;
    return parts < 1 ? 1 : (int)parts;
}

void tni_split_range(int64_t items, int parts, int part, int64_t *first, int64_t *last)
{
    ASSERT(parts >= 1 && part >= 0 && part < parts && items >= 0);
    int64_t each = items / parts, more = items % parts;
    *first = each * part + (part < more ? part : more);
    *last = *first + each + (part < more);
    ASSERT(*first <= *last && *last <= items);
}
