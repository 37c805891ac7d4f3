"""Installs the vector functions that SQL calls: sqlite-vec's, or the same in Python where it cannot load."""

import logging
from importlib.util import find_spec
from pathlib import Path

import apsw

logger = logging.getLogger(__name__)


def install(connection: apsw.Connection) -> None:
    """Give the connection `vec_quantize_binary`, `vec_bit` and the distances `vec_distance_*`."""
    try:
        connection.enable_load_extension(True)
        connection.load_extension(_library())
    except (apsw.ExtensionLoadingError, apsw.SQLError) as error:
        from memory_server.sqlite import plain_vectors  # numpy takes 50 ms, and few machines need this

        logger.warning("sqlite-vec cannot load (%s): the same is computed in Python, slower", error)
        plain_vectors.install(connection)
    finally:
        connection.enable_load_extension(False)


def engine(connection: apsw.Connection) -> str:
    """Name the vector functions that are installed, for people."""
    version = connection.execute("SELECT vec_version()").get
    return "Python (sqlite-vec cannot load)" if version == "python" else f"sqlite-vec {version}"


def _library() -> str:
    """Return `sqlite_vec.loadable_path()` without importing that package: it imports numpy, which takes 50 ms."""
    package = find_spec("sqlite_vec")
    if package is None or package.origin is None:
        raise apsw.ExtensionLoadingError("it is not installed")
    return str(Path(package.origin).with_name("vec0"))
