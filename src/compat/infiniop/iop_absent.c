/* iop_absent.c - operators that InfiniOp has only for other devices.
 *
 * They are defined so that a program that binds all its symbols at load time can be loaded.
 * Only the first argument, a handle or a descriptor, is declared: in the calling conventions of
 * C the caller removes the others. */
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
