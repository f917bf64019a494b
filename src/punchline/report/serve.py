"""The report on this machine: the same pages, with every picture that lies here."""

from __future__ import annotations

import socket
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from punchline.artifacts.project import Project
from punchline.config.runs import making
from punchline.errors import PunchlineError
from punchline.paths import Paths
from punchline.report.pictures import file_of, held

HOST = "127.0.0.1"
PORT = 8642
ANOTHER = "Name another: --port N; without it a free one is taken"


def path_of(project: Project) -> str:
    """The path of a run's report on the server: Compare reads reports of other runs, which are next to it."""
    return f"/{Path(project.paths.report).relative_to(Paths().results).as_posix()}"


def application(project: Project) -> Starlette:
    """The application that serves a run's report. Raises PunchlineError if there is none."""
    root = Path(project.paths.report)
    if not (root / "index.html").is_file():
        raise PunchlineError("no report", file=root, hint=f"Make it: {making(project.selection.run, 'report')}")
    made = [name for name in project.selection.benchmarks if Path(project.paths.items(name)).is_file()]
    images = {file_of(image): image.path for name in made for image in held(project, name, "all")}

    async def picture(request: Request) -> Response:
        path = images.get(f"pictures/{request.path_params['name']}")
        if path is None or not Path(path).is_file():
            raise HTTPException(404)
        return FileResponse(path)

    prefix, mode = path_of(project), 'punchline.mode("all", true);\n'
    routes = [
        Route("/", lambda _: RedirectResponse(f"{prefix}/index.html")),
        Route(f"{prefix}/pictures/{{name}}", picture),
        Route(f"{prefix}/static/mode.js", lambda _: Response(mode, media_type="text/javascript")),
        Mount("/", StaticFiles(directory=Paths().results, html=True)),
    ]
    # No page of another site reaches this one under a name of its own.
    return Starlette(routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])])


def listen(host: str, port: int | None, hint: str = ANOTHER) -> socket.socket:
    """A socket on the port, or, where none is given and the usual one is taken, on a free one.

    Raises PunchlineError for a port that is in use.
    """
    family, wanted = socket.AF_INET6 if ":" in host else socket.AF_INET, PORT if port is None else port
    try:
        return socket.create_server((host, wanted), family=family, backlog=64)  # refuses no connection from now on
    except (OSError, OverflowError) as error:
        if port is None:
            return listen(host, 0, hint)
        why = str(getattr(error, "strerror", None) or error).partition(" (while attempting")[0]
        raise PunchlineError(f"port {wanted} of {host} cannot be used: {why}", hint=hint) from error


def serve(application: Starlette, listening: socket.socket) -> None:
    """Serve until Ctrl-C."""
    import uvicorn

    uvicorn.Server(uvicorn.Config(application, log_level="warning", access_log=False)).run(sockets=[listening])
