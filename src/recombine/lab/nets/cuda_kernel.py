"""A CUDA kernel compiled while the program runs, by the compiler library that torch brings along (NVRTC)."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

#: Shared memory that a block may have without asking for it.
MODEST_SHARED_BYTES = 48 * 1024
_MORE_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


class CudaKernel:
    """One kernel of a source file, compiled for a device with some macros defined.

    Parameters
    ----------
    source : Path
    name : str
        Of an ``extern "C"`` function.
    macros : mapping of str to int
        What the source is compiled for.
    device : torch.device
    """

    def __init__(self, source: Path, name: str, macros: Mapping[str, int], device: torch.device) -> None:
        self.device = device
        major, minor = torch.cuda.get_device_capability(device)
        options = [f"--gpu-architecture=sm_{major}{minor}", "-std=c++17", *(f"-D{k}={v}" for k, v in macros.items())]
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        with torch.cuda.device(device):
            torch.cuda.current_stream()  # makes sure that there is a context to load the kernel into
            _check(_driver().cuModuleLoadData(ctypes.byref(self._module), _compiled(source, options)))
        _check(_driver().cuModuleGetFunction(ctypes.byref(self._function), self._module, name.encode()))

    def launch(self, blocks: int, threads: int, shared: int, arguments: Sequence[Tensor | ctypes.Structure]) -> None:
        """Start the kernel on the device's present stream; tensors are passed as pointers to their first element."""
        if shared > MODEST_SHARED_BYTES:
            _check(_driver().cuFuncSetAttribute(self._function, _MORE_SHARED, shared))
        values = [ctypes.c_void_p(a.data_ptr()) if isinstance(a, Tensor) else a for a in arguments]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        size = (blocks, 1, 1, threads, 1, 1, shared)
        with torch.cuda.device(self.device):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            _check(_driver().cuLaunchKernel(self._function, *size, stream, pointers, None))


def _compiled(source: Path, options: Sequence[str]) -> bytes:
    """Return machine code; a failure is a defect of ours, told with the compiler's own words."""
    compiler, program = _compiler(), ctypes.c_void_p()
    arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    compiler.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), source.name.encode(), 0, None, None)
    try:
        if compiler.nvrtcCompileProgram(program, len(options), arguments):
            raise RuntimeError(f"{source.name} did not compile:\n{_read(program, 'ProgramLog').decode()}")
        return _read(program, "CUBIN")
    finally:
        compiler.nvrtcDestroyProgram(ctypes.byref(program))


def _read(program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    getattr(_compiler(), f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(_compiler(), f"nvrtcGet{what}")(program, text)
    return text.raw


def _check(status: int) -> None:
    if status:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(status, ctypes.byref(text))
        raise RuntimeError(f"CUDA driver: {(text.value or b'').decode()} ({status})")


@cache
def can_compile() -> bool:
    """Say whether kernels can be compiled here at all.

    Examples
    --------
    >>> can_compile() or not torch.cuda.is_available() or torch.version.hip is not None
    True
    """
    try:
        return torch.cuda.is_available() and torch.version.hip is None and bool(_compiler() and _driver())
    except OSError:
        return False


@cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


@cache
def _compiler() -> Any:
    """Return NVRTC: torch's own library of this name is linked to the one that fits, wherever that lies."""
    linked = Path(torch.__file__).parent / "lib" / "libcaffe2_nvrtc.so"
    return ctypes.CDLL(str(linked))
