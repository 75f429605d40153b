"""Connections to the page's program: no more than so many at once, and none that waits for its client for ever."""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from recombine.words.page import OUT_OF_FILES

#: Connections that are open at once, those that are taken before the oldest give way to them, and those that queue.
MAX_CONNECTIONS, BATCH_SIZE, QUEUE_SIZE = 64, 16, 1024
#: How long a connection may wait for a whole request, or for its answer to be read.
MAX_WAITING_SECONDS = 5.0


class TimedConnection(H11Protocol):
    """A connection that is closed if its client keeps it waiting too long, or the longest while others come.

    Only who has the link's secrets can keep it from waiting: all else is refused at once. So strangers can fill the
    places, but the owner's next connection takes that of the oldest of theirs.
    """

    _since = 0.0
    _clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a place, if need be that of the connection that waits longest."""
        super().connection_made(transport)
        self._watch()
        if len(self.connections) > MAX_CONNECTIONS:
            waiting = [each for each in self.connections if isinstance(each, TimedConnection) and each._waits()]
            min(waiting, key=lambda each: each._since)._drop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        super().connection_lost(exc)
        self._stop()

    def handle_events(self) -> None:
        """Stop the clock if a request has come whole."""
        super().handle_events()
        self._watch()

    def on_response_complete(self) -> None:
        """Start the clock for the next request."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Start the clock: the answer is not read."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """Stop the clock, the answer is read."""
        super().resume_writing()
        self._watch()

    def _waits(self) -> bool:
        return self.cycle is None or self.cycle.response_complete or self.flow.write_paused

    def _watch(self) -> None:
        """Let the clock run while the client is waited for; what it sends in bits does not set it back."""
        if not self._waits() or self.transport.is_closing():
            self._stop()
        elif self._clock is None:
            self._since = self.loop.time()
            self._clock = self.loop.call_later(MAX_WAITING_SECONDS, self._drop)

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _drop(self) -> None:
        self.connections.discard(self)
        self.transport.abort()


class QueueServer(uvicorn.Server):
    """A server that takes few connections in one go, of a long queue: whoever finds that full tries a second later."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Lengthen the queue, which asyncio makes as long as what it takes in one go."""
        await super().startup(sockets)
        for listener in sockets or []:
            listener.listen(QUEUE_SIZE)


class OneComplaint:
    """Say in one line that no more files can be opened, however often it happens; asyncio would fill the screen."""

    def __init__(self) -> None:
        self._silent = False

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Tell of what went wrong in the loop."""
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in (errno.EMFILE, errno.ENFILE):
            loop.default_exception_handler(context)
        elif not self._silent:
            self._silent = True
            print(OUT_OF_FILES, file=sys.stderr, flush=True)
