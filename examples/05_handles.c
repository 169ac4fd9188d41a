/* 05_handles.c - an engine supplies its own allocator and thread pool. */
#include <stdlib.h>

#include <tenon/easy.h>
#include <tenon/tenon.h>

typedef struct engine {
    size_t bytes; /* in use */
    int loops;    /* parallel loops run */
} engine;

static void *engine_alloc(void *user, size_t size, size_t align)
{
    ((engine *)user)->bytes += size;
    return aligned_alloc(align, size);
}

static void engine_free(void *user, void *ptr, size_t size)
{
    ((engine *)user)->bytes -= size;
    free(ptr);
}

/* A real engine would pass the parts to its thread pool here. */
static void engine_for(void *user, int parts, void (*body)(void *arg, int part), void *arg)
{
    ((engine *)user)->loops++;
    for (int part = 0; part < parts; part++)
        body(arg, part);
}

int main(void)
{
    engine e = {0};
    tn_handle *h;
    TN_MUST(tn_handle_create(&h, TN_CPU, 0,
                             &(tn_config){.threads = 4,
                                          .alloc = engine_alloc,
                                          .free = engine_free,
                                          .parallel_for = engine_for,
                                          .user = &e}));
    TN_MUST(tn_handle_use(h)); /* for this thread, until another one or NULL */

    tn_tensor t;
    TN_MUST(tn_alloc(&t, TN_F32, 2, (int64_t[]){1000, 1000}));
    TN_EXPECT(e.bytes >= 4000000);
    printf("the engine gave %zu bytes for 4000000\n", e.bytes);

    tn_handle_destroy(h); /* the thread is back on the default; the tensor stays valid */
    *(float *)t.data = 1;
    tn_free(&t); /* returns the memory to the engine */
    TN_EXPECT(e.bytes == 0 && t.data == NULL);
    puts("and has them back");
    return 0;
}
