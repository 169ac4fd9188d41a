/* filter.c - linked into every test program: with TEST_FILTER only the matching cases run.
 *
 * The filter is cmocka's: * matches any characters, ? one.  A filter that matches no case is a
 * user error, which ./dev test NAME CASE reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void take_filter(void)
{
    const char *filter = getenv("TEST_FILTER");
    if (filter && *filter)
        cmocka_set_test_filter(filter);
}
