"""The child process in which a llama.cpp server runs: `python -m measurand.providers.llamacpp_server`.

It reads its settings as the first line of standard input, writes the address of the server as one line, and ends when
standard input does. So it ends with its parent, however that ends; on Linux the kernel sees to it as well.
A process of its own, because calls into llama.cpp from several threads of one process were seen to deadlock.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from typing import Any, Literal

import msgspec

from measurand.core.record import Record

_PR_SET_PDEATHSIG = 1

Cache = Literal["f16", "q8_0"]


class Settings(Record, frozen=True):
    """What the server is started with. `context` is in tokens, for each slot; `parent` the process to die with.

    `cache` is the type in which keys and values are held.
    """

    parent: int
    path: str
    name: str
    threads: int
    slots: int
    context: int
    cache_prompt: bool = False
    cache: Cache = "f16"


def main() -> None:
    """Serve until standard input ends."""
    settings = msgspec.json.decode(sys.stdin.buffer.readline(), type=Settings)
    _die_with(settings.parent)
    watch = threading.Thread(target=_end_with_input)
    watch.start()
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever llama.cpp prints is log
    try:
        server = _serve(settings)
    except Exception as error:  # noqa: BLE001 (the parent tells the user, from this line and the log)
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        os._exit(1)
    answer.write(f"{server.listening_address}\n")
    answer.flush()
    watch.join()


def _serve(settings: Settings) -> Any:
    """Load the model and listen on a free loopback port."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.verbosity = 2
    params.model.path = settings.path
    params.model_alias = {settings.name}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = params.endpoint_slots = params.cors_credentials = False
    params.cors_origins = "http://127.0.0.1"
    params.n_parallel = settings.slots
    params.n_ctx = settings.context * settings.slots
    params.fit_params = False  # it would shorten the context in silence
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings.threads
    params.cache_prompt = settings.cache_prompt
    if not settings.cache_prompt:
        params.cache_ram_mib = 0
    # With flash attention, replies differ by the number of threads, by the cache, and by what decodes beside them.
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    if settings.cache == "q8_0":  # llama.cpp reads quantised values with flash attention only
        params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_Q8_0
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
    # What a protocol does not restrict is the model's own distribution, and not llama.cpp's taste.
    params.sampling.temp = params.sampling.top_p = 1.0
    params.sampling.top_k = 0
    params.sampling.min_p = 0.0
    return xllamacpp.Server(params)


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent dies, where it can (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before the kernel was told
            os._exit(1)


def _end_with_input() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
