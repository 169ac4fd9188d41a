/* args.c - parsing the command line with the table of options.
 *
 * A command accepts the options whose bits its row has.  Negative numbers are not options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef enum kind { FLAG, TEXT, BYTES, NUMBER, LIST } kind;

static const struct option {
    uint64_t bit;     /* used in the rows of commands */
    char letter;      /* -x, or 0 */
    const char *name; /* --name */
    kind kind;
    size_t at;
    const char *value, *what;
} options[] = {
#define OPTION(ENUM, LETTER, NAME, KIND, MEMBER, VALUE, WHAT)                                  \
    {OPT(ENUM), LETTER, NAME, KIND, offsetof(args, MEMBER), VALUE, WHAT},
#include "options.def"
#undef OPTION
};

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

/* Numbers of things; each is at least 1. */
static int set_number(args *a, const struct option *o, const char *value, int64_t *to)
{
    static const struct {
        uint64_t bit;
        const char *things;
        int64_t most;
    } numbers[] = {{OPT(BINS), "bins", TN_STATS_MOST_BINS}, {OPT(OUT_RANKS), "ranks", 9999}};
    const char *end;
    int i = 0;
    while (numbers[i].bit != o->bit)
        i++;
    if (whole_number(value, &end, to) && !*end && *to >= 1 && *to <= numbers[i].most)
        return DONE;
    return usage(a, "--%s takes a number of %s, got \"%s\", expected 1 to %lld", o->name,
                 numbers[i].things, value, (long long)numbers[i].most);
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
    else if (o->kind == NUMBER)
        return set_number(a, o, value, (int64_t *)(void *)at);
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
    return o->bit == OPT(JSON) && (c->options & OPT(NAME));
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
