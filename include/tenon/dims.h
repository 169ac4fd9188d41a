/* dims.h - the dimension operations: create.h, pad.h, join.h and pattern.h together. */
#ifndef TENON_DIMS_H
#define TENON_DIMS_H

#include <tenon/copy.h>
#include <tenon/create.h>
#include <tenon/join.h>
#include <tenon/pad.h>
#include <tenon/pattern.h>

#endif
