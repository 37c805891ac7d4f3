"""Wires what the server offers besides tools to the services: resources, prompts, completions."""

from memory_server.app import Services
from memory_server.mcp.completions import Completions
from memory_server.mcp.prompts import Prompts
from memory_server.mcp.resources import Resources
from memory_server.mcp.work import Offers


def offers(services: Services) -> Offers:
    """Its resources, prompts and completions."""
    resources = Resources(
        services.resume, services.recent, services.memories, services.facts, services.projects
    )
    prompts = Prompts(resources, services.recall, services.review)
    return Offers(resources, prompts, Completions(services.completing))
