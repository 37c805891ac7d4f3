"""The parts before the protocol, each alone: rates, places, sessions, counts."""

from types import SimpleNamespace

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from memory_server.call import deadline
from memory_server.call.deadline import CALL
from memory_server.domain.caller import Person
from memory_server.domain.calls import BOUNDS, CallOutcome, Calls, times_of
from memory_server.domain.token import SIGN, State, Token
from memory_server.errors import Undone
from memory_server.mcp.callers import ARRIVED, seconds_of
from memory_server.mcp.http.callers import IDLE, MOST, HttpCallers, TokenUser
from memory_server.mcp.http.guard import Guard, Traffic
from memory_server.mcp.http.keys import Keys
from memory_server.mcp.http.rates import MOST as BUCKETS
from memory_server.mcp.http.rates import Rates
from memory_server.mcp.slots import Slots
from memory_server.project import NONE, Project, named

pytestmark = pytest.mark.anyio


class Now:
    """Seconds that pass only when a test says so."""

    at = 1000.0

    def __call__(self) -> float:
        return self.at


def test_a_bucket_gives_its_requests_then_one_each_time_it_has_filled_for_one() -> None:
    now = Now()
    rates = Rates(60, now)
    assert [rates.take("a") for _ in range(11)] == [0.0] * 10 + [1.0]
    assert rates.take("b") == 0.0
    now.at += 0.5
    assert rates.take("a") == 0.5
    now.at += 0.5
    assert rates.take("a") == 0.0
    now.at += 3600
    assert [rates.take("a") > 0 for _ in range(11)] == [False] * 10 + [True]


def test_full_buckets_are_forgotten_and_empty_ones_are_not() -> None:
    now = Now()
    rates = Rates(60, now)
    for number in range(BUCKETS - 1):
        rates.take(f"old-{number}")
    now.at += 60
    while not rates.take("busy"):
        pass
    rates.take("new")
    assert rates.take("busy") > 0


async def test_one_person_has_half_of_the_places_and_another_gets_the_rest_at_once() -> None:
    slots, gate, ran = Slots(4), anyio.Event(), []

    async def work(name: str | None) -> None:
        async with slots.place(Person(name) if name else None):
            ran.append(name)
            await gate.wait()

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(work, "greedy")
        await anyio.wait_all_tasks_blocked()
        assert (ran, slots.running, slots.waiting) == (["greedy"] * 2, 2, 8)
        tasks.start_soon(work, "ben")
        tasks.start_soon(work, None)
        await anyio.wait_all_tasks_blocked()
        assert sorted(map(str, ran)) == ["None", "ben", "greedy", "greedy"]
        gate.set()
    assert (slots.running, slots.waiting, len(ran)) == (0, 0, 12)


async def test_the_owner_of_the_file_has_all_places() -> None:
    slots, gate = Slots(4), anyio.Event()

    async def work() -> None:
        async with slots.place(None):
            await gate.wait()

    async with anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(work)
        await anyio.wait_all_tasks_blocked()
        assert (slots.running, slots.waiting) == (4, 2)
        gate.set()


async def test_a_call_that_is_broken_off_while_it_waits_leaves_no_trace() -> None:
    slots = Slots(2)
    async with slots.place(Person("ada")):
        with anyio.move_on_after(0):
            async with slots.place(Person("ada")):
                pass
    assert (slots.running, slots.waiting) == (0, 0)
    async with slots.place(Person("ada")):
        assert slots.running == 1


def request(person: str | None = None, machine: str = "10.0.0.7", **headers: str) -> Request:
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope: dict[str, object] = {"type": "http", "headers": sent, "client": (machine, 1)}
    if person is not None:
        scope["user"] = TokenUser(Person(person), "token-1")
    return Request(scope)


def test_a_session_of_the_protocol_is_one_of_the_file_and_its_id_is_not_kept() -> None:
    callers = HttpCallers()
    one, other = (callers("c", request("ada", mcp_session_id=each)).session for each in ("s1", "s2"))
    assert one != other
    assert one == callers("c", request("ada", mcp_session_id="s1")).session
    assert "s1" not in str(one)


def test_without_an_id_a_session_is_of_one_person_program_and_machine_until_they_pause() -> None:
    now = Now()
    callers = HttpCallers(now)
    first = callers("c", request("ada")).session
    others = [
        callers("c", request("ben")),
        callers("d", request("ada")),
        callers("c", request("ada", "10.0.0.8")),
        callers("c", request("ada", x_forwarded_for="10.0.0.9")),
        callers("c", request("ada", memory_session="2")),
        callers("c", request(None)),
    ]
    assert len({first, *(each.session for each in others)}) == 7
    now.at += IDLE - 1
    assert callers("c", request("ada")).session == first
    now.at += IDLE - 1
    assert callers("c", request("ada")).session == first
    now.at += IDLE
    assert callers("c", request("ada")).session != first


def test_one_person_has_a_bounded_number_of_sessions_and_takes_none_of_another() -> None:
    now = Now()
    callers = HttpCallers(now)
    kept = callers("c", request("ben")).session
    used = callers("c", request("ada")).session
    first = callers("c", request("ada", memory_session="0")).session
    for number in range(1, 3 * MOST):
        callers("c", request("ada", memory_session=str(number)))
        assert callers("c", request("ada")).session == used
    assert callers("c", request("ada", memory_session="0")).session != first
    assert callers("c", request("ben")).session == kept
    assert {name: len(each) for name, each in callers._people.items()} == {"ada": MOST, "ben": 1}
    now.at += IDLE
    callers("c", request("cyn"))
    assert list(callers._people) == ["cyn"]


@pytest.mark.parametrize(
    ("given", "project"),
    [
        ("shop", Project("shop", "shop")),
        (" 商店 ", Project("商店", "商店")),
        ("/srv/no/such/app/", Project("/srv/no/such/app", "app")),
        ("C:\\code\\app", Project("C:\\code\\app", "app")),
        ("~/code/app", Project("app", "app")),
        ("./app", Project("app", "app")),
        ("..", NONE),
        ("~", NONE),
        ("/", NONE),
        ("", NONE),
        ("https://github.com/Acme/App.git", Project("github.com/acme/app", "App")),
    ],
)
def test_a_project_is_named_without_a_look_at_the_disk(given: str, project: Project) -> None:
    assert named(given) == project


def test_calls_are_counted_by_how_long_they_took() -> None:
    calls = sum((Calls.one(CallOutcome.DONE, each) for each in (0.5, 3, 3, 3, 90_000)), Calls())
    assert calls.times[:3] == (1, 0, 3)
    assert calls.times[-1] == 1
    assert calls.quantile(0.5) == pytest.approx(3.5)
    assert calls.quantile(1.0) == BOUNDS[-1]
    assert Calls().quantile(0.5) is None


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0.01, 1), st.floats(0.01, 1))
def test_a_greater_share_takes_no_less_time(times: list[float], one: float, other: float) -> None:
    calls = sum((Calls.one(CallOutcome.DONE, each) for each in times), Calls())
    low, high = sorted((one, other))
    first, second = calls.quantile(low), calls.quantile(high)
    assert first is not None
    assert second is not None
    assert first <= second


@pytest.mark.parametrize("given", [None, [], [1, "x", -3, True], list(range(99)), "text", {}])
def test_what_the_file_has_as_times_is_read_whatever_it_is(given: object) -> None:
    assert len(times_of(given)) == len(BOUNDS) + 1


class OneToken:
    """Knows one token; the database rolls its first look back."""

    looks = 0

    def check(self, token: str) -> Token | None:
        self.looks += 1
        if self.looks == 1:
            raise Undone("the connection broke")
        return Token(1, "ada", token, None, False, False, "2026-01-01T00:00:00.000Z", None, None, None)

    def find(self, token: str) -> tuple[Token, State] | None:
        raise AssertionError(token)

    def are_needed(self) -> bool:
        return True


async def test_a_token_is_looked_up_again_where_the_database_has_rolled_it_back() -> None:
    tokens = OneToken()
    user = await Keys(tokens).find(f"{SIGN}x")
    assert user is not None
    assert (user.person.name, tokens.looks) == ("ada", 2)


async def test_the_check_of_a_token_takes_from_the_time_of_its_call() -> None:
    """A database that is away can let both wait; together they take no longer than a call may."""
    scopes: list[dict[str, object]] = []

    async def find(_: str) -> TokenUser:
        scopes[0][ARRIVED] = scopes[0][ARRIVED] - 7  # type: ignore[operator]
        return TokenUser(Person("ada"), "token-1")

    async def is_open() -> bool:
        return False

    async def app(scope: object, _receive: object, _send: object) -> None:
        scopes.append(scope)  # type: ignore[arg-type]

    headers = [(b"authorization", b"Bearer msrv_x")]
    scopes.append({"type": "http", "method": "GET", "headers": headers})
    await Guard(app, find, is_open, Rates(60, Now()), Traffic())(scopes[0], None, None)  # type: ignore[arg-type]
    context = SimpleNamespace(request=Request(scopes[1]))
    with deadline.within(seconds_of(context)):  # type: ignore[arg-type]
        assert CALL - 8 < deadline.left() <= CALL - 7
    assert seconds_of(SimpleNamespace(request=None)) == CALL  # type: ignore[arg-type]
