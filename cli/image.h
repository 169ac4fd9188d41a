/* image.h - writing a tensor as a picture file. */
#ifndef IMAGE_H
#define IMAGE_H

#include "cli.h"

/* Write the PNG of --image. */
int show_image(const args *a, const input *in);

#endif
