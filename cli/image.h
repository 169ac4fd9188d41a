/* image.h - a tensor as a picture in a file of its own. */
#ifndef IMAGE_H
#define IMAGE_H

#include "cli.h"

/* Into the file of --image, a PNG. */
int show_image(const args *a, const input *in);

#endif
