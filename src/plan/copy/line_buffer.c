/* line_buffer.c - streams the rows of a buffer as whole lines. */
#include "line_buffer.h"

#include <string.h>

static char *row_address(const tni_line_buffer *b, int64_t i)
{
    int64_t in = b->each == b->rows ? i : i % b->each;
    return b->d + in * b->d_row + (i - in) / b->each * b->d_group;
}

void tni_line_buffer_prefetch(const tni_line_buffer *b)
{
    for (int64_t i = 0; i < b->rows; i++) {
        char *d = row_address(b, i);
        if (!b->joined && (uintptr_t)d % TNI_LINE)
            __builtin_prefetch(d, 1);
        if (!b->goes_on && (uintptr_t)(d + b->run) % TNI_LINE)
            __builtin_prefetch(d + b->run, 1);
    }
}

void tni_line_buffer_flush(tni_line_buffer *b, const tni_copy_kernels *k, int64_t quota)
{
    while (b->row < b->rows && quota > 0) {
        char *d = row_address(b, b->row), *t = b->t + b->row * b->t_row;
        int64_t from = b->joined ? -(int64_t)((uintptr_t)d % TNI_LINE) : 0, to = b->run;
        if (b->goes_on)
            to -= (int64_t)((uintptr_t)(d + b->run) % TNI_LINE);
        from += b->done;
        int64_t bytes = to - from;
        if (bytes > quota + TNI_LINE)
            bytes = quota + TNI_LINE - (int64_t)((uintptr_t)(d + from + quota) % TNI_LINE);
        k->stream(d + from, t + from, bytes);
        quota -= bytes;
        b->done += bytes;
        if (from + bytes == to) {
            b->done = 0;
            b->row++;
        }
    }
}

void tni_line_buffer_save(const tni_line_buffer *b, char *saved)
{
    for (int64_t i = 0; i < b->rows; i++)
        memcpy(saved + i * TNI_LINE, b->t + b->run - TNI_LINE + i * b->t_row, TNI_LINE);
}

void tni_line_buffer_restore(const tni_line_buffer *b, const char *saved)
{
    for (int64_t i = 0; i < b->rows; i++)
        memcpy(b->t - TNI_LINE + i * b->t_row, saved + i * TNI_LINE, TNI_LINE);
}
