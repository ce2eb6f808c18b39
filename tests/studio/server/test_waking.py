"""Messages queued from many threads while clients come and wait: none breaks off, none is left lying."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from bunraku.studio.server.waking import LoopEvent


def test_an_event_set_outside_wakes_nobody_until_it_is_set_inside() -> None:
    async def run() -> list[str]:
        event, order = LoopEvent(), list[str]()

        async def wait() -> None:
            await event.wait()
            order.append("woken")

        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0)
        outside = threading.Thread(target=event.set)
        outside.start()
        outside.join()
        assert event.is_set()
        for _ in range(3):
            await asyncio.sleep(0)
        assert order == []
        asyncio.get_running_loop().call_soon_threadsafe(event.set)
        await asyncio.wait_for(waiting, 10)
        await asyncio.wait_for(event.wait(), 10)
        return order

    assert asyncio.run(run()) == ["woken"]


def test_an_event_set_in_another_loop_wakes_nobody() -> None:
    """In a notebook the cell that queues a message runs in a loop too, which is not that of those who wait."""

    async def elsewhere(event: LoopEvent) -> None:
        event.set()

    async def run() -> None:
        event = LoopEvent()
        await elsewhere(event)
        event.clear()
        tasks = [asyncio.create_task(event.wait()) for _ in range(2)]
        await asyncio.sleep(0)
        other = threading.Thread(target=lambda: asyncio.run(elsewhere(event)))
        other.start()
        other.join()
        assert event.is_set()
        assert not any(waiting.done() for waiting in event._waiters)
        asyncio.get_running_loop().call_soon_threadsafe(event.set)
        await asyncio.wait_for(asyncio.gather(*tasks), 10)

    asyncio.run(run())


def test_setting_while_others_come_and_go_never_breaks_off() -> None:
    """The stock event fails here: it walks over the waiting ones while the loop adds and takes away."""

    async def run() -> list[BaseException]:
        event, faults, stop = LoopEvent(), list[BaseException](), threading.Event()

        def outside() -> None:
            while not stop.is_set():
                try:
                    event.set()
                except BaseException as fault:
                    faults.append(fault)
                    return

        threads = [threading.Thread(target=outside) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(300):
            event.clear()
            event._value = False
            tasks = [asyncio.create_task(event.wait()) for _ in range(20)]
            await asyncio.sleep(0)
            event.set()
            await asyncio.gather(*tasks)
        stop.set()
        for thread in threads:
            thread.join()
        return faults

    assert asyncio.run(asyncio.wait_for(run(), 60)) == []


def test_the_server_uses_it(ours: Any) -> None:
    buffer = ours.viser._websock_server._broadcast_buffer
    assert isinstance(buffer.message_event, LoopEvent)
    with ours.socket() as client:
        assert ours.press(client)
        [state] = ours.viser._websock_server._client_state_from_id.values()
        assert isinstance(state.message_buffer.message_event, LoopEvent)
