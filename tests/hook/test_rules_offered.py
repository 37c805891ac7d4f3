"""A rule that the user states plainly is offered, once it is not there yet."""

import pytest

from tests.conftest import Servers, call
from tests.hook.conftest import Hooks

pytestmark = [pytest.mark.anyio, pytest.mark.both_stores]

STATED = "Fine. From now on never push to main. Then go on."


async def test_a_rule_that_the_user_states_is_offered_until_it_is_there(
    server: Servers, hooks: Hooks
) -> None:
    async with server(cwd=hooks.project) as client:
        await call(client, "memory_stats")
        said = hooks("UserPromptSubmit", prompt=STATED).out
        assert "memory-server rules add 'From now on never push to main.'" in said
        assert "rules add" not in hooks("UserPromptSubmit", prompt="Do we ever push to main?").out
        rule = {"effect": "deny", "holds": ["git push origin main"], "passes": ["git push origin x"]}
        trigger = "runs(act, 'git push main')"
        name = "From now on never push to main"
        await call(client, "add_long_term_memory", name=name, prompt="No.", trigger=trigger, rule=rule)
        assert "rules add" not in hooks("UserPromptSubmit", prompt=STATED).out


async def test_a_reminder_that_could_be_a_rule_says_so(server: Servers, hooks: Hooks) -> None:
    async with server(cwd=hooks.project) as client:
        reminded = await call(
            client, "remind", text="never push to main", when="when we talk about a release"
        )
        assert "memory-server rules add 'never push to main'" in reminded["rule"]
        other = await call(client, "remind", text="Ask for the date", when="when we talk about a release")
        assert "rule" not in other
