/* row_narrow.h - many short rows of f32, which the caller has transposed into lines
 * (row_lines.inc). */
#ifndef TNI_ROW_NARROW_H
#define TNI_ROW_NARROW_H

static void softmax_narrow(char *x, char *e, int64_t n, int64_t rows, int64_t pitch, bool logs)
{
    enum { ROWS = VF * LINE_VECTORS };
    for (int64_t c = 0; c < rows; c += ROWS, x += 4 * ROWS, e += 4 * ROWS)
        softmax_lines_vf(x, e, n, pitch, logs);
}

static void rms_narrow(char *x, const char *w, int64_t n, int64_t rows, int64_t pitch,
                       double eps)
{
    enum { ROWS = VF * LINE_VECTORS };
    for (int64_t c = 0; c < rows; c += ROWS, x += 4 * ROWS)
        rms_lines_vf(x, w, n, pitch, eps);
}

static void layer_narrow(char *x, const char *w, const char *b, int64_t n, int64_t rows,
                         int64_t pitch, double eps)
{
    enum { ROWS = VF * LINE_VECTORS };
    for (int64_t c = 0; c < rows; c += ROWS, x += 4 * ROWS)
        layer_lines_vf(x, w, b, n, pitch, eps);
}

#endif
