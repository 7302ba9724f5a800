"""`videohv mcp`: an MCP server, so that assistants can ask about videos and get the evidence."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from videohv.app import Desk, Jobs, Places
from videohv.cli.app import AtOnceOption, FoldersArgument, MinutesOption, closing_jobs, given_token
from videohv.cli.console import say
from videohv.cli.lms import DecoderOption, LMOption, ProfileOption, RoleOption, SeedOption, VisionLMOption, choose_lms
from videohv.errors import InputError


def mcp(
    folders: FoldersArgument = None,
    http: Annotated[
        str | None,
        typer.Option(help="Serve over HTTP there, under /mcp, instead of on stdin and stdout.", metavar="HOST:PORT"),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="File with the token for --http, else $VIDEOHV_TOKEN. Sent as Bearer.")
    ] = None,
    at_once: AtOnceOption = 2,
    minutes: MinutesOption = 30.0,
    lm: LMOption = None,
    vision_lm: VisionLMOption = None,
    role: RoleOption = None,
    profile: ProfileOption = None,
    decoder: DecoderOption = "auto",
    seed: SeedOption = 0,
) -> int:
    """Serve videos to assistants by the Model Context Protocol: they list, probe, look, and ask with evidence."""
    from videohv.app.mcp import make_mcp

    with ExitStack() as stack:
        places = Places(folders or [Path.cwd()])
        stack.enter_context(choose_lms(lm, vision_lm, seed, roles=role, profile=profile))
        jobs = stack.enter_context(closing_jobs(Jobs(at_once, minutes * 60)))
        for folder in places.folders:
            say("folder", str(folder))
        server = make_mcp(Desk(places, jobs, decoder=decoder, seed=seed))
        if http is None:
            server.run("stdio")
            return 0
        from videohv.app.guard import Guard
        from videohv.app.serve import LOOPBACK, make_server, open_port

        host, port = address_of(http)
        token = given_token(token_file)
        if host not in LOOPBACK and not token:
            raise InputError(f"--http {http}: others than this machine need a token; give --token-file")
        opened = open_port(host, port)
        stack.callback(opened.close)
        served = Guard(server.streamable_http_app(host=host), token, () if host in LOOPBACK else ("*",))
        shown = f"[{host}]" if ":" in host else host
        say("serving", f"http://{shown}:{opened.getsockname()[1]}/mcp")
        make_server(served, jobs.close).run([opened])
    return 0


def address_of(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`; raises `InputError`."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65_535:
        raise InputError(f"--http {text}: give HOST:PORT, such as 127.0.0.1:8000")
    return host.strip("[]"), int(port)
