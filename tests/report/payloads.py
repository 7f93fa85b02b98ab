"""What a hostile model, data set or endpoint could write: each would do something if it were not text."""

PAYLOADS = (
    "<script>document.title='owned';alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><script>alert(2)</script></svg>",
    "<a href='javascript:alert(1)'>click</a>",
    "</style><script>alert(1)</script><style>",
    "</pre></details></main><iframe src='https://example.invalid/frame'></iframe>",
    "<style>@import url('https://example.invalid/a.css');*{display:none}</style>",
    "<meta http-equiv='refresh' content='0;url=https://example.invalid/away'>",
    "<base href='https://example.invalid/'>",
    "<link rel='stylesheet' href='https://example.invalid/b.css'>",
    "<form action='https://example.invalid/f'><input name=q></form>",
    "\"><b style='background:url(https://example.invalid/c.png)'>",
    "' onmouseover='alert(1)' x='",
    "{{ 7 * 7 }}{% raw %}${7*7}",
    "<!--",
    "]]><![CDATA[",
    "&lt;script&gt;&#x3c;script&#x3e;",
    "\x00\x08\x1b[31mred\x1b[0m\x1b]8;;https://example.invalid\x07link\x1b]8;;\x07",
    "safe\u202eevil\u2066hidden\u2069\u200e",
    "\U000e0041\U000e0042\ufeff\u200b",
    "\u2028\u2029\x85\x9b31m",
    "\ud800 lone",
    "[bold red]markup[/bold red] [link=https://example.invalid]x[/link]",
    "| a | b |\n\n# heading\n\n![x](https://example.invalid/d.png) www.example.invalid",
)
POISON = " ".join(PAYLOADS)
