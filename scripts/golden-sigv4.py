"""
Signatures of AWS (Signature Version 4) for requests as OpenSearch gets them: bodies, encoded paths, queries. Written from AWS's
description with hmac alone, and held against the signatures of AWS's own test suite before it writes anything.

    python scripts/golden-sigv4.py > test/golden/opensearch/sigv4.json
"""
import hashlib
import hmac
import json
import sys
from urllib.parse import parse_qsl, quote

KEY, SECRET, REGION, TIME = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "us-east-1", "20150830T123600Z"
HOST = "example.amazonaws.com"


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def mac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature(method: str, target: str, body: str = "", service: str = "es", token: str = "") -> str:
    path, _, query = target.partition("?")
    pairs = sorted((quote(k, safe="-_.~"), quote(v, safe="-_.~")) for k, v in parse_qsl(query, keep_blank_values=True))
    headers = {"host": HOST, "x-amz-date": TIME}
    if token:
        headers["x-amz-security-token"] = token
    names = sorted(headers)
    canonical = "\n".join([
        method,
        quote(path, safe="/-_.~"),  # what is sent is encoded already, and is encoded once more
        "&".join(f"{k}={v}" for k, v in pairs),
        "".join(f"{name}:{headers[name]}\n" for name in names),
        ";".join(names),
        sha(body.encode()),
    ])
    scope = f"{TIME[:8]}/{REGION}/{service}/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", TIME, scope, sha(canonical.encode())])
    key = ("AWS4" + SECRET).encode()
    for part in scope.split("/"):
        key = mac(key, part)
    return mac(key, text).hex()


SUITE = [
    ("GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    ("POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    ("GET", "/?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
]
for method, target, expected in SUITE:
    found = signature(method, target, service="service")
    assert found == expected, f"{method} {target}: {found}, AWS has {expected}"

BULK = '{"index":{"_id":"a"}}\n{"title":"Straße, ünï","vector":{"bread":1.5}}\n'
CASES = [
    ("POST", "/docs/_bulk?filter_path=errors,items.*.status,items.*.error.type", BULK, ""),
    ("POST", "/docs/_search?allow_partial_search_results=false", '{"query":{"match_all":{}}}', ""),
    ("GET", "/_tasks/node-1%2Fx:4711", "", ""),
    ("HEAD", "/%C3%BCn%C3%AF%20docs", "", ""),
    ("PUT", "/a%2Bb%25c", "{}", ""),
    ("GET", "/_cat/plugins?format=json&h=component", "", ""),
    ("GET", "/_cluster/health/docs?wait_for_events=languid&timeout=30s&empty=", "", "token/with+signs=="),
]
json.dump(
    {
        "command": "python scripts/golden-sigv4.py",
        "python": sys.version.split()[0],
        "date": "2026-11-18",
        "cases": [
            {"method": m, "path": p, "body": b, "sessionToken": t, "signature": signature(m, p, b, token=t)}
            for m, p, b, t in CASES
        ],
    },
    sys.stdout,
    indent=2,
    ensure_ascii=False,
)
print()
