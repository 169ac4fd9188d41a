#!/usr/bin/env python3
"""expr_grammar.py PROGRAM - the grammar of expressions beside Python's own parser.

Random texts of the shared subset are parsed by Python; the same tree with every operand in parentheses,
comparisons chained by `and`, must give the same bits.  PROGRAM reads lines "text TAB text" and prints
one that differs.
"""
import ast
import random
import subprocess
import sys

OPS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.BitOr: "|", ast.BitXor: "^",
    ast.BitAnd: "&", ast.LShift: "<<", ast.RShift: ">>", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Eq: "==", ast.NotEq: "!=", ast.And: "and", ast.Or: "or", ast.USub: "-", ast.Invert: "~", ast.Not: "not",
}  # fmt: skip


def closed(node):
    """The tree as a text in which nothing is left to precedence."""
    if isinstance(node, ast.Expression):
        return closed(node.body)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant):
        return repr(node.value)
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Pow):
            return f"(({closed(node.left)}) ** ({closed(node.right)}))"
        return f"(({closed(node.left)}) {OPS[type(node.op)]} ({closed(node.right)}))"
    if isinstance(node, ast.UnaryOp):
        return f"({OPS[type(node.op)]} ({closed(node.operand)}))"
    if isinstance(node, ast.BoolOp):
        text = closed(node.values[0])
        for value in node.values[1:]:
            text = f"(({text}) {OPS[type(node.op)]} ({closed(value)}))"
        return text
    assert isinstance(node, ast.Compare)
    sides = [node.left, *node.comparators]
    tests = [f"(({closed(a)}) {OPS[type(op)]} ({closed(b)}))" for a, op, b in zip(sides, node.ops, sides[1:])]
    text = tests[0]
    for test in tests[1:]:
        text = f"({text} and {test})"
    return text


def draw(rng, depth):
    """A text with few parentheses, so that precedence decides; all of i64."""
    kind = rng.randrange(12) if depth else 0
    if kind < 3:
        return rng.choice(["a", "b", "c", "a", "b", "c", "2", "3", "7"])
    if kind == 3:
        return "(" + draw(rng, depth - 1) + ")"
    if kind == 4:
        return rng.choice(["-", "~"]) + draw(rng, depth - 1)
    if kind == 5:
        return draw(rng, depth - 1) + " ** " + rng.choice(["2", "a", "-b ** 2", "c"])
    op = rng.choice(["+", "-", "*", "//", "%", "|", "^", "&", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "and", "or"])
    left = ("not " if op in ("and", "or") and rng.randrange(3) == 0 else "") + draw(rng, depth - 1)
    return left + f" {op} " + draw(rng, depth - 1)


def main():
    rng, pairs = random.Random(11), []
    while len(pairs) < 20000:
        text = draw(rng, rng.randrange(1, 5))
        try:
            pairs.append((text, closed(ast.parse(text, mode="eval"))))
        except SyntaxError:
            continue
    lines = "".join(f"{a}\t{b}\n" for a, b in pairs)
    done = subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True)
    print(done.stdout, end="")
    sys.exit(done.returncode)


main()
