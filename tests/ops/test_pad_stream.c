/* test_pad_stream.c - the pads of test_pad.c with streaming stores from the first byte on. */
#define STREAM
#define ROUNDS (TEST_WATCHED ? 2500 : 20000)
#include "test_pad.c"
