/* main.c - a program outside the project: includes, links, runs. */
#include <stdio.h>
#include <string.h>

#include <tenon/tenon.h>

int main(void)
{
    char header[32];
    snprintf(header, sizeof header, "%d.%d.%d", TN_VERSION_MAJOR, TN_VERSION_MINOR,
             TN_VERSION_PATCH);
    tn_handle *h = NULL;
    if (strcmp(header, tn_version()) != 0 || tn_handle_create(&h, TN_CPU, 0, NULL) != TN_OK ||
        tn_handle_use(h) != TN_OK)
        return 1;
    tn_handle_destroy(h);
    if (tn_handle_create(&h, TN_CPU, 1, NULL) != TN_EDEVICE || !tn_error()[0])
        return 1;
    float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, y[3][2] = {{0}};
    tn_tensor a, b, t;
    if (tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 3}) ||
        tn_init(&b, y, TN_F32, 2, (int64_t[]){3, 2}) || tn_transpose(&t, &a, 0, 1) ||
        tn_rearrange(&b, &t) || y[0][1] != 4)
        return 1;
    printf("tenon %s on %s\n", tn_version(), tn_isa());
    return 0;
}
