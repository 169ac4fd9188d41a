/* beside.c - running the cases of a benchmark in other libraries. */
#include "beside.h"

#include <stdio.h>
#include <string.h>

#include "measure.h"

enum { PEERS = 96, PEER_NAME = 30 }; /* width of the name column in the script's output */
static peer peers[PEERS];
static int npeers;

const peer *peer_of(const char *name)
{
    static const peer none = {"", "-", "-"};
    for (int i = 0; i < npeers; i++)
        if (!strcmp(peers[i].name, name))
            return &peers[i];
    return &none;
}

void peers_read(const char *self, const char *only, const char *script, const char *options)
{
    char command[1024], text[256];
    snprintf(command, sizeof command, "'%s' --list --only '%s' | python3 '%s' %s", self,
             only ? only : "", script, options);
    FILE *f = popen(command, "r");
    if (!f)
        give_up("peers", "cannot run the script");
    while (npeers < PEERS && fgets(text, sizeof text, f)) {
        peer *p = &peers[npeers];
        if (strlen(text) <= PEER_NAME ||
            sscanf(text + PEER_NAME, "%11s %11s", p->numpy, p->torch) != 2)
            continue;
        int n = PEER_NAME;
        while (n > 0 && text[n - 1] == ' ')
            n--;
        snprintf(p->name, sizeof p->name, "%.*s", n, text);
        npeers++;
    }
    pclose(f);
}
