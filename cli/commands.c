/* commands.c - the table of commands: a row has a command's options and function
 * (CONTRIBUTING.md, "Add a command"). */
#include <string.h>

#include "cli.h"

/* clang-format off */
const command commands[] = {
    {"info", "FILE...", "list the tensors of files",
     OPT(JSON) | OPT(TENSORS), run_info, .more =
     "FILE is a .npy, .npz, .safetensors, .gguf or .pt; FILE:NAME is one tensor of it.\n"
     "Only headers are read.  align is the largest power of two that divides the\n"
     "offset of the data in the file, up to 4096.\n\n"
     "    tenon info model.safetensors\n"
     "    tenon info --json model.safetensors | jq '.[0].tensors[].name'\n"},
    {"show", "FILE...", "print the elements of tensors",
     OPT(DTYPE) | OPT(TENSORS) | OPT(IMAGE) | OPT(COLOUR) | OPT(FORCE) | OPT(NO_SYNC) |
     OPT(MAX_MEM) | OPT(PROGRESS) | OPT(QUIET), run_show, .more =
     "Long axes are elided.  --image writes one tensor as a PNG: (height, width) in grey or in\n"
     "colours, (height, width, 3) or (3, height, width) as red, green and blue; u8 as it is,\n"
     "other dtypes scaled from the smallest to the largest element.\n\n"
     "    tenon show x.npy\n"
     "    tenon show model.safetensors:layer.bias\n"
     "    tenon show --image w.png --colour viridis model.safetensors:layer.weight\n",
     .dequantises = true},
    {"rearrange", "PATTERN [NAME=SIZE...] IN -o OUT", "move axes by a pattern of names",
     OPT_RESULT, run_rearrange, .more =
     "The pattern is that of einops: (h p) splits or joins axes, ... stands for the\n"
     "axes that are not named, a name only on the right repeats, and -h on the left\n"
     "reverses.  Quote the pattern, or the shell takes > as a redirection.\n\n"
     "    tenon rearrange \"b h w c -> b c h w\" in.npy -o out.npy\n"
     "    tenon rearrange \"b (h p) w -> (b p) h w\" p=2 in.npy -o out.npy\n",
     .text_first = true},
    {"permute", "AXES IN -o OUT", "reorder axes",
     OPT_RESULT, run_view, .more =
     "Axis i of the result is axis AXES[i] of the input, as in NumPy.\n\n"
     "    tenon permute 0,3,1,2 in.npy -o out.npy\n",
     .operands = 1, .make_view = view_permute},
    {"slice", "TEXT IN -o OUT", "take a part, with Python's subscripts",
     OPT_RESULT, run_view, .more =
     "An integer drops its axis, None makes one, ... stands for the other axes.\n\n"
     "    tenon slice \"[0, ::2, 2:8, ..., None]\" in.npy -o out.npy\n",
     .operands = 1, .make_view = view_slice, .text_first = true},
    {"squeeze", "[-a AXES] IN -o OUT", "drop axes of extent 1",
     OPT_RESULT | OPT(AXIS), run_view, .more =
     "Without -a every axis of extent 1 is dropped.\n\n"
     "    tenon squeeze -a 0 in.npy -o out.npy\n",
     .operands = 0, .make_view = view_squeeze},
    {"unsqueeze", "-a AXIS IN -o OUT", "insert an axis of extent 1",
     OPT_RESULT | OPT(AXIS), run_view, .more =
     "AXIS is its index in the result.\n\n"
     "    tenon unsqueeze -a 0 in.npy -o out.npy\n",
     .operands = 0, .make_view = view_unsqueeze},
    {"flip", "-a AXES IN -o OUT", "reverse axes",
     OPT_RESULT | OPT(AXIS), run_view, .more =
     "    tenon flip -a 1,2 in.npy -o out.npy\n",
     .operands = 0, .make_view = view_flip},
    {"roll", "SHIFT -a AXIS IN -o OUT", "shift elements around an axis",
     OPT_RESULT | OPT(AXIS), run_roll, .more =
     "Element i goes to i + SHIFT; elements shifted out at one end enter at\n"
     "the other.\n\n"
     "    tenon roll -3 -a 0 in.npy -o out.npy\n"},
    {"pad", "--before N,... --after N,... IN -o OUT", "grow axes",
     OPT_RESULT | OPT(BEFORE) | OPT(AFTER) | OPT(VALUE) | OPT(MODE), run_pad, .more =
     "One width for each axis, or one for all; --before and --after default to 0.\n"
     "MODE is constant, edge, reflect, symmetric or wrap, as in numpy.pad.\n\n"
     "    tenon pad --before 0,1 --after 0,1 --mode reflect in.npy -o out.npy\n"},
    {"concat", "-a AXIS IN... -o OUT", "join tensors along an axis",
     OPT_RESULT | OPT(AXIS), run_join, .more =
     "    tenon concat -a 0 a.npy b.npy c.npz:w -o out.npy\n"},
    {"stack", "-a AXIS IN... -o OUT", "join tensors along a new axis",
     OPT_RESULT | OPT(AXIS), run_join, .more =
     "    tenon stack -a 0 a.npy b.npy -o out.npy\n",
     .new_axis = true},
    {"cast", "DTYPE IN -o OUT", "convert elements",
     OPT_RESULT, run_cast, .more =
     "Conversions to floats round to nearest, ties to even; floats to integers truncate and\n"
     "saturate, NaN becomes 0; integers to integers keep the low bits.\n\n"
     "    tenon cast bf16 model.safetensors --tensors '*.weight' -o small.safetensors\n"
     "    tenon cast f16 model.gguf -o model.safetensors\n",
     .whole_file = true, .dequantises = true},
    {"op", "NAME A [B [C]] -o OUT", "compute elementwise, with broadcasting",
     OPT_RESULT | OPT(PARAMS), run_op, .more =
     "Operands are files or numbers.  A number takes the dtype of the files; a fraction turns\n"
     "integers of 8 and 16 bits into f32, others into f64.  div of integers gives floats;\n"
     "trunc_divide (as in C) and floor_divide give integers.\n\n"
     "    tenon op add a.npy b.npy -o out.npy\n"
     "    tenon op mul a.npy 0.5 -o out.npy\n"
     "    tenon op leaky_relu --params 0.2 a.npy -o out.npy\n"},
    {"eval", "TEXT NAME=FILE... [-o OUT]", "compute an expression of tensors in one pass",
     (OPT_RESULT & ~OPT(TENSORS)) | OPT(JSON), run_eval, .more =
     "TEXT is an expression as in Python: + - * / // % ** comparisons, and or not, & | ^ ~ << >>,\n"
     "the ops by name, dtypes as casts, and sum prod mean min max any all with axis=.  Each NAME\n"
     "in it is a file, a tensor of a file, or - for a pipe.  The result has the dtype of the\n"
     "expression.  Without -o a result of up to 1000 elements is printed.\n"
     "tenon explain eval prints the plan, with --json as JSON.\n\n"
     "    tenon eval \"(x / 255 - m) / s\" x=u8.npy m=mean.npy s=std.npy -o out.npy\n"
     "    tenon eval \"sqrt(mean((x - y)**2))\" x=a.npy y=model.safetensors:w\n",
     .text_first = true, .prints = true},
    {"einsum", "TEXT IN... [-o OUT]", "multiply tensors, summed over the axes they share",
     (OPT_RESULT & ~(OPT(TENSORS) | OPT(DTYPE))) | OPT(JSON), run_einsum, .more =
     "TEXT names the axes of each input, then those of the result: as in NumPy, a letter\n"
     "each, or as in einops, words separated by spaces.  Up to 8 inputs.  Floats of 16\n"
     "bits are summed in f32, integers wrap.  The bytes of the result depend neither on\n"
     "--max-mem nor on the storage order of the files.  tenon explain einsum shows the tiles\n"
     "of the result, and with --json also the plan of one tile.  Without -o a result of up to\n"
     "1000 elements is printed.\n\n"
     "    tenon einsum \"ij,jk->ik\" a.npy b.npy -o c.npy\n"
     "    tenon einsum \"b q h d, b k h d -> b h q k\" q.npy k.npy -o s.npy\n",
     .text_first = true, .prints = true},
    {"reduce", "OP [-a AXES] IN [-o OUT]", "reduce axes: sum, mean, max, var, norm, ...",
     OPT_RESULT | OPT(AXIS) | OPT(KEEP) | OPT(PARAMS) | OPT(RESULTS), run_reduce, .more =
     "Without -a all axes are reduced; without -o a result of up to 1000 elements is printed.\n"
     "A pattern of einops in place of -a reduces the names that are only on its left.\n"
     "--params is the correction of var and std (0), the order of norm (2).  The digits do not\n"
     "depend on --max-mem, threads or the storage order.\n\n"
     "    tenon reduce mean -a 0,1 in.npy -o out.npy\n"
     "    tenon reduce norm --params 1 in.npy\n"
     "    tenon reduce max \"b (h 2) (w 2) c -> b h w c\" in.npy -o out.npy\n",
     .prints = true},
    {"scan", "OP -a AXIS IN -o OUT", "running sums, products, extremes along an axis",
     OPT_RESULT | OPT(AXIS) | OPT(RESULTS), run_scan, .more =
     "OP is cumsum, cumprod, cummax, cummin or logcumsumexp.\n\n"
     "    tenon scan cumsum -a 0 in.npy -o out.npy\n"},
    {"sort", "-a AXIS IN -o OUT", "sort along an axis",
     OPT_RESULT | OPT(AXIS) | OPT(DESCENDING) | OPT(INDICES), run_sort, .more =
     "Stable; NaN sorts last, with --descending first.  What does not fit into --max-mem, or\n"
     "lies scattered in the file, is sorted with temporary files.\n\n"
     "    tenon sort -a -1 --descending in.npy -o out.npy\n"
     "    tenon sort -a 0 --indices in.npy -o order.npy\n"},
    {"take", "-a AXIS INDEX IN -o OUT", "choose indices of an axis, as an embedding does",
     OPT_RESULT | OPT(AXIS), run_take, .more =
     "INDEX is a file of integers; negative ones count from the end.  Its axes replace AXIS.\n"
     "All of INDEX is read into memory; the rest of --max-mem is for IN and OUT.\n\n"
     "    tenon take -a 0 tokens.npy model.safetensors:wte.weight -o rows.npy\n"},
    {"stats", "FILE...", "min, max, mean, std, zeros, NaN and infinities of tensors",
     OPT(JSON) | OPT(TENSORS) | OPT(DTYPE) | OPT(BINS) | OPT(MAX_MEM) | OPT(PROGRESS) |
     OPT(QUIET),
     run_stats, .more =
     "min, max, mean and std cover the finite elements; - if there are none.  One pass, and a\n"
     "second one for --bins.  The digits do not depend on --max-mem, threads or the storage\n"
     "order.  std is that of the population: sqrt(mean((x - mean)^2)).  For complex tensors\n"
     "only zeros, nan and inf are counted.\n\n"
     "    tenon stats model.safetensors --tensors '*.weight' --bins 40\n"
     "    tenon stats --json x.npy | jq '.[0].tensors[0].mean'\n",
     .dequantises = true},
    {"convert", "IN -o OUT", "write another format",
     OPT_RESULT, run_convert, .more =
     "All tensors go to a .npz, a .safetensors or a .gguf; a .npy takes one.  The key-values\n"
     "of a .gguf come from --kv FILE, else from IN if it is a .gguf.\n\n"
     "    tenon convert model.gguf -o model.safetensors\n"
     "    tenon convert model.safetensors --kv base.gguf -o model.gguf\n"
     "    tenon convert weights.npz:w -o w.npy\n",
     .whole_file = true},
    {"select", "GLOB... IN -o OUT", "keep the tensors whose names match",
     OPT_EDIT, run_select, .more =
     "IN is a file, a folder or the index.json of a sharded model; its tensors keep\n"
     "their order and contents.\n\n"
     "    tenon select 'layers.0.*' model/ -o first.safetensors\n"},
    {"drop", "GLOB... IN -o OUT", "remove the tensors whose names match",
     OPT_EDIT, run_drop, .more =
     "    tenon drop '*.inv_freq' '*_scale' model.safetensors -o clean.safetensors\n"},
    {"rename", "[--rules FILE] [OLD=NEW...] IN -o OUT", "rename tensors",
     OPT_EDIT | OPT(RULES), run_rename, .more =
     "In OLD {x} matches one component of a name, {x...} any text; NEW uses what they matched.\n"
     "The first pair that matches a tensor applies.  --rules reads lines OLD -> NEW, or\n"
     "OLD -> drop; pairs take precedence over them.\n\n"
     "    tenon rename 'model.{x...}={x...}' in.safetensors -o out.safetensors\n"
     "    tenon rename --rules names.txt in.safetensors -o out.safetensors\n"},
    {"merge", "IN... -o OUT", "combine the tensors of several files into one",
     OPT_EDIT, run_merge, .more =
     "Names must be unique.\n\n"
     "    tenon merge model/ -o model.safetensors\n"
     "    tenon merge a.npy b.npz c.safetensors -o all.safetensors\n"},
    {"split", "--shard-size SIZE IN -o OUTDIR", "split a model into files of a given size",
     OPT_EDIT | OPT(SHARD_SIZE), run_split, .more =
     "Creates OUTDIR with model-00001-of-0000N.safetensors and their index.\n\n"
     "    tenon split --shard-size 5G model.safetensors -o model/\n"},
    {"meta", "[--set KEY=VALUE...] [--strip [KEY...]] IN [-o OUT]", "show or change metadata",
     OPT_EDIT | OPT(SET) | OPT(STRIP) | OPT(JSON), run_meta, .more =
     "Prints it, or writes OUT with other metadata and the same tensors.  The key-values of a\n"
     ".gguf have types: --set keeps that of the key, or takes KEY=u32:5; a new KEY=VALUE is a\n"
     "string.  --kv FILE replaces them all: FILE is another .gguf, or JSON as --json prints it.\n\n"
     "    tenon meta model.safetensors\n"
     "    tenon meta --set license=mit --strip author IN -o OUT\n"
     "    tenon meta --set general.name=tiny model.gguf -o named.gguf\n"},
    {"reshard", "RULES IN... -o OUTDIR", "join, cut, rename and cast the tensors of a model",
     (OPT_EDIT & ~OPT(COMPRESS)) | OPT(SHARD_SIZE) | OPT(IN_RANKS) | OPT(OUT_RANKS) |
     OPT(ALSO) | OPT(PROOF) | OPT(VERIFY), run_reshard, .more =
     "RULES is a file of lines LEFT -> RIGHT; the first that matches a tensor applies:\n\n"
     "    {p...}.q.weight + {p...}.k.weight + {p...}.v.weight @0 -> {p...}.qkv.weight\n"
     "    {p...}.experts.{e*}.w1 @+0 -> {p...}.experts.w1\n"
     "    {p...}.gate_up ranks@0/2 -> = ranks@0/2\n"
     "    rope.freqs -> drop\n"
     "    ** -> = : cast bf16\n\n"
     "Everything is planned and proved before anything is written; see man tenon for the grammar.\n\n"
     "    tenon reshard rules.txt rank-*.safetensors --in-ranks --out-ranks 8 -o out\n"},
    {"diff", "A B", "compare the tensors of two files",
     OPT(RULES) | OPT(ATOL) | OPT(RTOL) | OPT(STRUCTURE) | OPT(JSON) | OPT(MAX_MEM) |
     OPT(PROGRESS) | OPT(QUIET),
     run_diff, .more =
     "A and B are files, folders or index.json.  Exit code 0: equal, 1: different, 2: trouble.\n"
     "Without --atol or --rtol equal means equal bits; dtypes that differ are compared as f64.\n"
     "--rules maps names in A to names in B; tensors that it drops may be missing from B.\n"
     "Other tensors with equal bytes are reported as renamed.\n\n"
     "    tenon diff before.safetensors after.safetensors\n"
     "    tenon diff --rtol 1e-2 model.safetensors model-bf16/\n"},
    {"report", "FILE... -o OUT.html", "write an HTML page about the tensors of files",
     OPT(OUT) | OPT(FORCE) | OPT(NO_SYNC) | OPT(TENSORS) | OPT(HASH) | OPT(SAMPLE) | OPT(JSON) |
     OPT(MAX_MEM) | OPT(PROGRESS) | OPT(QUIET), run_report, .more =
     "One self-contained HTML file: a tree of the names with repeated layers folded, search,\n"
     "sort and filters, numbers, histograms, heat maps, and problems first: NaN, Inf, all\n"
     "zero or equal, rows of zeros, beyond f16, shared bytes, layers that differ.  Files are read\n"
     "once; numbers are those of tenon stats.  --json writes the facts, to standard output\n"
     "without -o.\n\n"
     "    tenon report model.safetensors -o report.html\n"
     "    tenon report --json --hash model/ | jq .fingerprint\n",
     .dequantises = true},
    {"explain", "COMMAND ...", "describe what a command would do",
     0, NULL, .more =
     "View or copy, the plan, bytes read and written, memory, predicted time.\n"
     "Nothing is written; -o may be left out.  With --json each tensor is one JSON object on\n"
     "a line: facts of the stream, and the plan of the same work in memory.\n\n"
     "    tenon explain permute 2,0,1 in.npy -o out.npy\n"
     "    tenon explain reduce sum -a 0 in.npy --json | jq .stream.way\n"},
    {"bench", "", "measure this machine and the standard cases",
     OPT(JSON) | OPT(QUICK) | OPT(DISK), run_bench, .more =
     "Every figure is shown with two limits for the same bytes in the same run: memcpy by\n"
     "one thread, a dense copy by all.  ratio is to the better one.  --disk measures work on\n"
     "files larger than memory, and a copy that bypasses the page cache; it needs 6 GB in DIR.\n\n"
     "    tenon bench\n"
     "    tenon bench --disk .\n"
     "    tenon bench --json | jq '.cases[] | select(.ratio < 0.9)'\n"},
    {"tune", "[--check] [-o FILE]", "measure and save tuning parameters for this machine",
     OPT(OUT) | OPT(CHECK) | OPT(QUICK), run_tune, .more =
     "Copies use a few tuning parameters.  They are measured for a second and written to FILE, or\n"
     "where the library looks for them: $TENON_TUNE, or tenon/tune in the configuration folder.\n"
     "They affect speed only, never results.\n\n"
     "    tenon tune\n"
     "    tenon tune --check\n"},
    {"demo", "", "a tour with files of its own",
     0, run_demo, .more =
     "Works in a temporary folder and removes it afterwards.\n"},
    {"help", "[COMMAND]", "this list, or one command",
     0, NULL, .more =
     ""},
    {"version", "", "print the version",
     0, NULL, .more =
     ""},
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

/* Edit distance: letters to insert, remove, replace or swap with a neighbour to turn a into b.
 * Names are short, so the whole table fits the stack. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 24 };
    int d[LONGEST + 1][LONGEST + 1], n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = d[i - 1][j] + 1 < best ? d[i - 1][j] + 1 : best;
            best = d[i][j - 1] + 1 < best ? d[i][j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

const char *nearest_command(const char *name)
{
    const char *nearest = NULL;
    int least = 3; /* up to two edits are a typo */
    for (int i = 0; i < command_count; i++) {
        int n = distance(name, commands[i].name);
        if (n < least && n < (int)strlen(name)) {
            least = n;
            nearest = commands[i].name;
        }
    }
    return nearest;
}
