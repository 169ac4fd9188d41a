/* contract_strip.c - converts elements of any layout and dtype to dense ones of the compute
 * type, and back: tensors by copies and casts, short strips by hand. */
#include "contract_plan.h"

#include "plan/plan.h"

void tni_contract_copy(const tn_tensor *dst, char *d, const tn_tensor *src, const char *s)
{
    if (dst->dtype == src->dtype && dst->dtype != TN_BOOL) {
        tni_copy copy;
        tni_copy_plan(&copy, dst, src);
        tni_copy_run(&copy, d, s);
        return;
    }
    tni_strips_cast(dst, d, src, s);
}

/* A loop for each width, of which the compiler makes single loads and stores. */
static void strip_gather(char *d, const char *s, int64_t n, int64_t step, int64_t width)
{
    switch (width) {
    case 1:
        for (int64_t i = 0; i < n; i++)
            d[i] = s[i * step];
        break;
    case 2:
        for (int64_t i = 0; i < n; i++)
            memcpy(d + 2 * i, s + i * step, 2);
        break;
    case 4:
        for (int64_t i = 0; i < n; i++)
            memcpy(d + 4 * i, s + i * step, 4);
        break;
    case 8:
        for (int64_t i = 0; i < n; i++)
            memcpy(d + 8 * i, s + i * step, 8);
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            memcpy(d + 16 * i, s + i * step, 16);
    }
}

static void strip_scatter(char *d, const char *s, int64_t n, int64_t step, int64_t width)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(d + i * step, s + i * width, (size_t)width);
}

const char *tni_strip_read(const tni_strip_io *io, char *buffer, const char *s, int64_t n,
                           int64_t step)
{
    _Alignas(64) char scratch[2][TNI_SUM_STRIP * 16];
    const bool dense = step == io->width || n == 1;
    if (!io->cast.steps) {
        if (dense)
            return s;
        strip_gather(buffer, s, n, step, io->width);
        return buffer;
    }
    if (!dense)
        strip_gather(scratch[0], s, n, step, io->width);
    const char *from = dense ? s : scratch[0];
    for (int i = 0; i < io->cast.steps; i++) {
        char *to = i + 1 == io->cast.steps ? buffer : scratch[1 - i % 2];
        io->cast.fn[i](to, from, n, 0, false);
        from = to;
    }
    return buffer;
}

void tni_strip_write(const tni_strip_io *io, char *d, const char *strip, int64_t n,
                     int64_t step)
{
    _Alignas(64) char scratch[2][TNI_SUM_STRIP * 16];
    const char *s = strip;
    const bool dense = step == io->width || n == 1;
    for (int i = 0; i < io->cast.steps; i++) {
        char *to = i + 1 == io->cast.steps && dense ? d : scratch[i % 2];
        io->cast.fn[i](to, s, n, 0, false);
        s = to;
    }
    if (!dense)
        strip_scatter(d, s, n, step, io->width);
    else if (s != d)
        memcpy(d, s, (size_t)(n * io->width));
}
