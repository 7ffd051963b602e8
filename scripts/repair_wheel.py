"""repair_wheel.py OUT WHEEL: auditwheel repair, which takes the libraries of X along as well. auditwheel expects those on
every machine, but a bare one has none, and Debian's cairo does not load without them.
"""

import json
import pathlib
import sys
import tempfile

from auditwheel import policy
from auditwheel.libc import Libc
from auditwheel.main import main

X = {"libX11.so.6", "libXext.so.6", "libXrender.so.1"}


def policies_without_x():
    policies = json.loads(policy._POLICY_JSON_MAP[Libc.GLIBC].read_text())
    for each in policies:
        each["lib_whitelist"] = [library for library in each["lib_whitelist"] if library not in X]
    return json.dumps(policies)


with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "policies.json"
    path.write_text(policies_without_x(), encoding="utf-8")
    policy._POLICY_JSON_MAP[Libc.GLIBC] = path
    sys.argv = ["auditwheel", "repair", "--zip-compression-level", "9", "-w", *sys.argv[1:]]
    sys.exit(main())
