/* stream_refused.h - checking that a call of streams fails with a status and a message. */
#ifndef STREAM_REFUSED_H
#define STREAM_REFUSED_H

#define REFUSED(call, status, part)                                                            \
    do {                                                                                       \
        assert_int_equal(call, status);                                                        \
        if (!strstr(tn_error(), part))                                                         \
            fail_msg("\"%s\" is not in \"%s\"", part, tn_error());                             \
    } while (0)

#endif
