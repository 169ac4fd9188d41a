/* main.c - tenon-mpi: commands of tenon on the ranks of mpirun. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"

int this_rank, all_ranks = 1;

static const char help_text[] =
    "tenon-mpi - tensors in files, on all ranks of mpirun\n"
    "\n"
    "  mpirun -n 4 tenon-mpi permute AXES IN -o OUT      reorder axes\n"
    "  mpirun -n 4 tenon-mpi rearrange PATTERN IN -o OUT move axes by a pattern of names\n"
    "  mpirun -n 4 tenon-mpi slice SUBSCRIPT IN -o OUT   take a part, with Python's "
    "subscripts\n"
    "  mpirun -n 4 tenon-mpi cast DTYPE IN -o OUT        convert elements\n"
    "  mpirun -n 4 tenon-mpi convert IN -o OUT           write another format\n"
    "  mpirun -n 4 tenon-mpi reduce OP IN -a AXES -o OUT sum, mean, max ... over axes\n"
    "  mpirun -n 2 tenon-mpi bench [CASE...]             compare moves with memcpy and MPI\n"
    "  tenon-mpi explain --ranks N --shape N,N permute AXES   what N ranks would do\n"
    "  tenon-mpi help, tenon-mpi version\n"
    "\n"
    "Files: x.npy, x.safetensors, x.safetensors:name; also read: uncompressed .npz\n"
    "and .gguf.  Each rank holds its part of IN and of OUT in memory; what does not fit in\n"
    "--max-mem goes slab by slab through rank 0.\n"
    "\n"
    "Options:\n"
    "  -o, --out OUT        output file: .npy or .safetensors\n"
    "  -f, --force          overwrite an existing file\n"
    "  -a, --axis AXES      reduce: axes to reduce, all by default\n"
    "  --keep               reduce: keep the reduced axes, with extent 1\n"
    "  --params X           reduce: correction of var and std (0), order of norm (2)\n"
    "  --name NAME          name of the tensor in OUT\n"
    "  --max-mem SIZE       memory for elements on each rank: 512M, 2G\n"
    "  --ranks N            explain: number of ranks\n"
    "  --shape N,N          explain: shape of the tensor\n"
    "  --dtype DTYPE        explain: dtype of its elements, f32 by default\n"
    "  --src DIST           explain: distribution of the source, block:0 by default\n"
    "  --dst DIST           explain: distribution of the result, block:0 by default\n"
    "  --alpha TIME         explain: latency of a message, 2us; predicts time with --beta\n"
    "  --beta SIZE          explain: bytes per second per node, 25G\n"
    "  --per-node N         explain: ranks per node, 64 by default\n"
    "  --progress           print progress, line by line\n"
    "  -q, --quiet          do not print progress\n"
    "  --quick              bench: fewer rounds\n"
    "  --json               explain, bench: print JSON\n"
    "\n"
    "A DIST is block:AXIS, even:AXIS, cyclic:AXIS:BLOCK[:FIRST] or copy for each axis of the\n"
    "mesh, joined by commas: block:0x2,cyclic:1:64x4, or block:0,cyclic:1:64@2x4.\n";

/* Print one line of rank 0 to standard error by a single write: mpirun writes there, too. */
static void say(const char *word, char *text)
{
    fflush(stdout);
    for (char *s = text; *s; s++)
        *s = iscntrl((unsigned char)*s) ? '?' : *s;
    if (this_rank == 0)
        fprintf(stderr, "tenon-mpi%s%s: %s\n", word ? " " : "", word ? word : "", text);
}

int fail(const char *fmt, ...)
{
    char text[1024];
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    say(NULL, text);
    return FAILED;
}

/* The commands, with the operands for their usage lines. */
static const struct {
    const char *word, *operands;
    int (*run)(const args *);
    int (*check)(const args *); /* before MPI_Init; NULL: the command does not use MPI */
} commands[] = {
    {"permute", "AXES IN -o OUT", run_data, check_data},
    {"rearrange", "PATTERN [NAME=SIZE...] IN -o OUT", run_data, check_data},
    {"slice", "TEXT IN -o OUT", run_data, check_data},
    {"cast", "DTYPE IN -o OUT", run_data, check_data},
    {"convert", "IN -o OUT", run_data, check_data},
    {"reduce", "OP [-a AXES] IN -o OUT", run_data, check_data},
    {"bench", "[CASE...]", run_bench, check_bench},
    {"explain", "--ranks N --shape N,N [COMMAND]", run_explain, NULL},
};

static int command = -1; /* row of the command, once known */

int usage(const char *fmt, ...)
{
    char text[1024];
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    say(command < 0 ? NULL : commands[command].word, text);
    if (this_rank == 0 && command < 0)
        fputs("tenon-mpi help lists the commands\n", stderr);
    else if (this_rank == 0)
        fprintf(stderr, "usage: tenon-mpi %s %s\n", commands[command].word,
                commands[command].operands);
    return USAGE;
}

const char *sentence(void)
{
    int rank, n = 0;
    return sscanf(tn_error(), "rank %d: %n", &rank, &n) == 1 && n > 0 ? tn_error() + n
                                                                      : tn_error();
}

double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *bytes_text(char buf[32], double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int i = 0;
    while (bytes >= 1023.5 && i < 5) {
        bytes /= 1024;
        i++;
    }
    snprintf(buf, 32, i && bytes < 99.95 ? "%.1f %s" : "%.0f %s", bytes, units[i]);
    return buf;
}

/* Parse "64M" or "2us"; false: invalid. */
static bool parse_size(const char *text, double *out)
{
    char *end;
    double x = strtod(text, &end);
    static const char letters[] = "KMGTP";
    const char *at = *end ? strchr(letters, toupper((unsigned char)*end)) : NULL;
    for (int i = 0; at && i <= at - letters; i++)
        x *= 1000;
    *out = x;
    return end != text && x > 0 && (!*end || (at && !end[1]));
}

static bool parse_time(const char *text, double *out)
{
    char *end;
    double x = strtod(text, &end);
    const double unit = !strcmp(end, "ns")   ? 1e-9
                        : !strcmp(end, "us") ? 1e-6
                        : !strcmp(end, "ms") ? 1e-3
                        : !strcmp(end, "s")  ? 1
                                             : 0;
    *out = x * unit;
    return end != text && *out > 0;
}

static int parse_option(args *a, const char *option, const char *value)
{
    double size = 0;
    const struct {
        const char *name, **text;
    } texts[] = {{"-o", &a->out},         {"--out", &a->out}, {"--shape", &a->shape},
                 {"--dtype", &a->dtype},  {"--src", &a->src}, {"--dst", &a->dst},
                 {"--name", &a->name},    {"-a", &a->axis},   {"--axis", &a->axis},
                 {"--params", &a->params}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(option, texts[i].name)) {
            *texts[i].text = value;
            return DONE;
        }
    if (!strcmp(option, "--alpha"))
        return parse_time(value, &a->alpha)
                   ? DONE
                   : usage("--alpha takes a time such as 2us, got \"%s\"", value);
    if (!parse_size(value, &size))
        return usage("%s takes %s, got \"%s\"", option,
                     !strcmp(option, "--max-mem") || !strcmp(option, "--beta")
                         ? "a size such as 512M"
                         : "a number",
                     value);
    if (!strcmp(option, "--beta"))
        a->beta = size;
    else if (!strcmp(option, "--max-mem"))
        a->max_mem = (int64_t)size;
    else if (!strcmp(option, "--ranks"))
        a->ranks = size <= 2147483647.0 ? (int64_t)size : 0;
    else
        a->per_node = (int64_t)size;
    return DONE;
}

static void choose_command(const char *word)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(word, commands[i].word))
            command = (int)i;
}

static int parse_args(args *a, int argc, char **argv)
{
    static const char *const valued[] = {
        "-a",     "--axis",   "-o",      "--out",  "--shape",   "--dtype", "--src",     "--dst",
        "--name", "--params", "--alpha", "--beta", "--max-mem", "--ranks", "--per-node"};
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"-f", &a->force},
                 {"--force", &a->force},
                 {"--quick", &a->quick},
                 {"--json", &a->json},
                 {"-q", &a->quiet},
                 {"--quiet", &a->quiet},
                 {"--progress", &a->progress},
                 {"--keep", &a->keep}};
    a->per_node = 64;
    for (int i = 1; i < argc; i++) {
        bool taken = false;
        for (size_t k = 0; k < sizeof valued / sizeof *valued && !taken; k++)
            if (!strcmp(argv[i], valued[k])) {
                if (i + 1 == argc)
                    return usage("%s needs a value", argv[i]);
                TRY(parse_option(a, argv[i], argv[i + 1]));
                i++;
                taken = true;
            }
        for (size_t k = 0; k < sizeof flags / sizeof *flags && !taken; k++)
            if (!strcmp(argv[i], flags[k].name))
                taken = *flags[k].flag = true;
        if (taken)
            continue;
        if (argv[i][0] == '-' && argv[i][1] && !isdigit((unsigned char)argv[i][1]))
            return usage("unknown option %s", argv[i]);
        if (!a->word)
            choose_command(a->word = argv[i]);
        else if (a->n < MOST_OPERANDS)
            a->operands[a->n++] = argv[i];
        else
            return usage("too many arguments");
    }
    return DONE;
}

/* All ranks exit with the same code, the highest of any rank. */
static int under_mpi(const args *a, int argc, char **argv)
{
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return fail("MPI cannot be initialised");
    MPI_Comm_rank(MPI_COMM_WORLD, &this_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
    int code = commands[command].run(a), most = code;
    MPI_Allreduce(&code, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return most;
}

int main(int argc, char **argv)
{
    args a = {0};
    /* The launcher's environment has the rank before MPI_Init: only rank 0 prints. */
    const char *rank =
        getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    this_rank = rank ? atoi(rank) : 0;
    TRY(parse_args(&a, argc, argv));
    if (!a.word)
        return usage("missing command");
    if (!strcmp(a.word, "help")) {
        fputs(help_text, stdout);
        return DONE;
    }
    if (!strcmp(a.word, "version")) {
        printf("tenon-mpi %s\n", tn_version());
        return DONE;
    }
    if (command < 0)
        return usage("unknown command \"%s\"", a.word);
    if (!commands[command].check)
        return commands[command].run(&a);
    TRY(commands[command].check(&a));
    return under_mpi(&a, argc, argv);
}
