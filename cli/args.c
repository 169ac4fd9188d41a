/* args.c - parsing the command line with a table of options.
 *
 * A command accepts the options whose bits its row has.  Negative numbers are not options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef enum kind { FLAG, TEXT, BYTES, LIST } kind;

#define AT(member) offsetof(args, member)

/* clang-format off */
static const struct option {
    uint64_t bit;     /* used in the rows of commands */
    char letter;      /* -x, or 0 */
    const char *name; /* --name */
    kind kind;
    size_t at;
    const char *value, *what;
} options[] = {
    {OPT_OUT, 'o', "out", TEXT, AT(out), "OUT", "output file; its suffix selects the format, - is a pipe of .npy"},
    {OPT_FORCE, 'f', "force", FLAG, AT(force), NULL, "overwrite an existing file"},
    {OPT_NAME, 0, "name", TEXT, AT(name), "NAME", "name of the tensor in OUT (or -o OUT:NAME)"},
    {OPT_TENSORS, 0, "tensors", TEXT, AT(tensors), "GLOB", "change the matching tensors, copy the others as they are; info, show: only these"},
    {OPT_DTYPE, 0, "dtype", TEXT, AT(dtype), "DTYPE", "read the elements as this dtype of the same width"},
    {OPT_AXIS, 'a', "axis", TEXT, AT(axis), "AXES", "0 is the first, -1 the last"},
    {OPT_BEFORE, 0, "before", TEXT, AT(before), "N,...", "widths before the axes"},
    {OPT_AFTER, 0, "after", TEXT, AT(after), "N,...", "widths after the axes"},
    {OPT_MODE, 0, "mode", TEXT, AT(mode), "MODE", "constant, edge, reflect, symmetric or wrap"},
    {OPT_VALUE, 0, "value", TEXT, AT(value), "X", "fill value of mode constant; 0 by default"},
    {OPT_PARAMS, 0, "params", TEXT, AT(params), "X,...", "scalar parameters of the op"},
    {OPT_KEEP, 0, "keep", FLAG, AT(keep), NULL, "keep the reduced axes, with extent 1"},
    {OPT_RESULTS, 0, "result", TEXT, AT(result), "DTYPE", "dtype of the result: a wider float, any integer for sums of integers"},
    {OPT_DESCEND, 0, "descending", FLAG, AT(descending), NULL, "largest first"},
    {OPT_INDICES, 0, "indices", FLAG, AT(indices), NULL, "indices of the elements instead of the elements"},
    {OPT_BINS, 0, "bins", BYTES, AT(bins), "N", "histogram of N bins between min and max, in a second pass"},
    {OPT_ALIGN, 0, "align", BYTES, AT(align), "N", "alignment of the data in a .safetensors; 8 by default"},
    {OPT_MAX_MEM, 0, "max-mem", BYTES, AT(max_mem), "SIZE", "memory for elements: 512M, 2G; a quarter of the machine's by default"},
    {OPT_NO_SYNC, 0, "no-sync", FLAG, AT(no_sync), NULL, "do not wait until OUT is on disk"},
    {OPT_COMPRESS, 0, "compress", FLAG, AT(compress), NULL, "deflate the members of a .npz"},
    {OPT_KV, 0, "kv", TEXT, AT(kv), "FILE", "key-values of a .gguf result: another .gguf, or JSON"},
    {OPT_DRY_RUN, 0, "dry-run", FLAG, AT(dry_run), NULL, "print what would be written, write nothing"},
    {OPT_SHARD, 0, "shard-size", BYTES, AT(shard_size), "SIZE", "maximum bytes per file: 5G"},
    {OPT_SET, 0, "set", LIST, AT(set), "KEY=VALUE", "set a value; repeatable"},
    {OPT_STRIP, 0, "strip", FLAG, AT(strip), NULL, "remove the values of KEYs, or all of them"},
    {OPT_ATOL, 0, "atol", TEXT, AT(atol), "X", "equal within X + rtol * |b|"},
    {OPT_RTOL, 0, "rtol", TEXT, AT(rtol), "X", "see --atol"},
    {OPT_STRUCT, 0, "structure", FLAG, AT(structure), NULL, "compare names, dtypes and shapes only"},
    {OPT_IN_RANKS, 0, "in-ranks", FLAG, AT(in_ranks), NULL, "each IN is one rank of a tensor-parallel set"},
    {OPT_OUT_RANK, 0, "out-ranks", BYTES, AT(out_ranks), "N", "write N ranks"},
    {OPT_RULES, 0, "rules", TEXT, AT(rules), "FILE", "rename by rules as in reshard: OLD -> NEW, one per line"},
    {OPT_ALSO, 0, "also", TEXT, AT(also), "GLOB", "copy other files in the inputs' folders: '*.json'"},
    {OPT_PROOF, 0, "proof", TEXT, AT(proof), "FILE", "write which input element each output element comes from"},
    {OPT_VERIFY, 0, "verify", FLAG, AT(verify), NULL, "compare OUTDIR with the inputs, byte by byte"},
    {OPT_IMAGE, 0, "image", TEXT, AT(image), "OUT.png", "write a matrix, or three channels, as a picture"},
    {OPT_COLOUR, 0, "colour", TEXT, AT(colour), "MAP", "colours of a matrix as a picture: grey (default) or viridis"},
    {OPT_HASH, 0, "hash", FLAG, AT(hash), NULL, "hash the bytes of every tensor and find equal ones"},
    {OPT_SAMPLE, 0, "sample", TEXT, AT(sample), "SHARE", "draw pictures from a share of the elements, such as 1%; counts cover all"},
    {OPT_PROGRESS, 0, "progress", FLAG, AT(progress), NULL, "print progress, line by line"},
    {OPT_QUIET, 'q', "quiet", FLAG, AT(quiet), NULL, "do not print progress"},
    {OPT_JSON, 0, "json", FLAG, AT(json), NULL, "print JSON"},
    {OPT_CHECK, 0, "check", FLAG, AT(check), NULL, "load the file and report why it is not used"},
    {OPT_DISK, 0, "disk", TEXT, AT(disk), "DIR", "measure files larger than memory in this folder"},
    {OPT_QUICK, 0, "quick", FLAG, AT(quick), NULL, "smaller tensors, fewer rounds"},
};
/* clang-format on */

void print_options(const command *c)
{
    bool any = false;
    for (int i = 0; i < COUNT(options); i++) {
        const struct option *o = &options[i];
        if (!(c->options & o->bit))
            continue;
        char form[40], letter[8] = "";
        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(form, sizeof form, "%s--%s %s", letter, o->name, o->value ? o->value : "");
        printf("%s  %-20s %s\n", any ? "" : "\nOptions:\n", form, o->what);
        any = true;
    }
}

static const struct option *find_option(const char *word, size_t len)
{
    for (int i = 0; i < COUNT(options); i++) {
        const struct option *o = &options[i];
        if (len == 2 && word[0] == '-' && word[1] == o->letter)
            return o;
        if (len > 3 && !strncmp(word, "--", 2) && strlen(o->name) == len - 2 &&
            !strncmp(word + 2, o->name, len - 2))
            return o;
    }
    return NULL;
}

static int set(args *a, const struct option *o, const char *value)
{
    char *at = (char *)a + o->at;
    if (o->kind == FLAG)
        memcpy(at, &(bool){true}, sizeof(bool));
    else if (o->kind == TEXT)
        memcpy(at, &value, sizeof value);
    else if (o->kind == LIST && a->nset == MOST_SETTINGS)
        return usage(a, "--%s is given more than %d times", o->name, MOST_SETTINGS);
    else if (o->kind == LIST)
        a->set[a->nset++] = value;
    else if (read_size(value, (int64_t *)(void *)at) != DONE || !*(int64_t *)(void *)at)
        return usage(a, "--%s takes a size such as 512M, got \"%s\"", o->name, value);
    return DONE;
}

static bool is_option(const char *word)
{
    if (word[0] != '-' || !word[1])
        return false;
    bool digit = (word[1] >= '0' && word[1] <= '9') || word[1] == '.';
    return !digit && !is_number(word);
}

int options_before(int argc, char **argv)
{
    int i = 0;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "--"))
            return i + 1;
        const char *equals = strchr(argv[i], '=');
        const struct option *o =
            find_option(argv[i], equals ? (size_t)(equals - argv[i]) : strlen(argv[i]));
        if (!o)
            return 0;
        if (o->kind != FLAG && !equals)
            i++;
    }
    return i;
}

/* With explain, commands with named results accept --json, too. */
static bool explains(const command *c, const struct option *o)
{
    return o->bit == OPT_JSON && (c->options & OPT_NAME);
}

int read_args(args *a, const command *c, int argc, char **argv)
{
    bool no_more = false;
    a->command = c;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (!no_more && !strcmp(word, "--")) {
            no_more = true;
            continue;
        }
        const char *equals = word[0] && word[1] == '-' ? strchr(word, '=') : NULL;
        size_t len = equals ? (size_t)(equals - word) : strlen(word);
        const struct option *o = find_option(word, len);
        bool known = o && ((c->options & o->bit) || (a->explain && explains(c, o)));
        if (no_more || !is_option(word) || (c->text_first && a->n == 0 && !known)) {
            a->operands[a->n++] = word;
            continue;
        }
        if (!known)
            return usage(a, "unknown option %.*s", (int)len, word);
        if (o->kind == FLAG && equals)
            return usage(a, "%.*s takes no value", (int)len, word);
        if (o->kind != FLAG && !equals && ++i == argc)
            return usage(a, "%s needs a value", word);
        TRY(set(a, o, o->kind == FLAG ? NULL : equals ? equals + 1 : argv[i]));
    }
    return DONE;
}

/* The name of positional argument k in the usage line; "-a AXIS" and words in brackets do not
 * count. */
static const char *operand_name(const command *c, int k, int *length)
{
    const char *at = c->line;
    while (*at) {
        size_t n = strcspn(at, " ");
        bool option = *at == '-';
        if (!option && *at != '[' && k-- == 0) {
            *length = (int)n;
            return at;
        }
        if (option && !strncmp(at, "-o", n))
            break;
        at += n + strspn(at + n, " ");
        if (option) { /* skip its value */
            at += strcspn(at, " ");
            at += strspn(at, " ");
        }
    }
    *length = 4;
    return "FILE";
}

int need_operands(const args *a, int n)
{
    int length;
    if (a->n > n)
        return usage(a, "too many arguments");
    if (a->n == n)
        return DONE;
    const char *name = operand_name(a->command, a->n, &length);
    return usage(a, "missing argument: %.*s", length, name);
}
