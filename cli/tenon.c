/* tenon.c - the entry of the command.  Tests link the rest of it and call tenon_main
 * themselves. */
#include "cli.h"

int main(int argc, char **argv)
{
    return tenon_main(argc, argv);
}
