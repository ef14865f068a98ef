import asyncio
import datetime
import ssl

import httpcore
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from research.engine.ports import FetchFailedError
from research.fetch.fetch import FetchSettings, SafeFetch
from research.fetch.network import CheckedNetwork, system_resolve
from research.fetch.url_policy import AddressRefusedError, AddressRules
from tests.support.in_process import InProcessPool

PUBLIC = "93.184.216.34"


class RecordedNetwork(httpcore.AsyncMockBackend):
    """Connects to nothing, and remembers what it was asked to connect to."""

    def __init__(self):
        super().__init__([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"])
        self.connected = []

    async def connect_tcp(self, host, port, *args, **options):
        self.connected.append((host, port))
        return await super().connect_tcp(host, port, *args, **options)


class RebindingNames:
    """A name server that answers with a public address once, then with this machine."""

    def __init__(self):
        self.asked = 0

    async def __call__(self, host, port):
        self.asked += 1
        return [PUBLIC] if self.asked == 1 else ["127.0.0.1"]


async def test_the_address_that_was_checked_is_the_one_connected_to():
    names, network = RebindingNames(), RecordedNetwork()
    backend = CheckedNetwork(AddressRules(), names, network)
    async with httpcore.AsyncConnectionPool(network_backend=backend) as pool:
        answer = await pool.request("GET", "http://rebinding.example/")
    assert answer.content == b"hi"
    assert network.connected == [(PUBLIC, 80)]
    assert names.asked == 1


async def test_the_second_answer_of_a_rebinding_name_is_checked_too():
    names, network = RebindingNames(), RecordedNetwork()
    backend = CheckedNetwork(AddressRules(), names, network)
    await backend.connect_tcp("rebinding.example", 80)
    with pytest.raises(AddressRefusedError):
        await backend.connect_tcp("rebinding.example", 80)
    assert network.connected == [(PUBLIC, 80)]


async def test_one_closed_address_closes_the_name():
    async def resolve(host, port):
        return [PUBLIC, "10.0.0.7"]

    network = RecordedNetwork()
    with pytest.raises(AddressRefusedError):
        await CheckedNetwork(AddressRules(), resolve, network).connect_tcp("a.example", 80)
    assert network.connected == []


async def test_a_name_server_that_is_silent_costs_the_connects_time():
    async def resolve(host, port):
        await asyncio.sleep(30)

    with pytest.raises(FetchFailedError, match="could not be found"):
        await CheckedNetwork(AddressRules(), resolve).connect_tcp("a.example", 80, 0.05)


async def test_local_sockets_are_closed():
    with pytest.raises(httpcore.UnsupportedProtocol):
        await CheckedNetwork(AddressRules(), system_resolve).connect_unix_socket("/run/a.sock")


async def test_an_address_resolves_to_itself():
    assert await system_resolve("127.0.0.1", 80) == ["127.0.0.1"]
    assert await system_resolve("::1", 80) == ["::1"]


def certificate(folder):
    """A certificate that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "wiki.test")])
    start = datetime.datetime(2020, 1, 1)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(start)
        .not_valid_after(datetime.datetime(2120, 1, 1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("wiki.test")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "pair.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(secret + signed.public_bytes(serialization.Encoding.PEM))
    return path


async def test_the_secure_connection_is_for_the_name_and_must_be_vouched_for(tmp_path):
    asked = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(tmp_path))
    context.sni_callback = lambda connection, name, _: asked.append(name)

    async def resolve(host, port):
        return ["127.0.0.1"]

    async def serve(reader, writer):
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with server:
        place = f"wiki.test:{server.sockets[0].getsockname()[1]}"
        with InProcessPool() as pool:
            settings = FetchSettings(frozenset({place}))
            async with SafeFetch(settings, pool, resolve=resolve) as fetch:
                with pytest.raises(FetchFailedError, match="no connection"):
                    await fetch.fetch(f"https://{place}/")
    assert asked == ["wiki.test"]
