"""The nginx of docs/http.md before the server: TLS ends there. Runs where nginx and openssl are installed."""

import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.conftest import PATIENCE, ROOT, Servers, call, until
from tests.http.conftest import Http, Start, token
from tests.http.test_watching import lines

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not (shutil.which("nginx") and shutil.which("openssl")), reason="nginx and openssl are not installed"
    ),
]

NAME = "memory.example.com"

SLOW = "if ([...messages].some(m => m.content === 'hello')) for (;;); false"


@dataclass(frozen=True)
class Proxy:
    http: Http
    port: int
    certificate: Path

    def url(self, path: str) -> str:
        return f"https://127.0.0.1:{self.port}{path}"

    def client(self, **headers: str) -> httpx2.AsyncClient:
        """A client that names the server as the certificate does, and reaches it on this machine."""
        sent = {"Host": f"{NAME}:{self.port}", **headers}
        return httpx2.AsyncClient(headers=sent, timeout=60, verify=self._trusted())

    def get(self, path: str, **headers: str) -> httpx2.Response:
        sent = {"Host": f"{NAME}:{self.port}", **headers}
        return httpx2.get(self.url(path), headers=sent, verify=self._trusted())

    def post(self, path: str, **more: object) -> httpx2.Response:
        return httpx2.post(self.url(path), verify=self._trusted(), **more)  # type: ignore[arg-type]

    def _trusted(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.certificate))
        context.check_hostname = False  # it is reached by its address
        return context


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def below_a_path() -> str:
    """The server block with what the page has for a path of a host."""
    page = (ROOT / "docs/http.md").read_text(encoding="utf-8")
    found = re.search(r"```text picture\n# nginx, in the server block.*?\n(.*?)```", page, re.DOTALL)
    assert found
    return f"server {{ listen 443 ssl; server_name {NAME};\n{found[1]}}}"


def documented() -> str:
    """The server block of the page."""
    page = (ROOT / "docs/http.md").read_text(encoding="utf-8")
    found = re.search(r"```text picture\n# nginx\n(.*?)```", page, re.DOTALL)
    assert found
    return found[1]


@contextmanager
def proxied(http: Http, folder: Path, block: str, health: str = "/health") -> Iterator[Proxy]:
    key, certificate, port = folder / "key.pem", folder / "cert.pem", free_port()
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}"]
    subprocess.run(
        [*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True, timeout=60
    )
    block = block.replace("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;")
    block = block.replace("127.0.0.1:8765", f"127.0.0.1:{http.port}")
    places = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log info; events {{}}\n"
        f"http {{ access_log off; {places} ssl_certificate {certificate}; ssl_certificate_key {key};\n{block}\n}}\n"
    )
    command = ["nginx", "-p", str(folder), "-e", str(folder / "nginx.log"), "-c", str(folder / "nginx.conf")]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        proxy = Proxy(http, port, certificate)

        def answers() -> bool:
            try:
                return proxy.get(health).status_code == 404
            except httpx2.TransportError:
                return False

        until(answers, "nginx answers")
        yield proxy
    finally:
        process.terminate()
        process.wait(timeout=60)


@pytest.fixture
def proxy(server: Servers, start: Start, tmp_path: Path) -> Iterator[Proxy]:
    with ExitStack() as stack:
        audit = tmp_path / "audit.log"
        token(server, "first")
        http = stack.enter_context(start("--http-hosts", NAME, "--audit", str(audit)))
        yield stack.enter_context(proxied(http, tmp_path, documented()))


async def test_calls_streams_and_a_call_that_takes_long_pass_the_proxy(proxy: Proxy, era: str) -> None:
    given = token(proxy.http.servers, "ada")
    heard: list[str] = []
    async with (
        proxy.client(Authorization=f"Bearer {given}") as sent,
        Client(
            streamable_http_client(proxy.url("/mcp"), http_client=sent), mode=era, read_timeout_seconds=60
        ) as client,
    ):
        stored = await call(client, "memory_store", content="The harbour opens at noon", type="learning")
        found = await call(client, "memory_search", query="harbour")
        assert [each["id"] for each in found["results"]] == [stored["id"]]
        large = {"content": "x" * 3_000_000, "type": "learning"}
        assert (
            await client.call_tool("memory_store", large)
        ).is_error  # it arrives, and is too long for a memory
        await call(client, "add_long_term_memory", name="slow", prompt="p", trigger=SLOW)
        said = [{"role": "user", "content": "hello", "timestamp": "2026-01-05T10:00:00Z"}]
        slow = await call(client, "search_long_term_memories", messages=said)
        assert [each["name"] for each in slow["errors"]] == ["slow"]
        if era != "legacy":
            with anyio.fail_after(PATIENCE):
                async with client.listen(resource_subscriptions=["memory://recent"]) as events:
                    await call(client, "memory_store", content="The ferry leaves at one", type="decision")
                    async for event in events:
                        heard.append(type(event).__name__)
                        break
            assert heard == ["ResourceUpdated"]


def test_the_proxy_keeps_what_is_for_the_machine_alone(proxy: Proxy) -> None:
    assert [proxy.get(path).status_code for path in ("/metrics", "/health")] == [404, 404]
    assert proxy.get("/mcp", Host="evil.example").status_code == 421
    assert httpx2.get(proxy.http.base("/metrics")).status_code == 200


def test_nobody_passes_for_another_address(proxy: Proxy, tmp_path: Path) -> None:
    token(proxy.http.servers, "ada")
    claimed = {"X-Forwarded-For": "127.0.0.99", "Forwarded": "for=127.0.0.99"}
    wrong = {"Authorization": "Bearer msrv_wrong", "Host": NAME}
    assert proxy.post("/mcp", headers={**wrong, **claimed}, json={}).status_code == 401
    assert httpx2.get(proxy.http.base("/metrics"), headers=claimed).status_code == 401
    (line,) = lines(tmp_path / "audit.log")
    assert (line["address"], line["forwarded_for"]) == ("127.0.0.1", "127.0.0.1")


def test_people_sign_in_at_the_pages_through_the_proxy(proxy: Proxy) -> None:
    given = token(proxy.http.servers, "ada")
    for name in (NAME, f"{NAME}:{proxy.port}"):
        headers = {"Host": name, "Origin": f"https://{name}"}
        entered = proxy.post("/enter", headers=headers, data={"token": given})
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        assert "Secure" in entered.headers["set-cookie"]


def test_the_pages_are_below_a_path_of_the_host(server: Servers, start: Start, tmp_path: Path) -> None:
    given = token(server, "ada")
    with (
        start("--http-hosts", NAME, "--http-prefix", "/memory") as http,
        proxied(http, tmp_path, below_a_path(), "/memory/health") as proxy,
    ):
        name = f"{NAME}:{proxy.port}"
        headers = {"Host": name, "Origin": f"https://{name}"}
        entered = proxy.post("/memory/enter", headers=headers, data={"token": given})
        assert (entered.status_code, entered.headers["location"]) == (303, "/memory/")
        cookie = entered.headers["set-cookie"]
        assert "Path=/memory;" in cookie
        page = proxy.get("/memory/", Cookie=cookie.partition(";")[0])
        assert (page.status_code, 'href="/memory/static/style.css"' in page.text) == (200, True)
        assert proxy.get("/memory/static/style.css").status_code == 200
        assert proxy.get("/timeline").status_code == 404
        assert [proxy.get(f"/memory{path}").status_code for path in ("/metrics", "/health")] == [404, 404]
