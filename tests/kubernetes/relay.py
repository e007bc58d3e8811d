"""Passes connections on: `relay.py FROM TO`, each `unix:PATH` or `tcp:ADDRESS:PORT`; FROM may be `tls:ADDRESS:PORT:FILE`, and the
file has a key and a certificate.

The nodes of `kubelets` have networks of their own; a socket in a folder is how they reach a port of this machine.
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


async def main(source, target):
    async def join(reader, writer):
        with contextlib.suppress(OSError):
            far_reader, far_writer = await connect(target)
            try:
                await asyncio.gather(pass_on(reader, far_writer), pass_on(far_reader, writer))
            finally:
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
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
