"""Pages with a known body in common site layouts."""

from __future__ import annotations

BODY = tuple(
    f"{subject} was measured {count} times in the harbour, and the result of each measurement "
    f"was written down in volume {count} of the log, which is kept in the town's archive."
    for count, subject in enumerate(
        ("The tide", "The wind", "The salt", "The depth", "The current", "The light"), start=11
    )
)
BOILERPLATE = (
    "Subscribe to our newsletter for weekly offers",
    "All rights reserved by the publisher of this site",
    "We use cookies to improve your experience",
    "Ten places you must visit this summer",
)
HEADING = "Measurements in the harbour"

_P = "".join(f"<p>{sentence}</p>" for sentence in BODY)
_H = f"<h1>{HEADING}</h1>"
_LINKS = "".join(
    f"<li><a href='/{n}'>{text}</a></li>"
    for n, text in enumerate(("Home", "About us", BOILERPLATE[3], "Contact", "Prices"))
)
_COOKIES = f"<div class='cookie-banner'><p>{BOILERPLATE[2]}</p><button>Accept</button></div>"
_FOOT = f"<p>{BOILERPLATE[1]}</p>"
_NEWSLETTER = f"<form class='newsletter'><label>{BOILERPLATE[0]}</label><input></form>"

LAYOUTS: dict[str, str] = {
    "html5": f"<header><a href=/>Site</a></header><nav><ul>{_LINKS}</ul></nav><main>{_H}{_P}</main>"
    f"<aside>{_NEWSLETTER}</aside><footer>{_FOOT}</footer>{_COOKIES}",
    "article with header": f"<nav>{_LINKS}</nav><article><header>{_H}<p class=byline>By A. B.</p>"
    f"</header>{_P}<footer>{_FOOT}</footer></article>",
    "role main": f"<div role=navigation><ul>{_LINKS}</ul></div><div role=main>{_H}{_P}</div>"
    f"<div role=contentinfo>{_FOOT}</div>",
    "sphinx": f"<div class=related><ul>{_LINKS}</ul></div><div class=document><div class="
    f"documentwrapper><div class=bodywrapper><div class=body role=main><section>{_H}{_P}</section>"
    f"</div></div></div><div class=sphinxsidebar><ul>{_LINKS}</ul></div></div><div class=footer>"
    f"{_FOOT}</div>",
    "docbook": f"<div class=navheader><table><tr><td><a href=a>Prev</a></td><td><a href=b>Next</a>"
    f"</td></tr></table></div><div class=sect1>{_H}{_P}</div><div class=navfooter>{_FOOT}</div>",
    "wordpress": f"<div id=page><div id=masthead class=site-header><ul class=menu>{_LINKS}</ul>"
    "</div>"
    f"<div id=content class=site-content><div class=entry-content>{_H}{_P}</div><div class="
    f"'widget-area sidebar' id=secondary><div class=widget>{_NEWSLETTER}</div></div></div>"
    f"<div class=site-footer>{_FOOT}</div></div>",
    "wiki": f"<div id=mw-navigation><ul>{_LINKS}</ul></div><div id=content class=mw-body>{_H}"
    f"<div id=mw-content-text>{_P}</div></div><div id=footer>{_FOOT}</div>",
    "unnamed divs": f"<div><div><ul>{_LINKS}</ul></div><div>{_H}{_P}</div></div><div id=footer>"
    f"{_FOOT}</div>",
    "table layout": f"<table><tr><td colspan=2><ul>{_LINKS}</ul></td></tr><tr><td width=150>"
    f"<a href=1>Home</a><br><a href=2>About us</a><br><a href=3>{BOILERPLATE[3]}</a></td><td>"
    f"{_H}{_P}</td></tr></table>",
    "bare": f"{_H}{_P}",
    "text and breaks": f"<h1>{HEADING}</h1>" + "<br><br>\n".join(BODY),
    "divs for paragraphs": f"<div class=main-content>{_H}"
    + "".join(f"<div>{sentence}</div>" for sentence in BODY)
    + f"</div><div class=related-posts><ul>{_LINKS}</ul></div>",
    "hidden words": f"<main>{_H}{_P}<div hidden>{BOILERPLATE[0]}</div><p style='display: none'>"
    f"{BOILERPLATE[1]}</p><span aria-hidden=true>{BOILERPLATE[2]}</span><p style='font-size:0'>"
    f"{BOILERPLATE[3]}</p><noscript>{BOILERPLATE[0]}</noscript><template>{BOILERPLATE[1]}</template>"
    "</main>",
    "suspect name around all": f"<div class=sidebar id=menu><nav>{_LINKS}</nav><main>{_H}{_P}"
    f"</main></div><footer>{_FOOT}</footer>",
    "a form around all": f"<form action=/><nav>{_LINKS}</nav><div id=main>{_H}{_P}</div><footer>"
    f"{_FOOT}</footer></form>",
    "related in main": f"<main><article>{_H}{_P}</article><section><h2>More</h2><ul>{_LINKS}</ul>"
    "</section></main>",
    "github": f"<div class=js-header-wrapper><header>{_LINKS}</header></div><article class="
    f"markdown-body>{_H}{_P}</article><footer>{_FOOT}</footer>",
    "upper case": f"<NAV><UL>{_LINKS}</UL></NAV><MAIN>{_H}{_P}</MAIN><FOOTER>{_FOOT}</FOOTER>",
    "unclosed": f"<div id=nav><ul>{_LINKS}</ul></div><div id=content>{_H}"
    + "".join(f"<p>{sentence}" for sentence in BODY)
    + f"</div><div id=footer>{_FOOT}</div>",
    "sections": f"<div id=top-nav>{_LINKS}</div>{_H}"
    + "".join(f"<section><h2>{HEADING}</h2><p>{s}</p></section>" for s in BODY)
    + f"<div class=footer>{_FOOT}</div>",
}


def page(layout: str) -> bytes:
    head = f"<!doctype html><html lang=en><head><title>{HEADING} | The Log</title></head>"
    return f"{head}<body>{LAYOUTS[layout]}</body></html>".encode()
