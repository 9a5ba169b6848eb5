"""A page as its readers see it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.tools.html.readable import MOST_TOKENS, Readable, readable


def test_headings_lists_tables_and_links_are_told() -> None:
    page = """<!doctype html><html><head><title>Fish &amp; chips</title>
    <script>if (a < b) { "</p>" }</script><link rel=x></head><body>
    <h1>Menu <em>today</em></h1><p>Cod   or\nhaddock,<br>fried.<p>See <a href="/more?a=b">more</a>.
    <ul><li>Salt<li><a href="https://example.com/v">Vinegar</a></ul>
    <table><tr><th>Fish<th>Price<tr><td>Cod</td><td>9</td></tr></table>
    <pre>  a\n    b</pre><hr>Bye"""

    assert readable(page, base="https://example.org/x/").text == (
        "# Fish & chips\n\n# Menu today\n\nCod or haddock,\nfried.\n\n"
        "See more (https://example.org/more?a=b).\n\n"
        "- Salt\n\n- Vinegar (https://example.com/v)\n\nFish | Price\n\nCod | 9\n\n"
        "  a\n    b\n\n---\nBye"
    )


HIDDEN = [
    "<p hidden>{}</p>",
    "<p HIDDEN=''>{}</p>",
    "<div aria-hidden=true>{}</div>",
    "<div aria-hidden='TRUE'><b>{}</b></div>",
    "<p style='display:none'>{}</p>",
    "<p style='DISPLAY : NONE !important'>{}</p>",
    "<p style='color:red;display:/**/none'>{}</p>",
    "<p style='display:n\\6f ne'>{}</p>",
    "<p style='display&#58;none'>{}</p>",
    "<p style=display:none>{}</p>",
    "<p style='visibility:hidden'>{}</p>",
    "<p style='opacity:0'>{}</p>",
    "<p style='opacity: 0.01'>{}</p>",
    "<p style='opacity:.0'>{}</p>",
    "<p style='font-size:0'>{}</p>",
    "<p style='font-size:0px'>{}</p>",
    "<p style='font-size:1px'>{}</p>",
    "<p style='font-size:0em'>{}</p>",
    "<p style='position:absolute;left:-9999px'>{}</p>",
    "<p style='position:fixed;top:-1000em'>{}</p>",
    "<p style='text-indent:-9999px'>{}</p>",
    "<p style='margin-left:-5000px'>{}</p>",
    "<p style='transform:translate(-9999px, 0)'>{}</p>",
    "<p style='transform:translateX(-9999px)'>{}</p>",
    "<p style='transform:scale(0)'>{}</p>",
    "<p style='clip:rect(0,0,0,0)'>{}</p>",
    "<p style='clip: rect(1px, 1px, 1px, 1px)'>{}</p>",
    "<p style='clip-path:inset(50%)'>{}</p>",
    "<p style='width:1px;height:1px;overflow:hidden'>{}</p>",
    "<p style='max-height:0;overflow:hidden'>{}</p>",
    "<p style='color:#fff;background:#fff'>{}</p>",
    "<p style='color:white;background-color:white'>{}</p>",
    "<p style='color:transparent'>{}</p>",
    "<style>.gone{{display:none}}</style><p class='a gone'>{}</p>",
    "<p class=gone>{}</p><style>p.gone, b {{ visibility: hidden }}</style>",
    "<style>@media screen {{ #gone {{ font-size: 0 }} }}</style><i id=gone>{}</i>",
    "<div hidden><span>x</div></span></b><div hidden>{}",
    "<ul><li hidden>{}<li>seen</ul>",
    "<p hidden>{}<div>seen</div>",
]
DROPPED = [
    "<!-- {} -->",
    "<!--{}--!>",
    "<!-- > {} -->",
    "<script>{}</script>",
    "<SCRIPT>'<b>{}</b>'</SCRIPT >",
    "<style>{}</style>",
    "<noscript>{}</noscript>",
    "<template><p>{}</p></template>",
    "<iframe>{}</iframe>",
    "<svg><text>{}</text></svg>",
    "<dialog>{}</dialog>",
    "<img alt='{}'><input value='{}'>",
    "<p title='{}' data-x=\"{}\">seen</p>",
    "<meta name=description content='{}'>",
    "<!{}><?{}?></ {}>",
    "<a b='> {}",
]


@pytest.mark.parametrize("page", HIDDEN)
def test_what_nobody_sees_is_left_out_and_that_is_said(page: str) -> None:
    found = readable("before " + page.format("secret") + "</p></i></ul></div>\n after")
    assert "secret" not in found.text
    assert found.hidden


@pytest.mark.parametrize("page", DROPPED)
def test_what_is_no_text_of_the_page_is_left_out(page: str) -> None:
    found = readable("before " + page.replace("{}", "secret"))
    assert found.text.startswith("before")
    assert "secret" not in found.text
    assert not found.hidden


@pytest.mark.parametrize(
    "page",
    [
        "<p style='display:block'>{}",
        "<p style='opacity:0.9'>{}",
        "<p style='font-size:12px'>{}",
        "<p style='left:-3px'>{}",
        "<p style='color:#fff'>{}",
        "<p aria-hidden=false>{}",
        "<style>@media print{{p{{display:none}}}}</style><p>{}",
        "<style>@media (max-width:9px){{p{{display:none}}}}</style><p>{}",
        "<style>body{{opacity:0}}</style><body>{}",
        "<style>.a .b{{display:none}}</style><p class=b>{}",
        "<style>/* p{{display:none}} */</style><p>{}",
        "<p hidden>x</p>{}",
        "<div hidden><p>x</div>{}",
        "a < b and {}",
        "<dialog open>{}</dialog>",
        "<textarea><b>{}</textarea>",
        "<!-->{}",
        "</p>{}",
        "<p hidden/>x<p>{}",
    ],
)
def test_what_is_seen_stays(page: str) -> None:
    assert "told" in readable(page.format("told")).text


def test_characters_that_nobody_sees_are_left_out() -> None:
    page = "pass\u200bword\u00ad \u202eevil\u202c \U000e0069\U000e0067 क्\u200dष"
    assert readable(page).text == "password evil क्\u200dष"


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "data:text/html,x", "#top", "//[", "http://a/" + "x" * 600]
)
def test_a_link_that_leads_nowhere_useful_is_only_its_text(href: str) -> None:
    assert readable(f'<a href="{href}">text</a>', base="https://example.com/").text == "text"


def test_a_link_without_text_is_nothing() -> None:
    assert readable("a<a href=/x><img></a>b", base="https://example.com/").text == "ab"


def test_a_page_with_more_tags_than_anybody_has_time_for_is_cut() -> None:
    assert readable("<b>" * MOST_TOKENS) == Readable("", hidden=False, cut=False)
    assert readable("<b>" * MOST_TOKENS + "x") == Readable("", hidden=False, cut=True)


@given(st.text(alphabet="<>/!-ab ='\"&;#p{}\n", max_size=200))
def test_no_page_breaks_the_reader(page: str) -> None:
    assert isinstance(readable(page, base="https://example.com/").text, str)


@pytest.mark.parametrize(
    "unit",
    ["<div>", "<p>", '<a b="', "<a b='", "<!--", "&", "<", "<style>", "<a a= ", "{", "<b id=x><p>"],
)
def test_a_long_page_of_anything_is_read_in_one_pass(unit: str) -> None:
    """What takes longer than its length would take minutes here, and be ended."""
    assert readable(unit * 20_000).cut in {True, False}
    assert readable("<style>" + unit * 20_000 + "</style>").cut is False


def test_a_tag_with_endless_attributes_is_one_tag() -> None:
    attributes = " ".join(f"a{number}" for number in range(50_000))
    assert readable(f"<div {attributes} hidden>x</div>y") == Readable("y", hidden=True)


@pytest.mark.parametrize("reference", ["&#" + "9" * 5_000, "&#x" + "f" * 5_000 + ";"])
def test_a_sign_with_an_endless_number_is_no_trouble(reference: str) -> None:
    assert "tea" in readable(f"<p>tea {reference} &#169;</p>", base="https://a.example/").text
