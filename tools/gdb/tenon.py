"""tenon.py - gdb pretty-printers of tensors, nests and plans: source tools/gdb/tenon.py

  print t             a tn_tensor: dtype, shape, strides in elements, the first elements
  print nest          a tni_nest: one line per axis with extent, role and steps
  print *plan         a tn_plan: the text of tn_plan_explain, while the program runs
  tn-print T [N]      up to N elements (default 64) of a tensor in row-major order
"""
import itertools
import struct

import gdb

# name, width and code of struct.unpack ("" : shown in hex), by tn_dtype
DTYPES = [("bool", 1, "?"), ("i8", 1, "b"), ("i16", 2, "h"), ("i32", 4, "i"), ("i64", 8, "q"),
          ("u8", 1, "B"), ("u16", 2, "H"), ("u32", 4, "I"), ("u64", 8, "Q"), ("f8e4m3", 1, ""),
          ("f8e5m2", 1, ""), ("f16", 2, "e"), ("bf16", 2, ""), ("f32", 4, "f"), ("f64", 8, "d"),
          ("c64", 8, "ff"), ("c128", 16, "dd")]
ROLES = ["map", "fold", "pad"]  # tni_role


def numbers(array, n):
    return [int(array[i]) for i in range(n)]


def element(memory, code):
    if not code:
        if len(memory) == 2:  # bf16 is the upper half of an f32
            return "%g" % struct.unpack("<f", b"\0\0" + memory)
        return "0x" + memory[::-1].hex()
    parts = struct.unpack("<" + code, memory)
    if len(parts) == 2:
        return "%g%+gj" % parts
    return "%g" % parts if code in "efd" else str(parts[0])


def elements(t, most):
    """The first elements in row-major order as text, or the reason why they cannot be read."""
    _, width, code = DTYPES[int(t["dtype"]) - 1]
    ndim = int(t["ndim"])
    shape, stride = numbers(t["shape"], ndim), numbers(t["stride"], ndim)
    data, texts = int(t["data"]), []
    if not data:
        return "data is NULL"
    for index in itertools.islice(itertools.product(*map(range, shape)), most + 1):
        if len(texts) == most:
            return ", ".join(texts) + ", ..."
        at = data + sum(i * s for i, s in zip(index, stride))
        try:
            memory = bytes(gdb.selected_inferior().read_memory(at, width))
        except gdb.MemoryError:
            return ", ".join(texts + [f"no memory at {at:#x}"])
        texts.append(element(memory, code))
    return ", ".join(texts)


class Tensor:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        t = self.value
        dtype, ndim = int(t["dtype"]), int(t["ndim"])
        if not 1 <= dtype <= len(DTYPES) or not 0 <= ndim <= 64:
            return f"invalid tensor: dtype {dtype}, ndim {ndim}"
        name, width, _ = DTYPES[dtype - 1]
        strides = ["%g" % (s / width) for s in numbers(t["stride"], ndim)]
        flags = ", read-only" if int(t["flags"]) & 1 else ""
        return "%s (%s), strides (%s)%s: %s" % (
            name, ", ".join(map(str, numbers(t["shape"], ndim))), ", ".join(strides), flags,
            elements(t, 8))


class Nest:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        nest = self.value
        ndim, nop = int(nest["ndim"]), int(nest["nop"])
        if nest["empty"]:
            return "nest without elements"
        lines = [f"nest of {ndim} axes over {nop} operands"]
        for i in range(ndim):
            axis = nest["axis"][i]
            lines.append("  %d x %s, steps %s" % (
                int(axis["n"]), ROLES[int(axis["role"])],
                " ".join(map(str, numbers(axis["step"], nop)))))
        return "\n".join(lines)


class Plan:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        plan = self.value
        if plan.address is None or not gdb.selected_inferior().threads():
            return "a plan of a program that does not run"
        size = 4096
        # The types are spelled out because the library itself may have no debug information.
        buf = int(gdb.parse_and_eval(f"((void *(*)(unsigned long))malloc)({size})"))
        gdb.parse_and_eval("((int (*)(const void *, char *, unsigned long))tn_plan_explain)"
                           f"((const void *){int(plan.address)}, (char *){buf}, {size})")
        text = gdb.Value(buf).cast(gdb.lookup_type("char").pointer()).string()
        gdb.parse_and_eval(f"((void (*)(void *))free)((void *){buf})")
        return text.rstrip("\n")


PRINTERS = {"tn_tensor": Tensor, "tni_nest": Nest, "tn_plan": Plan}


def find(value):
    make = PRINTERS.get(value.type.strip_typedefs().tag or "")
    return make(value) if make else None


class Print(gdb.Command):
    """tn-print T [N]: up to N elements of a tensor (or a pointer to one), row-major."""

    def __init__(self):
        super().__init__("tn-print", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, text, from_tty):
        words = gdb.string_to_argv(text)
        value = gdb.parse_and_eval(words[0])
        if value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
            value = value.dereference()
        print(elements(value, int(words[1]) if len(words) > 1 else 64))


gdb.pretty_printers.append(find)
Print()
