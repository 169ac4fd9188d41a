/* main.c - the command tenon: a table of commands, help, and the way to the one that is asked
 * for.
 *
 * A command is a row of the table. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define CHANGE "ofqPmtdnAN" /* options of every command that makes a file */

/* clang-format off */
const command commands[] = {
    {"info", "FILE...", "list the tensors of files", "j", run_info,
     "FILE is a .npy, .npz, .safetensors or .gguf; FILE:NAME is one tensor of it.\n"
     "Only headers are read.  align is the largest power of two that divides the\n"
     "place of the elements in the file, up to 4096.\n\n"
     "    tenon info model.safetensors\n"
     "    tenon info --json model.safetensors | jq '.[0].tensors[].name'\n", false},
    {"show", "FILE...", "print the elements of tensors", "d", run_show,
     "Long axes are elided.\n\n"
     "    tenon show x.npy\n"
     "    tenon show model.safetensors:layer.bias\n", false},
    {"rearrange", "PATTERN [NAME=SIZE...] IN -o OUT", "move axes by a pattern of names", CHANGE,
     run_rearrange,
     "The pattern is that of einops: (h p) splits or joins axes, ... stands for the\n"
     "axes that are not named, a name only on the right repeats, and -h on the left\n"
     "reverses.  It is the first argument, in quotes: the shell reads > otherwise.\n\n"
     "    tenon rearrange \"b h w c -> b c h w\" in.npy -o out.npy\n"
     "    tenon rearrange \"b (h p) w -> (b p) h w\" p=2 in.npy -o out.npy\n", true},
    {"permute", "AXES IN -o OUT", "reorder axes", CHANGE, run_view,
     "Axis i of the result is axis AXES[i] of the input, as in NumPy.\n\n"
     "    tenon permute 0,3,1,2 in.npy -o out.npy\n", false},
    {"slice", "TEXT IN -o OUT", "take a part, with Python's subscripts", CHANGE, run_view,
     "An integer drops its axis, None makes one, ... stands for what is not named.\n\n"
     "    tenon slice \"[0, ::2, 2:8, ..., None]\" in.npy -o out.npy\n", true},
    {"squeeze", "[-a AXES] IN -o OUT", "drop axes of extent 1", CHANGE "a", run_view,
     "Without -a every axis of extent 1 goes.\n\n"
     "    tenon squeeze -a 0 in.npy -o out.npy\n", false},
    {"unsqueeze", "-a AXIS IN -o OUT", "insert an axis of extent 1", CHANGE "a", run_view,
     "AXIS is its place in the result.\n\n"
     "    tenon unsqueeze -a 0 in.npy -o out.npy\n", false},
    {"flip", "-a AXES IN -o OUT", "reverse axes", CHANGE "a", run_view,
     "    tenon flip -a 1,2 in.npy -o out.npy\n", false},
    {"roll", "SHIFT -a AXIS IN -o OUT", "shift elements around an axis", CHANGE "a", run_roll,
     "Element i goes to i + SHIFT; what leaves at one end comes in at the other.\n\n"
     "    tenon roll -3 -a 0 in.npy -o out.npy\n", false},
    {"pad", "--before N,... --after N,... IN -o OUT", "grow axes", CHANGE "bevM", run_pad,
     "One width for each axis, or one for all; --before and --after default to 0.\n"
     "MODE is constant, edge, reflect, symmetric or wrap, as in numpy.pad.\n\n"
     "    tenon pad --before 0,1 --after 0,1 --mode reflect in.npy -o out.npy\n", false},
    {"concat", "-a AXIS IN... -o OUT", "join tensors along an axis", CHANGE "a", run_join,
     "    tenon concat -a 0 a.npy b.npy c.npz:w -o out.npy\n", false},
    {"stack", "-a AXIS IN... -o OUT", "join tensors along a new axis", CHANGE "a", run_join,
     "    tenon stack -a 0 a.npy b.npy -o out.npy\n", false},
    {"cast", "DTYPE IN -o OUT", "convert elements", CHANGE, run_cast,
     "To floats round to nearest even; floats to integers truncate and saturate,\n"
     "NaN becomes 0; integers to integers keep the low bits.\n\n"
     "    tenon cast bf16 model.safetensors --tensors '*.weight' -o small.safetensors\n", false},
    {"op", "NAME A [B [C]] -o OUT", "compute elementwise, with broadcasting", CHANGE "r", run_op,
     "Operands are files or numbers; a number takes the dtype of the files, or f64 when it\n"
     "has a fraction and they are integers.\n\n"
     "    tenon op add a.npy b.npy -o out.npy\n"
     "    tenon op mul a.npy 0.5 -o out.npy\n"
     "    tenon op leaky_relu --params 0.2 a.npy -o out.npy\n", false},
    {"convert", "IN -o OUT", "write another format", CHANGE, run_convert,
     "All tensors go from .npz, .safetensors or .gguf to .npz or .safetensors; a\n"
     ".npy takes one.\n\n"
     "    tenon convert model.gguf -o model.safetensors\n"
     "    tenon convert weights.npz:w -o w.npy\n", false},
    {"explain", "COMMAND ...", "say what a command would do", "", NULL,
     "View or copy, the plan, bytes read and written, memory, predicted time.\n"
     "Nothing is written; -o may be left out.\n\n"
     "    tenon explain permute 2,0,1 in.npy -o out.npy\n", false},
    {"bench", "", "measure this machine and the standing table", "jsQf", run_bench,
     "Every figure stands beside the limits for as many bytes in the same run: memcpy by\n"
     "one thread, a dense copy by all.  ratio is to the better one.\n\n"
     "    tenon bench\n"
     "    tenon bench --svg bench.svg\n", false},
    {"demo", "", "a tour on files that it makes itself", "", run_demo,
     "Works in a temporary folder and removes it.\n", false},
    {"help", "[COMMAND]", "this list, or one command", "", NULL, "", false},
    {"version", "", "print the version", "", NULL, "", false},
};
/* clang-format on */

const int command_count = COUNT(commands);

const command *find_command(const char *name)
{
    for (int i = 0; i < command_count; i++)
        if (!strcmp(name, commands[i].name))
            return &commands[i];
    return NULL;
}

static void list_commands(FILE *out)
{
    fprintf(out, "tenon - tensors in files\n\n");
    for (int i = 0; i < command_count; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].what);
    fprintf(out,
            "\nFiles: x.npy, x.npz:name, x.safetensors:name, x.gguf:name (read only), - for a\n"
            "pipe of .npy.  tenon help COMMAND says more; so does man tenon.\n");
}

static void list_ops(void)
{
    const char *name;
    int column = 0;
    printf("\nOps:");
    for (int i = 0; (name = tn_op_name((tn_op)i)); i++) {
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

static int help(const char *name)
{
    if (!name) {
        list_commands(stdout);
        return DONE;
    }
    const command *c = find_command(name);
    if (!c) {
        fprintf(stderr, "tenon: no command \"%s\"; tenon help lists them\n", name);
        return USAGE;
    }
    printf("tenon %s%s%s\n    %s\n%s%s", c->name, *c->line ? " " : "", c->line, c->what,
           *c->more ? "\n" : "", c->more);
    print_options(c);
    if (!strcmp(name, "op"))
        list_ops();
    return DONE;
}

static bool asks_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return true;
    return false;
}

int run_command(int argc, char **argv)
{
    bool explain = !strcmp(argv[0], "explain") && argc > 1 && !asks_help(1, argv + 1);
    argc -= explain;
    argv += explain;
    const command *c = find_command(argv[0]);
    if (!c) {
        fprintf(stderr, "tenon: no command \"%s\"; tenon help lists them\n", argv[0]);
        return USAGE;
    }
    if (asks_help(argc - 1, argv + 1))
        return help(c->name);
    args a = {.explain = explain};
    if (!c->run || (explain && !strchr(c->options, 'o'))) {
        a.command = c;
        return usage(&a, explain ? "only commands that make a file can be explained"
                                 : "name the command to explain");
    }
    a.words = malloc((size_t)argc * sizeof *a.words);
    if (!a.words)
        return fail("no memory");
    int code = read_args(&a, c, argc - 1, argv + 1);
    if (code == DONE)
        code = c->run(&a);
    free(a.words);
    return code;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* writes that are refused are failures with a sentence */
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        list_commands(stderr);
        return USAGE;
    }
    const char *first = argv[1];
    int code;
    if (!strcmp(first, "help") || !strcmp(first, "--help") || !strcmp(first, "-h")) {
        code = help(argc > 2 ? argv[2] : NULL);
    } else if (!strcmp(first, "version") || !strcmp(first, "--version")) {
        printf("tenon %s (%s)\n", tn_version(), tn_isa());
        code = DONE;
    } else {
        code = run_command(argc - 1, argv + 1);
    }
    if (fflush(stdout) != 0 && code == DONE)
        code = fail("standard output: the system refused a write");
    return code;
}
