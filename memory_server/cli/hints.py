"""Words for a person at a terminal that say how to mend a failure: which command to type."""

from memory_server import errors
from memory_server.cli.terminal import is_chinese, translated
from memory_server.errors import Mend, Problem

_THROUGH_AN_ASSISTANT = "An assistant that is connected to this memory can do that."

WORDS = {
    Mend.FIND_MEMORY: "`memory-server list` and `memory-server search` show the ids.",
    Mend.FIND_TURN: "`memory-server list turns` shows the ids, such as t7.",
    Mend.NAME_MEMORY_FIELDS: "Name at least one field to change.",
    Mend.NAME_LONG_TERM_FIELDS: "Name at least one field to change.",
    Mend.NAME_NEIGHBOURS: "Ask for neighbours by edges, by meaning, or both.",
    Mend.SHOW_EDGES: "`memory-server show {memory}` shows its edges.",
    Mend.END_SUPERSEDING: f"Find the edge that supersedes memory {{memory}}, and end it. {_THROUGH_AN_ASSISTANT}",
    Mend.LIST_FACTS: "`memory-server facts` lists the keys.",
    Mend.SHOW_FACT_HISTORY: "`memory-server show f:{key}` shows what happened to it.",
    Mend.WRITE_AT_VERSION: "To replace this value, write it again at version {version}.",
    Mend.LIST_SHORT_TERM_CONVERSATIONS: "`memory-server list short-term` shows the ids, such as s7.",
    Mend.LIST_LONG_TERM: "`memory-server triggers` shows those of this project and of all projects.",
    Mend.LIST_RULES: "`memory-server rules` lists them.",
    Mend.UPDATE_LONG_TERM: "Change the one that has the name, or choose another name.",
    Mend.LIST_CHANGES: "`memory-server log` shows what happened; what can be undone has a number.",
    Mend.UNDO_TOGETHER: "Name all of them, or a range such as c3..c7.",
    Mend.LIST_PROJECTS: "`memory-server projects` lists them.",
    Mend.LIST_TOKENS: "`memory-server token list` lists them.",
    Mend.USE_ANOTHER_PORT: "Name another port: --http of serve, --port of view.",
    Mend.ADD_TOKEN: "Make one first: memory-server token add NAME --project PROJECT",
    Mend.STORE_BESIDE: "Store it as a memory of its own, or confirm it with `memory-server review`.",
    Mend.SETTLE_DISPUTE: f"Say which of {{old}} and {{new}} is right, or that both are. {_THROUGH_AN_ASSISTANT}",
    Mend.FOLLOW_GROUND: "Change it: `memory-server edit m{id}`; or `memory-server forget m{id}`.",
    Mend.DELETE_DUPLICATE: f"Delete memory {{id}}. {_THROUGH_AN_ASSISTANT}",
    Mend.CLOSE_TASK: f"Delete the fact {{key}}, or write its present state. {_THROUGH_AN_ASSISTANT}",
    Mend.ANSWER_QUESTION: "Store the answer, or forget the question: `memory-server hook unlearn {question}`.",
    Mend.MEND_TRIGGER: f"Change the trigger of {{name}}, or delete it. {_THROUGH_AN_ASSISTANT}",
    Mend.SWITCH_RULE: "`memory-server rules off '{name}'` switches it off.",
    Mend.JOIN_PROJECTS: "To put both together: memory-server projects join FROM INTO.",
    Mend.ALLOW_SECRETS: "To store it anyway, use --allow-secrets.",
    Mend.CHECK_FILE: "Run `memory-server doctor`: it reports what is wrong.",
    Mend.USE_ANOTHER_FILE: "Name another file with --db.",
    Mend.PUT_FILE_BACK: "Move the file back to {path}, or name its new path with --db.",
    Mend.NAME_BACKUP: "Name a file that `memory-server backup` has written.",
    Mend.NAME_FORMAT: "If it has one of these, name it with --from: {formats}.",
    Mend.EXPORT_FIRST: "With the program that wrote it, `memory-server export FILE`; with this one, `import FILE`.",
    Mend.MERGE_FILE: "Take it over with: memory-server merge {path}",
    Mend.IMPORT_FILE: "`memory-server import {path}` takes over what other programs wrote.",
    Mend.FREE_IDS: "Note what that row says, then run in the sqlite3 program: DELETE FROM {table} WHERE id = {id}; "
    "DELETE FROM sqlite_sequence WHERE name = '{table}'",
    Mend.REMOVE_FOREIGN_SQL: "`memory-server doctor --fix` removes it.",
    Mend.RESTORE: "Copy the file away, then restore a backup. Without one, `memory-server rescue FILE` saves what can "
    "still be read.",
    Mend.RESTORE_NEWEST: "Restore the newest backup: memory-server restore {backup} (the damaged file stays beside "
    "it). Of what is newer, `memory-server rescue FILE` saves what can still be read.",
    Mend.USE_SAME_EMBEDDER: "Use the same --embedder as the assistant that chose it.",
    Mend.USE_ANOTHER_EMBEDDER: "With --embedder, name a sentence-transformers folder, a model that has been "
    "downloaded, or another embedder.",
    Mend.NAME_ENDPOINT_MODEL: "To use it, start memory-server with --embedder openai:{model} and, unless the model is "
    "OpenAI's own, with --embedder-url.",
    Mend.CHECK_ENDPOINT: "Check that it runs, that it has the model of --embedder, and the address of --embedder-url: "
    "most end with /v1. `memory-server doctor` shows both, and tries again.",
    Mend.SET_ENDPOINT_KEY: "Set the environment variable MEMORY_SERVER_EMBEDDER_KEY to the key, or OPENAI_API_KEY for "
    "OpenAI's own service.",
    Mend.ENCRYPT_ENDPOINT: "Name an https address with --embedder-url, or take away MEMORY_SERVER_EMBEDDER_KEY.",
    Mend.WAIT_FOR_ENDPOINT: "Wait {seconds} s: then it is asked again. If that goes on, raise its quota or rate limit.",
    Mend.CHECK_RERANKER: "Check --reranker, --reranker-url and --reranker-seconds, the variable "
    "MEMORY_SERVER_RERANKER_KEY, and that it runs. `memory-server doctor` shows both, and tries again.",
    Mend.MEND_DICTIONARY: "Write one word a line, in UTF-8. With --dictionary: WORD, WORD WEIGHT or WORD WEIGHT TAG, "
    "such as 云图 100 nz. With --stop-words: the word alone.",
    Mend.INSTALL_EXTRA: "Install it with: {command}",
    Mend.INSTALL_ENGINE: "Install it with: pip install quickjs-ng. For macOS on Intel it has no wheel: pip compiles it "
    "there, which needs the command line tools of Xcode.",
    Mend.REINSTALL_ENGINE: "Install it again: pip uninstall quickjs-ng, then pip install quickjs-ng.",
    Mend.COPY_AGAIN: "Run `memory-server copy` with the same source and target again: it goes on.",
    Mend.EMPTY_TARGET: "Name a new file, or the address of an empty tenant.",
    Mend.MEND_SOURCE: "Change that row in the source, then copy again.",
    Mend.UPGRADE: "Upgrade memory-server (pipx upgrade memory-server), then try again.",
    Mend.TRY_AGAIN: "Then run the command again.",
    Mend.LOOK_FIRST: "Check whether it is stored before you write it again.",
    Mend.IMPORT_AGAIN: "Then run the same command again: it adds only what is missing.",
}


def told(*problems: Problem) -> str | None:
    """Return the problems and what mends them, in the language of the person; None where there are none."""
    if not is_chinese():
        return errors.told(problems, WORDS)
    mends = [
        translated(WORDS[hint.mend]).format_map(hint.arguments)
        for problem in problems
        for hint in problem.hints
    ]
    text = "；".join(map(_in_chinese, problems))
    stop = "" if not text or text.endswith(("。", "？", "！", "：")) else "。"
    return "".join([text, stop, *dict.fromkeys(mends)]) or None


def _in_chinese(problem: Problem) -> str:
    return "".join(map(translated, [problem.text, *problem.left]))
