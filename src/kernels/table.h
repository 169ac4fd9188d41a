/* table.h - names the kernel tables of the level that is being compiled (TNI_ISA). */
#ifndef TNI_TABLE_H
#define TNI_TABLE_H

#define PASTE(a, b)  PASTE_(a, b)
#define PASTE_(a, b) a##b

/* TNI_TABLE(copy) is tni_copy_avx2 in an object of level avx2. */
#define TNI_TABLE(FAMILY) PASTE(tni_##FAMILY##_, TNI_ISA)

#endif
