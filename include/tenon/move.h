/* move.h - deprecated alias of <tenon/copy.h>. */
#ifndef TENON_MOVE_H
#define TENON_MOVE_H

#include <tenon/copy.h>

#endif
