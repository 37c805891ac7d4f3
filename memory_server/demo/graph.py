"""The end of the demo, a small graph: why a decision was taken and what it replaced."""

from pathlib import Path
from typing import Any

from memory_server.demo import file, show
from memory_server.demo.client import Server
from memory_server.demo.log import Entry
from memory_server.demo.stock import Stock, StockError

OLD = Entry(content="The door of the workshop is opened with one PIN code for all.", type="decision")
ERROR = Entry(content="A visitor read the PIN over a shoulder and came back at night.", type="error")
NEW = Entry(content="Everybody gets a key card; the PIN pad at the workshop is gone.", type="decision")
RULE = Entry(
    content="Access belongs to a person, never to a group: only then it can be withdrawn.", type="pattern"
)
EDGES = [(NEW, "solves", ERROR), (NEW, "supersedes", OLD), (NEW, "example_of", RULE), (OLD, "causes", ERROR)]

QUESTION = "With what PIN code is the door of the workshop opened?"
SENTENCES = """
    SELECT substr(subject, 1, 39) AS subject, relation, substr(object, 1, 39) AS object
    FROM readable_edges WHERE relation <> 'related to'
"""


async def connect(server: Server, db: Path) -> list[str]:
    """Connect four memories, then let search, exploring and the stock program tell of it; gives what went wrong."""
    show.heading("A small graph: why a decision was taken, and what it replaced")
    ids = {entry.content: (await server.store(entry))[0]["id"] for entry in (OLD, ERROR, NEW, RULE)}
    await server.all_embedded()
    await _ask(server)
    for source, relation, target in EDGES:
        await server.connect(ids[source.content], relation, ids[target.content])
    show.say()
    show.say(f"{len(EDGES)} calls of graph_connect later:")
    best = await _ask(server)
    explored = await server.explore(ids[NEW.content])
    show.say()
    show.say(f"graph_explore from #{ids[NEW.content]}: {len(explored['nodes'])} memories")
    _tell(explored)
    problems = _view(db)
    if best["id"] != ids[NEW.content]:
        problems.append(f"What superseded a memory did not rank first for: {QUESTION}")
    if len(explored["nodes"]) != len(ids) or len(explored["edges"]) != len(EDGES):
        problems.append("graph_explore did not find the four memories and the edges between them.")
    return problems


async def _ask(server: Server) -> dict[str, Any]:
    """The best answer, shown with what it says about edges."""
    facts, _ = await server.search(QUESTION, None, limit=2)
    show.say()
    show.one_line("Q  ", QUESTION)
    for label, hit in zip(("A  ", "   "), facts["results"], strict=False):
        mark = f", superseded by #{hit['superseded_by']}" if "superseded_by" in hit else ""
        edge = f", because {hit['why']['edge']}" if "edge" in hit["why"] else ""
        show.one_line(label, hit["content"])
        show.say(f"   #{hit['id']}, score {hit['score']:.2f}{mark}{edge}")
    best: dict[str, Any] = facts["results"][0]
    return best


def _tell(explored: dict[str, Any]) -> None:
    """The edges as sentences, under the memory that each begins with."""
    contents = {node["id"]: node["content"] for node in explored["nodes"]}
    for id, content in contents.items():
        leaving = [edge for edge in explored["edges"] if edge["source"] == id]
        if leaving:
            show.one_line(f"#{id} ", content)
        for edge in leaving:
            label = f"     {edge['relation'].replace('_', ' ')} #{edge['target']} "
            show.one_line(label, contents[edge["target"]])


def _view(db: Path) -> list[str]:
    """The same as the stock program shows it."""
    stock = Stock.find(db)
    if stock is None:
        return []
    try:
        file.show_rows(SENTENCES, stock.table(SENTENCES, "40 10 40"))
    except StockError as error:
        return [f"sqlite3: {error}"]
    return []
