"""The one table of what `match_keys` and `match_keys_all` give, for Python and for JavaScript.

Data only, all of it representable in JSON. A vector holds `name`, `messages`, `keys` (a text, or a pattern as
`{"regex": source, "flags": flags}`; or one text instead of a list), optionally `scope` and `depth`, and the values:
`count` of `match_keys`, `all` of `match_keys_all`.

* Order: the last `depth` messages, then those of the scope, then the keys.
* Depth: undefined, null and NaN are 4; else cut to a whole number; 0 and Infinity are all, below 0 is 1.
* Scope: undefined and null are "any"; an unknown one is an error. Roles and scopes are compared to the letter.
  `assistant` and `char` are the same, as role and as scope; `other` is neither user nor assistant nor char, so it
  takes in system.
* Count: each distinct key once a message. Texts that fold to the same are one key, and so are patterns of the same
  source and flags.
* Folding of text keys and texts: NFKC, then lower case (of whole texts: a final sigma is one), then traditional to
  simplified; curly apostrophes become straight, rows of spaces and tabs one space. White space (that of `trim`)
  around a folded key is cut; a blank key is found nowhere.
* Words: letters, numbers, `_` and the marks that follow them, not of Han, kana, hangul, Thai, Lao, Tibetan, Burmese,
  Khmer (`keys.UNSPACED`). With W that class without marks and M the marks, both folded texts and folded keys become
  `text.replace(/W(?:W|M)*/gu, "\\u3000$&\\u3000")`, and the key is found when it is a substring.
* Patterns are tried on the text as it is; `lastIndex` is ignored, `g` and `y` change nothing but that `y` ties the
  pattern to the beginning.
* `match_keys_all` looks in the texts joined by a line feed, without keys or without messages it is false.
"""

from typing import Any

Vector = dict[str, Any]


def said(*contents: str, role: str = "user") -> list[dict[str, str]]:
    return [{"role": role, "content": content} for content in contents]


def each(**contents: str) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in contents.items()]


def vector(
    name: str, messages: list[dict[str, str]], keys: Any, count: int, all_found: bool, **options: Any
) -> Vector:
    return {"name": name, "messages": messages, "keys": keys, "count": count, "all": all_found, **options}


def regex(source: str, flags: str = "") -> dict[str, str]:
    return {"regex": source, "flags": flags}


def one(key: str, text: str, found: bool) -> Vector:
    """One text key in one message."""
    return vector(f"{key!r} in {text!r}", said(text), [key], int(found), found)


EVERYONE = each(user="tea one", assistant="tea two", system="tea three", char="tea four", tool="tea five")

WORDS = [
    one("birthday", "My birthday is in May.", True),
    one("Birthday", "my BIRTHDAY", True),
    one("birthday", "birthdays", False),
    one("birthday", "birthday's", True),
    one("art", "party", False),
    one("art", "art", True),
    one("art", "state-of-the-art!", True),
    one("art", "art_1", False),
    one("art", "art1", False),
    one("art", "part and art", True),
    one("hot tea", "a hot tea, please", True),
    one("hot tea", "a shot teapot", False),
    one("hot tea", "a hot teapot", False),
    one("hot tea", "hot  tea", True),
    one("C++", "I write C++ daily", True),
    one("C++", "C++", True),
    one("C++", "c++11", True),
    one("C++", "Objective-C++", True),
    one("C++", "ObjC++", False),
    one("C++", "C+", False),
    one("C", "C++", True),
    one(".NET", "use .net now", True),
    one(".NET", "ASP.NET", True),
    one("#tag", "see #tag", True),
    one("#tag", "see#tag", True),
    one("#tag", "see #tags", False),
    one("pve-01", "host pve-01 is down", True),
    one("pve-01", "host pve-011", False),
    one("2024", "in 2024.", True),
    one("2024", "12024", False),
    one("3.5", "version 3.5", True),
    one("++", "C++", True),
    one("🎂", "cake🎂cake", True),
    one("❤️", "I ❤️you", True),
    one("$5", "costs $5.", True),
    one("$5", "costs $50", False),
    one("a.c", "abc", False),
    one("\\d", "5", False),
    one("don't", "I don't know", True),
]

CHINESE_AND_JAPANESE = [
    one("AI", "我喜欢AI技术", True),
    one("AI", "我喜欢ＡＩ技术", True),
    one("AI", "MAIL", False),
    one("AI技术", "我喜欢AI技术", True),
    one("AI技术", "我喜欢OpenAI技术", False),
    one("生日", "今天是我的生日快乐", True),
    one("生日", "今天是我生的日子", False),
    one("後天", "我们后天见", True),
    one("后天", "我們後天見", True),
    one("資料庫", "数据库和资料库", True),
    one("ありがとう", "本当にありがとうございます", True),
    one("アニメ", "ｱﾆﾒが好き", True),
    one("ガム", "ｶﾞﾑ", True),
    one("ガム", "カム", False),
    one("誕生日", "お誕生日おめでとう", True),
    one("생일", "오늘은 제 생일이에요", True),
    one("วันเกิด", "สุขสันต์วันเกิดนะ", True),
    one("𠮷", "𠮷野家", True),
    one("生日 快乐", "生日　快乐", True),
]

ACCENTS_AND_WIDTH = [
    one("café", "a café here", True),
    one("cafe\u0301", "a café here", True),
    one("café", "a cafe\u0301 here", True),
    one("cafe", "a café here", False),
    one("don't know", "I don’t know", True),
    one("mom’s birthday", "it's Mom's  birthday", True),
    one("new york", "in New \t York", True),
    one("new  york", "in New York", True),
    one("new york", "New\nYork", False),
    one("cafe", "a cafe\u0301 here", False),
    one("CAFÉ", "café", True),
    one("café", "cafés", False),
    one("x", "x\u0304 bar", False),
    one("x\u0304", "x\u0304 bar", True),
    one("हिन्दी", "मुझे हिन्दी पसंद है", True),
    one("हिन्", "मुझे हिन्दी पसंद है", False),
    one("день", "Мой День рождения", True),
    one("день", "деньги", False),
    one("ΟΔΟΣ", "η οδος μου", True),
    one("οδός", "ΟΔΌΣ", True),
    one("straße", "Straße", True),
    one("strasse", "Straße", False),
    one("istanbul", "İstanbul", False),
    one("İstanbul", "İSTANBUL", True),
    one("ｆｕｌｌ", "the full width", True),
    one("full", "ｆｕｌｌ", True),
    one("ﬁne", "I am fine", True),
    one("①", "1", True),
    one("K", "5 \u212a", True),
    one("\U0001d400", "a b", True),
]

BLANK_KEYS = [
    one("", "anything", False),
    one("", "", False),
    one(" ", "a b", False),
    one("\n\t", "a\n\tb", False),
    one("\u3000", "a\u3000b", False),
    one("\ufeff", "a\ufeffb", False),
    one(" tea ", "tea", True),
    one("\u3000生日\u3000", "生日", True),
    one("tea", "", False),
    vector("no keys", said("tea"), [], 0, False),
    vector("no messages", [], ["tea"], 0, False),
    vector("neither keys nor messages", [], [], 0, False),
    vector("a blank key among others", said("tea"), ["tea", ""], 1, False),
]

COUNTS = [
    vector("two keys in one message", said("tea and milk"), ["tea", "milk"], 2, True),
    vector("a key twice in one message", said("tea, tea"), ["tea"], 1, True),
    vector("a key in three messages", said("tea", "tea", "tea"), ["tea"], 3, True),
    vector("two keys in three messages", said("tea", "milk", "tea milk"), ["tea", "milk"], 4, True),
    vector("keys of different messages", said("tea", "milk"), ["tea", "milk"], 2, True),
    vector("one key is missing", said("tea", "milk"), ["tea", "milk", "salt"], 2, False),
    vector("the same key twice", said("tea"), ["tea", "tea"], 1, True),
    vector("the same key folded", said("tea"), ["tea", "TEA", "ｔｅａ", " tea "], 1, True),
    vector("the same pattern twice", said("tea"), [regex("tea"), regex("tea")], 1, True),
    vector("a pattern and its text", said("tea"), [regex("tea"), "tea"], 2, True),
    vector("a text instead of a list", said("tea", "tea"), "tea", 2, True),
    vector("not across messages", said("hot", "tea"), ["hot tea"], 0, False),
    vector("across messages by a line feed", said("hot", "tea"), ["hot\ntea"], 0, True),
]

SCOPES = [
    vector("scope left out", EVERYONE[:4], ["tea"], 4, True),
    *(
        vector(f"scope {scope}", EVERYONE, ["tea", number], count, True, scope=scope, depth=9)
        for scope, number, count in [
            ("any", "three", 6),
            ("user", "one", 2),
            ("assistant", "two", 3),
            ("assistant", "four", 3),
            ("char", "two", 3),
            ("system", "three", 2),
            ("both", "one", 4),
            ("other", "five", 3),
            ("other", "three", 3),
            ("notuser", "five", 5),
            ("notchar", "five", 4),
        ]
    ),
    *(
        vector(
            f"scope {scope} without {number}", EVERYONE, ["tea", number], count, False, scope=scope, depth=9
        )
        for scope, number, count in [
            ("user", "two", 1),
            ("assistant", "one", 2),
            ("char", "three", 2),
            ("system", "one", 1),
            ("both", "three", 3),
            ("other", "one", 2),
            ("notuser", "one", 4),
            ("notchar", "two", 3),
        ]
    ),
    vector(
        "a role in capitals is another role",
        [{"role": "User", "content": "tea"}],
        ["tea"],
        0,
        False,
        scope="user",
    ),
    vector("a scope without messages", said("tea"), ["tea"], 0, False, scope="system"),
    vector("scope null", said("tea"), ["tea"], 1, True, scope=None),
]

SIX = said("one", "two", "three", "four", "five", "six")
NUMBERS = ["one", "two", "three", "four", "five", "six"]

DEPTHS = [
    vector("depth left out", SIX, NUMBERS, 4, False),
    *(
        vector(f"depth {depth}", SIX, NUMBERS, count, count == 6, scope="any", depth=depth)
        for depth, count in [
            (1, 1), (2, 2), (6, 6), (7, 6), (1000000, 6), (1e300, 6), (0, 6), (-1, 1), (-1e300, 1),
            (0.5, 6), (-0.5, 1), (2.9, 2), (None, 4),
        ]
    ),
    vector("the depth comes before the scope", each(user="tea", assistant="tea", system="tea"), ["tea"], 0, False,
           scope="user", depth=2),
    vector("the last message", said("tea", "milk"), ["milk"], 1, True, scope="user", depth=1),
    vector("not the last message", said("tea", "milk"), ["tea"], 0, False, scope="user", depth=1),
]  # fmt: skip

PATTERNS = [
    vector(f"/{source}/{flags} in {text!r}", said(text), [regex(source, flags)], int(found), found)
    for source, flags, text, found in [
        ("deadlines?", "i", "The DEADLINE", True),
        ("deadlines?", "", "The DEADLINE", False),
        ("deadlines?", "i", "predeadliness", True),
        ("\\bart\\b", "", "state of the art.", True),
        ("\\bart\\b", "", "party", False),
        ("\\bart\\b", "", "我art我", True),
        ("\\w", "", "生日", False),
        ("\\d", "", "５", False),
        ("\\s", "", "a\u3000b", True),
        ("\\s", "", "a\ufeffb", True),
        ("\\s", "", "a\x85b", False),
        ("\\s", "", "a\x1cb", False),
        ("^tea$", "", "tea", True),
        ("^tea$", "", "tea\n", False),
        ("^tea$", "m", "milk\ntea\n", True),
        ("^tea$", "m", "milk\u2028tea", True),
        ("a.b", "", "a\nb", False),
        ("a.b", "", "a\rb", False),
        ("a.b", "", "a\u2029b", False),
        ("a.b", "", "a\x85b", True),
        ("a.b", "s", "a\nb", True),
        ("a.b", "", "a🎂b", False),
        ("a..b", "", "a🎂b", True),
        ("a.b", "u", "a🎂b", True),
        ("生日|birthday", "i", "我的生日", True),
        ("后天", "", "後天", False),
        ("café", "", "cafe\u0301", False),
        ("É", "i", "é", True),
        ("k", "i", "\u212a", False),
        ("s", "i", "\u017f", False),
        ("k", "iu", "\u212a", True),
        ("[^a]", "i", "A", False),
        ("[A-Z]", "i", "q", True),
        ("tea", "g", "tea", True),
        ("tea", "y", "tea", True),
        ("tea", "y", "a tea", False),
        ("", "", "", True),
        ("(a+)b\\1", "", "aabaa", True),
        ("tea(?= please)", "", "tea please", True),
        ("\\p{Script=Han}", "u", "生", True),
    ]
] + [
    vector("a pattern that keeps its place", said("tea", "tea", "tea"), [regex("tea", "g")], 3, True),
    vector("a pattern over two messages", said("hot", "tea"), [regex("hot\\stea")], 0, True),
    vector("a pattern and a text", said("DEADLINE for C++"), [regex("deadlines?", "i"), "C++"], 2, True),
]  # fmt: skip

VECTORS: list[Vector] = [
    *WORDS,
    *CHINESE_AND_JAPANESE,
    *ACCENTS_AND_WIDTH,
    *BLANK_KEYS,
    *COUNTS,
    *SCOPES,
    *DEPTHS,
    *PATTERNS,
]

ERRORS: list[dict[str, Any]] = [
    {"name": "an unknown scope", "messages": said("tea"), "keys": ["tea"], "scope": "users"},
    {"name": "a scope in capitals", "messages": said("tea"), "keys": ["tea"], "scope": "User"},
]
"""Calls that are errors."""
