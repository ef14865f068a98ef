from ipaddress import IPv4Address, IPv6Address, ip_address

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.fetch.url_policy import (
    AddressRefusedError,
    AddressRules,
    check_address,
    check_resolved,
    check_url,
    is_server_address,
)

RULES = AddressRules()

PRIVATE_V4 = (
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.254"),
    *("100.100.100.200", "127.0.0.1", "127.255.255.254", "169.254.0.1", "169.254.169.254"),
    *("172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1"),
    *("192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.7"),
    *("203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
    "168.63.129.16",
)
PRIVATE_V6 = (
    *("::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:1::1"),
    *("2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::1", "2002:808:808::1", "3fff::1"),
    *("5f00::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "febf::1", "fec0::1"),
    *("ff02::1", "ff0e::1", "4000::1"),
)
PUBLIC = ("8.8.8.8", "1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450::1")

ODD_SPELLINGS = (
    *("127.1", "127.0.1", "2130706433", "017700000001", "0177.0.0.1", "0x7f.1", "0x7f000001"),
    *("0x7f.0x0.0x0.0x1", "127.0.0.01", "127.000.000.001", "127.0.0.1.", "00.0.0.0", "0", "1"),
    *("4294967295", "127.0.0.256", "256.256.256.256", "999.1.1.1", "1.2.3", "1.2.3.4.5", "0x"),
    *("127.0.0.0x1", "169.254.43518", "2852039166", "0xa9fea9fe", "example.0x7f", "example.1"),
    *(
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:7f00:1]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
    ),
    *("[::1%25lo]", "[fe80::1%25eth0]", "[::1", "::1", "[v1.::1]", "[127.0.0.1]", "[]"),
    *("１２７.０.０.１", "①②⑦.⓪.⓪.①", "127。0。0。1", "１６９.２５４.169.254", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ"),
    *("%31%32%37.0.0.1", "127.0.0.1%00", "loc%61lhost", "127.0.0.1%23.example.com"),
)
INTERNAL_NAMES = (
    *("localhost", "LOCALHOST", "localhost.", "printer", "db", "metadata", "a.local", "A.LOCAL."),
    *("x.internal", "metadata.google.internal", "site.localhost", "router.lan", "nas.home.arpa"),
    *("home.arpa", "a.localdomain", "wiki.corp", "wiki.intranet", "x.onion", "metadata.goog"),
)
INVALID_NAMES = (
    *("", ".", "..", "a..example.com", ".example.com", "-a.example.com", "a-.example.com"),
    *("exa mple.com", "exam\tple.com", "exam\nple.com", "a" * 64 + ".com", "a.b" * 90 + ".com"),
    *("ex<a>mple.com", "exa'mple.com", 'exa"mple.com', "a,b.com", "example.com..", "a*.com"),
    *("xn--a", "xn--a.example.com", "www.xn--a.com", "xn--.com", "xn--" + "a" * 70 + ".com"),
    *("exam\ud800ple.com", "xn--i-7iq.ws"),
    *("xn--\u2603.com\u0000", "exam\u200bple .com", "a\\b.com", "example.com\\@127.0.0.1"),
)
USERS = ("user@", "user:password@", "@", ":@", "example.org@", "example.org%40@", "a@b@")
SCHEMES = (
    *("file", "ftp", "gopher", "data", "javascript", "ws", "dict", "ldap", "unix", "jar", "blob"),
    *("httpx", "view-source", "", "HTTP+UNIX", "about", "mailto", "tftp", "sftp", "smb", "telnet"),
)
ODD_PORTS = (1, 21, 22, 25, 81, 110, 143, 445, 3306, 5432, 6379, 8000, 8081, 9200, 11211, 65535)


def refusal(url: str, rules: AddressRules = RULES) -> str:
    with pytest.raises(AddressRefusedError) as caught:
        check_url(url, rules)
    assert caught.value.status == "refused"
    assert caught.value.permanent
    return caught.value.reason


@pytest.mark.parametrize("address", [*PRIVATE_V4, *PRIVATE_V6])
def test_refuses_addresses_that_are_not_public(address):
    with pytest.raises(AddressRefusedError) as caught:
        check_address(address)
    assert address not in caught.value.reason


@pytest.mark.parametrize("address", PUBLIC)
def test_lets_public_addresses_pass(address):
    check_address(address)


@pytest.mark.parametrize("address", ["", "1", "example.com", "fe80::1%eth0", "0x7f.0.0.1", "::g"])
def test_refuses_what_is_not_an_address_in_its_one_spelling(address):
    with pytest.raises(AddressRefusedError):
        check_address(address)


def test_refuses_a_name_with_one_closed_address_among_open_ones():
    with pytest.raises(AddressRefusedError):
        check_resolved(["93.184.216.34", "2606:4700::1", "10.0.0.1"])


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    "host",
    [
        *PRIVATE_V4,
        *(f"[{ip}]" for ip in PRIVATE_V6),
        *ODD_SPELLINGS,
        *INTERNAL_NAMES,
        *INVALID_NAMES,
    ],
)
def test_refuses_hosts_in_urls(scheme, host):
    assert refusal(f"{scheme}://{host}/path").startswith("refused: ")


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("host", ["example.com", "127.0.0.1", "[::1]"])
def test_refuses_user_info(user, host):
    refusal(f"http://{user}{host}/")


@pytest.mark.requirement("D10")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("rest", ["//example.com/", "example.com", "///etc/passwd"])
def test_refuses_other_schemes(scheme, rest):
    refusal(f"{scheme}:{rest}")


@pytest.mark.parametrize("port", ODD_PORTS)
@pytest.mark.parametrize("host", ["example.com", "8.8.8.8", "[2606:4700::1]"])
def test_refuses_odd_ports(host, port):
    assert refusal(f"https://{host}:{port}/") == "refused: the port is not a usual web port"


@pytest.mark.parametrize("port", ["0", "65536", "99999", "-1", "80a", "８０", "8 0", "0x50", "+80"])
def test_refuses_ports_that_do_not_exist(port):
    refusal(f"http://example.com:{port}/")


@pytest.mark.parametrize("port", [80, 443, 8080, 8443])
def test_lets_the_webs_ports_pass(port):
    assert check_url(f"http://example.com:{port}/", RULES).port == port


def test_ports_can_be_allowed():
    assert check_url("http://example.com:8000/", AddressRules(ports=frozenset({8000}))).port == 8000


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("HTTP://EXAMPLE.com", "http://example.com/"),
        ("https://example.com:443/a?b=c#d", "https://example.com/a?b=c"),
        ("http://example.com.:8080/a b".replace(" ", "%20"), "http://example.com:8080/a%20b"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/ü"),
        ("http://example.com?q=1", "http://example.com/?q=1"),
        ("http://[2606:4700:0:0::1]/", "http://[2606:4700::1]/"),
        (" https://example.com/ ", "https://example.com/"),
    ],
)
def test_rebuilds_urls_in_one_spelling(url, normal):
    assert check_url(url, RULES).url == normal


def test_refuses_overlong_urls():
    refusal("https://example.com/" + "a" * 5_000)


def test_opens_exactly_the_listed_pairs():
    rules = AddressRules(
        frozenset({"127.0.0.1:8123", "localhost:80", "[::1]:9000", "wiki.local:80"})
    )
    for url in (
        *(
            "http://127.0.0.1:8123/",
            "http://localhost/",
            "http://[::1]:9000/",
            "http://wiki.local/",
        ),
        *("http://LOCALHOST:80/x", "http://[0:0:0:0:0:0:0:1]:9000/", "http://localhost./"),
    ):
        check_url(url, rules)
    for url in (
        *("http://127.0.0.1/", "http://127.0.0.1:8124/", "http://localhost:8123/"),
        *(
            "http://[::1]:8123/",
            "http://127.1:8123/",
            "http://127.0.0.2:8123/",
            "https://localhost/",
        ),
        *("http://x@127.0.0.1:8123/", "ftp://127.0.0.1:8123/", "http://a.wiki.local/"),
    ):
        refusal(url, rules)


@settings(deadline=None)
@given(st.ip_addresses(v=4, network="127.0.0.0/8") | st.ip_addresses(v=4, network="10.0.0.0/8"))
def test_no_spelling_of_a_closed_number_passes(address: IPv4Address):
    number = int(address)
    parts = str(address).split(".")
    spellings = (
        *(str(number), hex(number), oct(number).replace("0o", "0"), str(address), f"{address}."),
        *(".".join(hex(int(part)) for part in parts), ".".join(f"0{int(p):o}" for p in parts)),
        *(f"{parts[0]}.{number & 0xFFFFFF}", f"{parts[0]}.{parts[1]}.{number & 0xFFFF}"),
        *(f"[::ffff:{address}]", f"[::{address}]", f"[64:ff9b::{address}]"),
        f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::1]",
    )
    for spelling in spellings:
        refusal(f"http://{spelling}/")


@settings(deadline=None)
@given(st.ip_addresses())
def test_closed_is_at_least_what_python_calls_not_global(address: IPv4Address | IPv6Address):
    try:
        check_address(str(address))
    except AddressRefusedError:
        return
    assert address.is_global
    assert not address.is_multicast


@settings(deadline=None)
@given(
    st.text(alphabet=st.sampled_from("abc.:/@\\#?%[]0127x-_ \tß。１"), max_size=30),
    st.sampled_from(["http://", "https://", "http:", "//", ""]),
)
def test_what_passes_is_read_alike_by_the_client(rest, scheme):
    try:
        target = check_url(scheme + rest, RULES)
    except AddressRefusedError:
        return
    read = httpx.URL(target.url)
    assert read.raw_host.decode() == target.host
    assert (read.port or {"http": 80, "https": 443}[read.scheme]) == target.port
    assert not read.userinfo
    assert check_url(target.url, RULES) == target


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_answered_or_refused(text):
    for url in (text, f"http://{text}", f"http://{text}.com/", f"http://example.com/{text}"):
        try:
            target = check_url(url, RULES)
        except AddressRefusedError:
            continue
        assert target.scheme in ("http", "https")
        assert target.host == target.host.lower()


def test_public_numbers_pass_in_their_one_spelling_only():
    assert check_url("http://8.8.8.8/", RULES).host == str(ip_address("8.8.8.8"))
    for spelling in ("134744072", "0x08080808", "8.8.2056", "010.8.8.8", "8.8.8"):
        refusal(f"http://{spelling}/")


@pytest.mark.parametrize(
    "url",
    [
        *("http://localhost:11434/v1", "https://api.example.com", "http://my_container:80"),
        *("http://[::1]:8080/", "http://192.168.1.2/v1", "http://bücher.example/"),
    ],
)
def test_an_address_of_a_server_may_lead_anywhere(url: str) -> None:
    assert is_server_address(url)


@pytest.mark.parametrize(
    "url",
    [
        *("http://xn--a/v1", "http://[::1/v1", "http://a..b/", "http://host:99999/", "http://"),
        *(f"http://{'a' * 64}.example/", "ftp://localhost/", "localhost:1234", "http://a b/", ""),
    ],
)
def test_an_address_that_no_client_can_read_names_no_server(url: str) -> None:
    assert not is_server_address(url)
