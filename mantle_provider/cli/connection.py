"""From a command's options and the environment to an Airflow that lets us in."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mantle_provider.cli.errors import CommandError, RestError
from mantle_provider.cli.rest import REDIRECTS, SERVER_ERRORS, RestClient

if TYPE_CHECKING:
    import argparse

DEFAULT_URL = "http://localhost:8080"

_LOGIN = ("auth", "token")
_TOKEN = re.compile(r"[!-~]+")


def connect(options: argparse.Namespace) -> RestClient:
    """Return a client that has a token, the given one or one for the given user.

    Without token and user it asks for the token that Airflow's simple auth manager gives to
    everybody where all are administrators.

    :raises CommandError: the options do not fit, or Airflow does not let us in.
    """
    client = RestClient(_check_url(_setting(options.url, "AIRFLOW_API_URL") or DEFAULT_URL))
    token = _setting(options.token, "AIRFLOW_API_TOKEN")
    client.token = _check_token(token or _log_in(client, options))
    return client


def _setting(option: str | None, variable: str) -> str:
    """Return an option, or else the environment variable that stands in for it."""
    return os.environ.get(variable, "").strip() if option is None else option


def _check_url(text: str) -> str:
    try:
        url = urlsplit(text)
        is_usable = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or re.search(r"[^!-~]", text):
        raise CommandError('the URL of Airflow must be of the form "https://host:port/path"')
    if "@" in url.netloc:
        raise CommandError("the URL holds a user; give --username and --password instead")
    if url.query or url.fragment:
        raise CommandError('the URL of Airflow must end before any "?" or "#"')
    return text.rstrip("/")


def _check_token(token: str) -> str:
    # What http.client raises for a line break in a header would show the token.
    if not _TOKEN.fullmatch(token):
        raise CommandError("the token holds characters that no token has")
    return token


def _log_in(client: RestClient, options: argparse.Namespace) -> str:
    username = _setting(options.username, "AIRFLOW_API_USERNAME")
    password = _setting(options.password, "AIRFLOW_API_PASSWORD")
    if bool(username) != bool(password):
        raise CommandError("give both --username and --password, or neither")
    try:
        if username:
            login = {"username": username, "password": password}
            answer = client.send("POST", *_LOGIN, body=login)
        else:
            answer = client.get(*_LOGIN)
    except RestError as error:
        if error.status is None or error.status in REDIRECTS:
            raise
        # Airflow's own words are left out: they may repeat what was sent.
        if error.status in SERVER_ERRORS:
            problem = f"answered the login with {error.status}"
        elif username:
            problem = "gives no token for this user name and password"
        else:
            problem = "wants a token; give --token, or --username and --password"
        raise CommandError(f"Airflow at {client.url} {problem}") from error
    token = answer.get("access_token")
    if not isinstance(token, str) or not token:
        raise CommandError(f"Airflow at {client.url} answered the login without a token")
    return token
