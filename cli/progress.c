/* progress.c - the progress of a long command, on standard error.
 *
 * On a terminal a single line is redrawn, beginning after one second; elsewhere nothing is
 * printed unless --progress requests lines. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { BAR = 24 };

static struct {
    bool on, lines, drawn;
    int64_t total, done, before; /* before: bytes of completed tensors */
    double start, next;
} now;

void progress_start(const args *a, int64_t total)
{
    memset(&now, 0, sizeof now);
    now.lines = a->progress;
    now.on = total != 0 && !a->quiet && (a->progress || isatty(STDERR_FILENO));
    now.total = total;
    now.start = seconds();
    now.next = now.start + (now.lines ? 0 : 1);
}

static void draw(double t)
{
    char bar[BAR + 1], done[32], total[32], rate[32];
    double passed = t - now.start, share = (double)now.done / (double)now.total;
    int full = (int)(share * BAR);
    memset(bar, '#', (size_t)full);
    memset(bar + full, '.', (size_t)(BAR - full));
    bar[BAR] = 0;
    double speed = passed > 0 ? (double)now.done / passed : 0;
    double left = speed > 0 ? (double)(now.total - now.done) / speed : 0;
    fprintf(stderr, "%s[%s] %3d%%  %s of %s, %s/s, %.0f s left%s", now.lines ? "" : "\r", bar,
            (int)(share * 100), bytes_text(done, (double)now.done),
            bytes_text(total, (double)now.total), bytes_text(rate, speed), left,
            now.lines ? "\n" : "\033[K");
    fflush(stderr);
    now.drawn = true;
}

void progress_at(int64_t done)
{
    if (!now.on)
        return;
    now.done = now.before + done;
    double t = seconds();
    if (t < now.next)
        return;
    now.next = t + (now.lines ? 1 : 0.1);
    draw(t);
}

void progress_of(int64_t done, int64_t total)
{
    if (now.total < 0)
        now.total = total;
    if (now.total > 0)
        progress_at(done);
}

void progress_next(void)
{
    now.before = now.done;
}

void progress_end(void)
{
    if (now.on && now.drawn && !now.lines) {
        fprintf(stderr, "\r\033[K");
        fflush(stderr);
    }
    now.on = false;
}
