"""Shows the database file in the stock `sqlite3` program while the server has it open, and edits a row there."""

from pathlib import Path
from typing import Any

from memory_server.demo import show
from memory_server.demo.client import Server
from memory_server.demo.log import Entry
from memory_server.demo.stock import Stock, StockError

NOTE = Entry(
    content="The demo has worked through its log from the first line to the last.", type="observation"
)
EDITED = "The spare key for the office hangs behind the blue teapot in the kitchen."
QUESTIONS = ["Where is the spare key?", "备用钥匙放在哪里？"]
"""The first is found by its words, the second by its meaning alone."""

MEMORIES = """
    SELECT id, type, project, found, substr(content, 1, 40) AS content
    FROM readable_memories ORDER BY found DESC, id LIMIT 5
"""
HISTORY = "SELECT memory_id, reason, earlier, now FROM readable_history LIMIT 3"
EDGES = "SELECT id, relation, substr(subject, 1, 28) AS subject, substr(object, 1, 28) AS object FROM readable_edges"
EMBEDDINGS = "SELECT provider, model, dimensions, state, embedded, waiting FROM readable_embeddings"


async def look_into(server: Server, db: Path, edited: int) -> list[str]:
    """Show the readable views, then edit the memory `edited`; gives what went wrong."""
    show.heading("The file, in the stock sqlite3 program, while the server has it open")
    stock = Stock.find(db)
    if stock is None:
        show.say("The program `sqlite3` is not installed here, so this step is left out.")
        return []
    await server.store(NOTE, related_to=edited)
    await server.all_embedded()
    try:
        show.paragraph(
            f"sqlite3 {stock.version()} opens {db}. One memory was stored with relatedTo, for an edge to show."
        )
        show_rows(MEMORIES, stock.table(MEMORIES, "4 11 8 5 40"))
        show_rows(HISTORY, stock.lines(HISTORY))
        show_rows(EDGES, stock.table(EDGES, "4 11 28 28"))
        show_rows(EMBEDDINGS, stock.table(EMBEDDINGS, "9 28 10 8 8 7"))
        return await _edit(server, stock, edited)
    except StockError as error:
        return [f"sqlite3: {error}"]


async def _edit(server: Server, stock: Stock, id: int) -> list[str]:
    """Let the stock program rewrite a memory, and the server find the new text by words and by meaning."""
    show.heading("A row edited there is found by the server")
    update, check = f"UPDATE memories SET content = '{EDITED}' WHERE id = {id}", "PRAGMA integrity_check"
    show_rows(update, stock.run(update).splitlines())
    problems = [problem for question in QUESTIONS for problem in await _find_edited(server, question)]
    result = stock.run(check).strip()
    show_rows(check, [result])
    return problems if result == "ok" else [*problems, f"integrity_check: {result}"]


async def _find_edited(server: Server, question: str) -> list[str]:
    facts, took = await server.search(question, None)
    contents = [result["content"] for result in facts["results"]]
    show.say()
    show.one_line("Q  ", question)
    if EDITED not in contents:
        if question != QUESTIONS[0] and _words_only(facts):
            show.say("A  not found, because there is no embedder here that knows meanings")
            return []
        return [f"The text edited with sqlite3 was not found by: {question}"]
    rank = contents.index(EDITED)
    show.one_line("A  ", EDITED)
    show.say(f"   score {facts['results'][rank]['score']:.2f}, number {rank + 1}; {took:.0f} ms")
    return []


def _words_only(facts: dict[str, Any]) -> bool:
    return "degraded" in facts or facts["embedder"].endswith("(lexical)")


def show_rows(sql: str, rows: list[str]) -> None:
    """The statement as one would type it, then what the program printed."""
    show.say()
    show.paragraph(" ".join(sql.split()) + ";", "sqlite> ", "   ...> ")
    for row in rows:
        show.say(show.cut_row(row, show.columns() - len(show.INDENT)).rstrip())
