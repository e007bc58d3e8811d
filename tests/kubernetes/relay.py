"""Passes connections on: `relay.py FROM TO [SECONDS]`, FROM and TO each `unix:PATH` or `tcp:ADDRESS:PORT`; FROM may be
`tls:ADDRESS:PORT:FILE`, and the file has a key and a certificate.

The nodes of `kubelets` have networks of their own; a socket in a folder is how they reach a port of this machine. With SECONDS, all
connections are cut as often as that, with what is under way on them, and each time their number is printed.
"""
import asyncio
import contextlib
import os
import ssl
import sys

limit = 1 << 18


async def connect(place):
    sort, rest = place.split(":", 1)
    if sort == "unix":
        return await asyncio.open_unix_connection(rest, limit=limit)
    address, port = rest.rsplit(":", 1)
    return await asyncio.open_connection(address, int(port), limit=limit)


async def pass_on(reader, writer):
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
        else:  # TLS cannot end one direction
            writer.close()


async def cut(connections, seconds):
    while True:
        await asyncio.sleep(seconds)
        print(f"{len(connections)} cut", flush=True)
        for writer in {each for pair in connections for each in pair}:
            writer.transport.abort()


async def main(source, target, seconds=None):
    connections = set()  # the two ends of each

    async def join(reader, writer):
        with contextlib.suppress(OSError):
            far_reader, far_writer = await connect(target)
            connections.add((writer, far_writer))
            try:
                await asyncio.gather(pass_on(reader, far_writer), pass_on(far_reader, writer))
            finally:
                connections.discard((writer, far_writer))
                far_writer.close()
        writer.close()

    sort, rest = source.split(":", 1)
    if sort == "unix":
        with contextlib.suppress(FileNotFoundError):
            os.unlink(rest)
        server = await asyncio.start_unix_server(join, rest, limit=limit)
    elif sort == "tls":
        address, port, file = rest.split(":", 2)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        server = await asyncio.start_server(join, address, int(port), limit=limit, ssl=context)
    else:
        address, port = rest.rsplit(":", 1)
        server = await asyncio.start_server(join, address, int(port), limit=limit)
    cutting = seconds and asyncio.create_task(cut(connections, float(seconds)))  # noqa: F841  # a task that nobody names may vanish
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
