/* filter.c - linked into every test program: TEST_FILTER runs only the cases that it matches.
 *
 * The filter is cmocka's: * stands for any characters, ? for one.  A filter that matches no case
 * is an error of whoever gave it, which ./dev test NAME CASE reports. */
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
