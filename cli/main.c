/* main.c - the command tenon: help, and dispatch to the commands. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static void list_commands(FILE *out)
{
    fprintf(out, "tenon - tensors in files\n\n");
    for (int i = 0; i < command_count; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].what);
    fprintf(out, "\nFiles: x.npy, x.npz:name, x.safetensors:name, x.gguf:name, x.pt:name, a\n"
                 "folder or index.json of shards, - for a pipe of .npy.  See tenon help\n"
                 "COMMAND or man tenon for details.\n");
}

static const char *op_name(int i)
{
    return tn_op_name((tn_op)i);
}

static const char *reduction_name(int i)
{
    return tn_reduction_name((tn_reduction)i);
}

static void list_names(const char *what, const char *(*name_of)(int i))
{
    const char *name;
    int column = 0;
    printf("\n%s:", what);
    for (int i = 0; (name = name_of(i)); i++) {
        int n = (int)strlen(name) + 1;
        if (column == 0 || column + n > 72) {
            printf("\n ");
            column = 1;
        }
        printf(" %s", name);
        column += n;
    }
    printf("\n");
}

static int unknown_command(const char *name)
{
    const char *nearest = nearest_command(name);
    if (name[0] == '-') {
        bool known = options_before(1, (char *[]){(char *)name}) > 0;
        fprintf(stderr, known ? "tenon: missing command" : "tenon: unknown option ");
        print_safe(stderr, known ? "" : name);
        fprintf(stderr, "; see tenon help\n");
        return USAGE;
    }
    fputs("tenon: unknown command \"", stderr);
    print_safe(stderr, name);
    if (nearest)
        fprintf(stderr, "\"; did you mean %s?\n", nearest);
    else
        fprintf(stderr, "\"; see tenon help\n");
    return USAGE;
}

static int help(const char *name)
{
    if (!name) {
        list_commands(stdout);
        return DONE;
    }
    const command *c = find_command(name);
    if (!c)
        return unknown_command(name);
    printf("tenon %s%s%s\n    %s\n%s%s", c->name, *c->line ? " " : "", c->line, c->what,
           *c->more ? "\n" : "", c->more);
    print_options(c);
    if (!strcmp(name, "op"))
        list_names("Ops", op_name);
    if (!strcmp(name, "reduce"))
        list_names("Reductions", reduction_name);
    return DONE;
}

static bool asks_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return true;
    return false;
}

static int count_words(char **words)
{
    int n = 0;
    while (words[n])
        n++;
    return n;
}

/* Options may precede the command: move them after it. */
static char **command_first(int argc, char **argv)
{
    int at = options_before(argc, argv);
    if (at <= 0 || at >= argc)
        return argv;
    char **reordered = malloc((size_t)(argc + 1) * sizeof *reordered);
    if (!reordered)
        return NULL;
    reordered[0] = argv[at];
    int n = 1;
    for (int i = 0; i < at; i++)
        if (strcmp(argv[i], "--") != 0)
            reordered[n++] = argv[i];
    for (int i = at + 1; i < argc; i++)
        reordered[n++] = argv[i];
    reordered[n] = NULL;
    return reordered;
}

static int run_found(const command *c, bool explain, int argc, char **argv)
{
    args a = {.explain = explain, .command = c};
    if (!c->run || (explain && !(c->options & (OPT(OUT) | OPT(BINS)))))
        return usage(&a, explain ? "only commands that make a file can be explained"
                                 : "missing argument: COMMAND");
    a.operands = malloc((size_t)argc * sizeof *a.operands);
    if (!a.operands)
        return fail("out of memory");
    set_error_command(c->name);
    int code = read_args(&a, c, argc - 1, argv + 1);
    if (code == DONE)
        code = c->run(&a);
    free(a.operands);
    return code;
}

static int run_words(bool explain, int argc, char **argv)
{
    const command *c = find_command(argv[0]);
    if (!c)
        return unknown_command(argv[0]);
    if (asks_help(argc - 1, argv + 1))
        return help(c->name);
    return run_found(c, explain, argc, argv);
}

int run_command(int argc, char **argv)
{
    bool explain = !strcmp(argv[0], "explain") && argc > 1 && !asks_help(1, argv + 1);
    if (!explain)
        return run_words(false, argc, argv);
    char **words = command_first(argc - 1, argv + 1);
    if (!words)
        return fail("out of memory");
    int code = run_words(true, count_words(words), words);
    if (words != argv + 1)
        free(words);
    return code;
}

int tenon_main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* a failed write then returns an error, which is reported */
    signal(SIGXFSZ, SIG_IGN);
    char **words = command_first(argc - 1, argv + 1);
    if (argc < 2) {
        list_commands(stderr);
        return USAGE;
    }
    if (!words)
        return fail("out of memory");
    int code;
    const char *first = words[0];
    if (!strcmp(first, "help") || !strcmp(first, "--help") || !strcmp(first, "-h")) {
        code = help(words[1]);
    } else if (!strcmp(first, "version") || !strcmp(first, "--version")) {
        printf("tenon %s (%s)\n", tn_version(), tn_isa());
        code = DONE;
    } else {
        code = run_command(count_words(words), words);
    }
    if (words != argv + 1)
        free(words);
    /* A reader that has closed the pipe, as head does, has all it wanted: no message. */
    if (fflush(stdout) != 0 && code == DONE)
        code = errno == EPIPE ? FAILED : fail("standard output: %s", strerror(errno));
    return code;
}
