"""A loopback endpoint in a thread of the test: it answers each prompt the same way every time, and counts."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Endpoint:
    def __init__(self, answer: Callable[[str], str], delay: float) -> None:
        self.received: Counter[str] = Counter()
        self.answer, self.delay = answer, delay
        self.url = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                prompt = json.loads(await reader.readexactly(length))["messages"][-1]["content"]
                self.received[prompt] += 1
                await asyncio.sleep(self.delay)
                body = json.dumps(
                    {
                        "model": "m",
                        "choices": [{"message": {"content": self.answer(prompt)}, "finish_reason": "stop"}],
                        "usage": {"prompt_tokens": 5, "completion_tokens": 1},
                    }
                ).encode()
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
                )
                writer.write(body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@contextmanager
def endpoint(answer: Callable[[str], str], delay: float = 0.0) -> Iterator[Endpoint]:
    served = Endpoint(answer, delay)
    loop, ready, done = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def serve() -> None:
        server = await asyncio.start_server(served.handle, "127.0.0.1", 0)
        served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        ready.set()
        await done.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0.01)

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait()
    try:
        yield served
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
        loop.close()
