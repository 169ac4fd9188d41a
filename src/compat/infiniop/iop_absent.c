/* iop_absent.c - operators that InfiniOp has for other devices alone.
 *
 * A program that is loaded with all its functions bound at once needs every name.  What they are
 * given beyond their first argument, a handle or a descriptor, is not looked at: by the calling
 * conventions of C the caller cleans up whatever it passes. */
#include "iop.h"

static infiniStatus_t refuse(const char *name, const void *first)
{
    return tni_iop_status(first ? tni_fail(TN_EDEVICE, "%s: not available on the CPU", name)
                                : tni_fail(TN_ENULL, "%s: the first argument is NULL", name));
}

#define FUNCTION(name)                                                                         \
    INFINI_API infiniStatus_t infiniop##name(const void *first);                               \
    infiniStatus_t infiniop##name(const void *first)                                           \
    {                                                                                          \
        return refuse(#name, first);                                                           \
    }

#define RUN_ONLY(name) FUNCTION(name)
#define NO_SPACE(name)                                                                         \
    FUNCTION(Create##name##Descriptor) FUNCTION(name) FUNCTION(Destroy##name##Descriptor)
#define ABSENT(name) NO_SPACE(name) FUNCTION(Get##name##WorkspaceSize)
#include "absent.def"
