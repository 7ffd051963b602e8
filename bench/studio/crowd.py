#!/usr/bin/env python3
"""How long a light question takes while 50 clients ask heavy ones, do not read, or send slowly; and how long the server
takes to end. `python3 bench/studio/crowd.py QKV` prints a line for each; the page of docs/studio.md says what is wanted.
"""
import json
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

CLIENTS = 50


def started(command):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return process, urlsplit(process.stdout.readline().strip())


def request(address, name, fields):
    body = json.dumps(fields).encode()
    head = (f"POST {address.path}ask/{name} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n")
    return head.encode() + body


def connected(address):
    return socket.create_connection((address.hostname, address.port))


def asked(address, name, fields):
    begin = time.monotonic()
    with connected(address) as client:
        client.sendall(request(address, name, fields))
        size = 0
        while part := client.recv(1 << 16):
            size += len(part)
    return 1000 * (time.monotonic() - begin), size


def light(address, what):
    questions = [("about", {}), ("bench", {}), ("heads", {"model": "induction", "text": "ab"})]
    times = [asked(address, *questions[n % len(questions)])[0] for n in range(30)]
    print(f"{what:<36} median {statistics.median(times):6.0f} ms, longest {max(times):6.0f} ms", flush=True)


def main():
    command = [sys.argv[1], "view", "--no-open"]
    process, address = started(command)
    light(address, "nobody else")

    text = "the cat sat on the mat and looked at the moon. " * 300
    crowds = {
        "50 ask for walks": ("far_walk", lambda n: {"tokens": 65536, "seed": n}),
        "50 ask gpt to read 3,300 words": ("far_open", lambda n: {"model": "gpt", "text": f"{n} {text}"}),
        "50 ask for analyses": ("analyze", lambda n: {"model": "gpt", "count": 100 + n, "importance": 8}),
    }
    for what, (name, fields) in crowds.items():
        clients = []
        for n in range(CLIENTS):
            clients.append(connected(address))
            clients[-1].sendall(request(address, name, fields(n)))
        time.sleep(1)
        light(address, what)
        for client in clients:
            client.close()

    clients = []
    for _ in range(CLIENTS):
        clients.append(connected(address))
        clients[-1].sendall(request(address, "head", {"model": "gpt", "text": text[:2000]}))
    time.sleep(1)
    light(address, "50 do not read")
    for client in clients:
        client.close()

    clients = []
    for _ in range(CLIENTS):
        clients.append(connected(address))
        clients[-1].sendall(request(address, "bench", {"tokens": "a b c " * 100})[:-20])
    time.sleep(0.5)
    light(address, "50 send half a question")

    for n in range(CLIENTS):
        threading.Thread(target=asked, args=(address, "far_open", {"model": "gpt", "text": f"{n} {text}"}),
                         daemon=True).start()
    time.sleep(2)
    begin = time.monotonic()
    process.send_signal(signal.SIGTERM)
    code = process.wait()
    print(f"{'SIGTERM while 50 are answered':<36} ended in {time.monotonic() - begin:.2f} s with {code}")


main()
