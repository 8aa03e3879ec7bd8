"""Does the gate let a request pass only with the right host, origin, key and route?"""

from __future__ import annotations

import pytest

from workbook.live.gate import PREFIX, QUOTES, key_in, refusal

HERE = {"Host": "127.0.0.1:8000", "Origin": "http://127.0.0.1:8000", "Authorization": "token right"}
ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
KERNEL = f"{PREFIX}/api/kernels/{ID}"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"{PREFIX}/api/kernels"),
        ("POST", f"{KERNEL}/interrupt"),
        ("GET", KERNEL),
        ("GET", f"{KERNEL}/channels"),
        ("DELETE", KERNEL),
        ("GET", f"{QUOTES}/core/keys.py:3"),
        ("GET", f"{QUOTES}/operators/derivatives.yaml"),
    ],
)
def test_what_a_page_needs_passes(method: str, path: str) -> None:
    assert refusal("right", method, path, HERE) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"Host": "evil.example:8000", "Origin": "http://evil.example:8000"},  # a name that was bound to this machine
        {"Host": "evil.example:8000"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:9000"},  # another server of this machine
        {"Origin": "https://127.0.0.1:8000"},
        {"Origin": "null"},  # a page from disk, or in a closed frame
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Authorization": "token wrong"},
        {"Authorization": "token RIGHT"},
        {"Authorization": "token righ"},
        {"Authorization": "token righter"},
        {"Authorization": "token "},
        {"Authorization": ""},
        {"Authorization": "token right\u00e9"},
        {"Authorization": "", "Cookie": "token=right"},
        {"Authorization": "", "Sec-WebSocket-Protocol": "page, key.wrong"},
    ],
)
def test_each_check_refuses_by_itself(changed: dict[str, str]) -> None:
    answer = refusal("right", "POST", f"{PREFIX}/api/kernels", HERE | changed)
    assert answer is not None
    assert answer[0] == 403


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"{PREFIX}/api/kernels"),
        ("PUT", f"{PREFIX}/api/kernels"),
        ("GET", f"{PREFIX}/api/contents"),
        ("POST", f"{PREFIX}/api/terminals"),
        ("GET", f"{PREFIX}/api/kernels/../contents"),
        ("GET", f"{KERNEL}/channels/more"),
        ("POST", f"{KERNEL}/restart"),
        ("GET", f"{PREFIX}/login"),
        ("OPTIONS", KERNEL),
        ("POST", f"{QUOTES}/core/keys.py"),
        ("GET", QUOTES),
        ("GET", f"{QUOTES}/../keys.py"),
        ("GET", f"{QUOTES}/core/../../keys.py"),
        ("GET", f"{QUOTES}//etc/passwd.py"),
        ("GET", f"{QUOTES}/core/keys.py:x"),
        ("", ""),
    ],
)
def test_nothing_else_of_jupyter_is_reached(method: str, path: str) -> None:
    answer = refusal("right", method, path, HERE)
    assert answer is not None
    assert answer[0] == 404


def test_the_key_is_found_in_its_two_places_only() -> None:
    assert key_in({"Authorization": "Token a-b_c"}) == "a-b_c"
    assert key_in({"Sec-WebSocket-Protocol": "page, key.a-b_c"}) == "a-b_c"
    assert key_in({"Cookie": "key=a", "X-Key": "a"}) == ""
