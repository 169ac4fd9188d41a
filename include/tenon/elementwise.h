/* elementwise.h - deprecated alias of <tenon/ops.h>. */
#ifndef TENON_ELEMENTWISE_H
#define TENON_ELEMENTWISE_H

#include <tenon/ops.h>

#endif
