"""Kernels for GPUs get exactly the arguments they take, at every launch and where one calls another; without a GPU."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import measures

#: What a launch may give beside the arguments of its kernel.
OPTIONS = {"num_warps", "num_stages", "num_ctas", "maxnreg"}


def kernels(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Functions of a module that triton compiles, by name."""
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {node.name: node for node in functions if "triton.jit" in map(ast.unparse, node.decorator_list)}


def calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call, bool]]:
    """Yield name, call, and whether it is a launch, ``kernel[grid](...)``, for every call of a kernel of a module."""
    names = kernels(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            launch = isinstance(node.func, ast.Subscript)
            target = node.func.value if isinstance(node.func, ast.Subscript) else node.func
            if isinstance(target, ast.Name) and target.id in names:
                yield target.id, node, launch


def launched(tree: ast.Module) -> set[str]:
    return {name for name, _, launch in calls(tree) if launch}


def faults(tree: ast.Module) -> list[str]:
    """Calls that cannot be right; what stands behind ``*`` and ``**`` is not counted."""
    wrong = []
    for name, call, launch in calls(tree):
        arguments = kernels(tree)[name].args
        taken = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        optional = taken[len(taken) - len(arguments.defaults) :] if arguments.defaults else []
        named = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
        count = sum(not isinstance(argument, ast.Starred) for argument in call.args)
        is_open = count < len(call.args) or any(keyword.arg is None for keyword in call.keywords)
        for strange in sorted(named - set(taken) - (OPTIONS if launch else set())):
            wrong.append(f"line {call.lineno}: {name} takes no {strange}")
        if count > len(set(taken) - named):
            wrong.append(f"line {call.lineno}: {name} is given more than it takes")
        for missing in taken[count:]:
            if not is_open and missing not in named | set(optional):
                wrong.append(f"line {call.lineno}: {name} is not given {missing}")
    return wrong


WITH_KERNELS = [
    name
    for name, path in sorted(measures.modules().items())
    if "triton.jit" in path.read_text(encoding="utf-8") and kernels(measures.tree(name))
]


@pytest.mark.parametrize("module", WITH_KERNELS)
def test_calls_give_what_kernels_take(module: str) -> None:
    tree = measures.tree(module)
    assert launched(tree)
    assert faults(tree) == []


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("kernel[4, 2](a, b, TILE_ROWS=8)", ["takes no TILE_ROWS", "is not given ROWS"]),
        ("kernel[4, 2](a, b)", ["is not given ROWS"]),
        ("kernel[4, 2](a, *b, TILE_ROWS=8)", ["takes no TILE_ROWS"]),
        ("kernel[4, 2](a, b, 8, ROWS=8)", ["more than it takes"]),
        ("kernel(a, b, 8, num_warps=4)", ["takes no num_warps"]),
        ("kernel[4, 2](a, b, ROWS=8, num_warps=4)", []),
        ("kernel[4, 2](*a, **b)", []),
    ],
)
def test_wrong_calls_are_seen(call: str, words: list[str]) -> None:
    tree = ast.parse(f"@triton.jit\ndef kernel(a, b, ROWS: tl.constexpr): ...\n\n{call}\n")
    assert len(faults(tree)) == len(words)
    assert all(word in fault for word, fault in zip(words, faults(tree), strict=True))


class Unlaunched:
    """Stands for a kernel: binds what a launch gives to the kernel's arguments, and computes nothing."""

    def __init__(self, kernel: Any) -> None:
        self.signature, self.launches = inspect.signature(kernel.fn), 0

    def __getitem__(self, grid: tuple[int, ...]) -> Any:
        assert all(size >= 1 for size in grid)
        return self.launch

    def launch(self, *given: Any, **named: Any) -> None:
        self.signature.bind(*given, **{name: value for name, value in named.items() if name not in OPTIONS})
        self.launches += 1


def _use_kernels(name: str, module: Any) -> None:
    """Call what a module offers, and find the slopes: shapes as on a GPU, numbers that nobody wrote."""
    import torch

    def drawn(*shape: int) -> Any:
        return torch.ones(shape, requires_grad=True)

    if name == "optimiser_kernels":
        block = torch.ones(2, 5)
        module.adam(block, block, [block, block], torch.ones(2), torch.ones(2), (0.9, 0.99), 1e-8, (0.1, True))
    elif name == "convolution_kernels":
        torch.cat([each.ravel() for each in module.rectified_convolution(
            drawn(2, 3, 9, 12, 16), drawn(2, 32, 16, 5, 5), drawn(2, 32)
        )]).sum().backward()  # fmt: skip
    elif name == "pooling_kernels":
        module.normalised_pool(drawn(2, 3, 7, 8, 16), drawn(2, 16), drawn(2, 16), 2).sum().backward()
    elif name == "residual_kernels":
        module.normalised_convolution(
            drawn(2, 3, 8, 8, 16), drawn(2, 16, 16, 3, 3), drawn(2, 16), drawn(2, 16), drawn(2, 3, 8, 8, 16)
        )[0].sum().backward()
    elif name == "upsampling_kernels":
        module.enlarged(drawn(2, 3, 16, 32, 16), drawn(2, 32, 32, 2, 2), drawn(2, 32)).sum().backward()
    elif name == "composition_kernels":
        rows = torch.zeros(2, 3, dtype=torch.int64)
        module.composed_error(torch.ones(2, 2, 3, 3, 8, 8), torch.ones(1, 4, 192), torch.arange(2), rows, "soft")
    else:
        raise AssertionError(f"call here what {name} offers, so that its launches are seen")


@pytest.mark.parametrize("module", WITH_KERNELS)
def test_launches_bind_with_everything_unpacked(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read off the source does not say what stands behind ``*`` and ``**``; binding it does."""
    pytest.importorskip("triton")
    loaded: dict[str, Unlaunched] = {}
    for name in WITH_KERNELS:
        for kernel in launched(measures.tree(name)):
            stands_for = Unlaunched(getattr(importlib.import_module(name), kernel))
            monkeypatch.setattr(f"{name}.{kernel}", stands_for)
            if name == module:
                loaded[kernel] = stands_for
    _use_kernels(module.rpartition(".")[2], importlib.import_module(module))
    assert [kernel for kernel, stands_for in loaded.items() if not stands_for.launches] == []
