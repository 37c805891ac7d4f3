"""Rules in plain Chinese: `不要读取 .env`, `运行 terraform apply 之前先问我`, `禁止 push 到 main`.

A sentence is read whole: one with a part that is not understood, such as an exception, states no rule.
"""

import re
from dataclasses import dataclass
from typing import Final

from memory_server.domain import stated
from memory_server.domain.stated import Acts, Does, StatedRule, Unread
from memory_server.language.lazy import closed_list, lazy
from memory_server.language.text import has_han

_KINDS: Final = {
    Does.READS: "读取|阅读|读|查看|查阅|看|打开|访问|浏览|打印|输出|read|open|cat",
    Does.TOUCHES: "修改|更改|改动|改写|改|变更|编辑|触碰|碰|动|写入|写|覆盖|重写|更新"
    "|删除|删掉|删|清空|清除|移除|移动|重命名|edit|touch",
    Does.RUNS: "运行|执行|跑|使用|用|调用|启动|run",
}
_VERB: Final = "|".join(_KINDS.values())
_VERBS: Final = rf"(?:{_VERB})(?:(?:、|/|或者?|和|及|与|以及)?(?:{_VERB})){{0,2}}"
_DONE: Final = r"(?:一下|掉|了)?"
_FORBID: Final = (
    r"(?:绝对|千万|永远|切|请|万万)?(?:不要再?|(?<![特区分类级识个])别再?|勿|禁止|严禁|不准|不许|不得|不能|不可以?|不允许|不应该?|"
    r"[绝决]不(?:要|能|可以?|允许|准|许)?|禁)"
)
_HOW: Final = r"(?:再|直接|擅自|随便|随意|自行|私自|自动|主动|去|来|你|助手|任何人|尝试|试图|\s)*"
_ME: Final = "(?:我们?|用户|本人)"
_CONSENT: Final = "(?:同意|允许|批准|许可|确认|授权|准许)"
_ASKING: Final = (
    rf"(?:(?:询问|问|请示|请教)(?:一下|过)?{_ME}(?:一下|一声)?|[跟和与向找]{_ME}(?:确认|商量|请示)(?:一下)?"
    rf"|(?:经过?|征得|征求|得到|取得|获得|等)?{_ME}的?{_CONSENT}|征求{_ME}的?意见)"
)
_MUST: Final = r"(?:只有|都|请|你|必须|务必|一定|应该?|须|需|要|得|先|\s)*"

_MARKS: Final = closed_list(rf"""
    {_FORBID}|先问|[前时]\s*[,，]?.{{0,4}}问|{_MUST}{_ASKING}
""")
_SPLIT: Final = lazy(r"[，,；;：。！!]+\s*|\.\s+")
_OPENING: Final = lazy(
    r"^(?:请|你|您|助手|以后|今后|从现在(?:起|开始)|从今以后|记住|注意|每次|每当|无论如何|任何时候都?|在?任何情况下都?"
    r"|务必|一定|一律|都|平时|另外|并且|同时|而且|也|想要?|要|[:\s])+"
)
_CLOSING: Final = lazy(r"[.~～…\s啊哦呀吧了]+$")
_NOT_A_REASON: Final = closed_list(rf"""
    {_FORBID}|{_ASKING}|[除但若当在时只仅也还周每外和或及与、]|如果|直到|例外|可以|允许|同样|一样|包括|之前|情况|场合|期间|要求|否则|同理
""")

_NAMES_A_THING: Final = lazy(r"[\ue000-\uf8ff]|[\w~@*-]*[./*]\w", re.ASCII)
_INSTEAD: Final = lazy(r"用|因为|由于|改为|换成|^(?:请|要|应该?|而是|直接)?(?:运行|它|这|那|该)")

_ASKED_AFTER: Final = lazy(rf"^(.+?)\s*(?:(?:之前|以前|前|的时候|时|的话)\s*[，,]?)?{_MUST}{_ASKING}"
                           r"(?:之?后?[才再方]?(?:能|可以?|行|进行|执行)?)?$")  # fmt: skip
_ASKED_BEFORE: Final = lazy(
    rf"^{_MUST}{_ASKING}(?:之?后\s*[，,]?[再才方]?|然?后?[再才方])(?:能|可以?|去|来|\s)*(.+)$"
)
_UNASKED: Final = lazy(
    rf"^在?(?:未经过?|没经过|没有经过|没有|未获得?|[未没]得到|不经过?|[未没]征得)(?:{_ME}的?)?{_CONSENT}"
    rf"(?:之前|前|的情况下|时)?\s*[，,]?{_FORBID}{_HOW}(.+)$"
    rf"|^在?(?:没有?|还没有?|未)先?(?:问过?|询问过?){_ME}(?:之前|前|的情况下|时)?\s*[，,]?{_FORBID}{_HOW}(.+)$"
    rf"|^{_FORBID}(?:未经过?|不经过?|没有|没经过)(?:{_ME}的?)?{_CONSENT}(?:的情况下)?就?{_HOW}(.+)$"
    rf"|^{_FORBID}(?:不先?|没有?先?|还没)(?:问过?|询问){_ME}就{_HOW}(.+)$"
)
_FORBIDDEN: Final = lazy(rf"^{_FORBID}{_HOW}(.+)$")
_FORBIDDEN_BEHIND: Final = lazy(
    rf"^(.+?)\s*{_FORBID}{_HOW}(?:被)?({_VERBS}|强制推送|强推|推送?|push){_DONE}$", re.IGNORECASE
)

_TURNED: Final = lazy(
    rf"^[把将对往向]\s*(.+?)\s*(?:做|进行|作出?)?(?:任何|出)?({_VERBS}){_DONE}(?:东西|内容|文件|代码|操作)?$"
)
_PLAIN_ACT: Final = lazy(rf"^({_VERBS}){_DONE}(?=[^A-Za-z]|(?<![A-Za-z]))\s*(.+)$", re.IGNORECASE)
_THINGS: Final = r"(?:任何东西|任何代码|任何改动|代码|改动|更改|提交|修改|commits?|东西|内容)?"
_TO: Final = r"(?:到|至|进|上|to\b)"
_REMOTE: Final = r"(?:远程的?|origin[/ ])?"
_PUSHED: Final = lazy(
    rf"^(?:[把将]\s*{_THINGS}\s*)?(?:git\s+(?=push\s*[到至]))?(强制推送|强推|force[- ]?push|推送?|push)"
    rf"\s*{_THINGS}\s*({_TO}?)\s*{_REMOTE}\s*"
    rf"(.*?)\s*(分支)?[上去里]?$",
    re.IGNORECASE,
)
_PUSHED_TOWARDS: Final = lazy(
    rf"^[往向]\s*{_REMOTE}(.+?)\s*(?:分支)?[上里]?\s*(强制推送|强推|推送?|push)\s*{_THINGS}$", re.IGNORECASE
)
_AND: Final = lazy(r"\s*(?:、|，|,|以及|或者|和|或|及|与)\s*")
_FILE: Final = lazy(
    r"^(?:任何|所有|文件|目录|文件夹|我的|我们的|\s)*([\w@.*~/-]+)\s*(?:这个|那个|该)?(文件夹|目录|文件)?"
    r"((?:之?下|里|中|内)面?的?(?:任何|所有|一切)?(?:文件|内容|东西|代码)?|的(?:任何|所有)?内容)?$",
    re.ASCII,
)
_COMMAND: Final = lazy(
    r"^(?:任何|命令|指令|\s)*([A-Za-z./][\w./-]*(?:\s+[!-~]+){0,8}?)\s*这?[个条]?(?:命令|指令)?$", re.ASCII
)


def is_chinese(sentence: str) -> bool:
    """True if a sentence forbids something, or wants to be asked, in Chinese."""
    return has_han(sentence) and _MARKS.search(stated.unquoted(sentence)) is not None


def read(sentence: str) -> StatedRule:
    """Read a sentence.

    Raises:
        Unread: it states no act, or more than is understood.
    """
    if re.search(stated.PIECE, sentence):
        raise Unread
    hidden, pieces = stated.hide(sentence)
    clauses = [_CLOSING.sub("", clause).strip() for clause in _SPLIT.split(hidden)]
    rules = _Reading(pieces).rules(list(filter(None, clauses)))
    if not rules or len({rule.asks for rule in rules}) > 1:
        raise Unread
    return StatedRule(rules[0].asks, tuple(dict.fromkeys(act for rule in rules for act in rule.acts)))


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads the clauses of a sentence whose quoted pieces are hidden in private characters."""

    pieces: list[str]

    def rules(self, clauses: list[str]) -> list[StatedRule]:
        """Return what the clauses state, one rule for each.

        Raises:
            Unread: a clause is neither a rule nor a reason. It names that clause where others are rules.
        """
        rules: list[StatedRule] = []
        left_over: list[str] = []
        place = 0
        while place < len(clauses):
            for width in (3, 2, 1):
                rule = self._rule("，".join(clauses[place : place + width]))
                if rule is not None:
                    rules.append(rule)
                    place += width
                    break
            else:
                if not _is_reason(clauses[place]):
                    left_over.append(clauses[place])
                place += 1
        if left_over:
            words = left_over[0] if rules else self._before_rule(left_over[0])
            raise Unread(stated.shown(words, self.pieces))
        return rules

    def _before_rule(self, clause: str) -> str:
        """Return what stands before a rule in its clause; '' where there is no rule."""
        match = re.search(_FORBID, clause)
        return clause[: match.start()] if match and self._rule(clause[match.start() :]) else ""

    def _rule(self, clause: str) -> StatedRule | None:
        clause = _OPENING.sub("", clause)
        for asks, pattern in (
            (True, _UNASKED),
            (True, _ASKED_BEFORE),
            (True, _ASKED_AFTER),
            (False, _FORBIDDEN),
        ):
            match = pattern.match(clause)
            core = next(filter(None, match.groups()), "") if match else ""
            if core and (acts := self._acts(_OPENING.sub("", core).strip())):
                return StatedRule(asks, acts)
        if match := _FORBIDDEN_BEHIND.match(clause):
            acts = self._acts(f"{match[2]} {match[1]}")
            return StatedRule(False, acts) if acts else None
        return None

    def _acts(self, core: str) -> Acts:
        """Return the acts of a verb with its objects; none where a part is not understood."""
        if match := _PUSHED_TOWARDS.match(core):
            return self._pushes(match[2], match[1], is_branch=True)
        if match := _PUSHED.match(core):
            return self._pushes(match[1], match[3], is_branch=bool(match[2] or match[4]))
        if match := _TURNED.match(core):
            core = f"{match[2]} {match[1]}"
        if match := _PLAIN_ACT.match(core):
            acts = [self._listed(match[2], kind) for kind in _kinds(match[1])]
            return tuple(act for listed in acts for act in listed) if all(acts) else ()
        return self._listed(core, Does.RUNS)

    def _listed(self, objects: str, kind: Does) -> Acts:
        read = self._command if kind is Does.RUNS else self._file
        names = [read(piece) for piece in _AND.split(objects.strip())]
        return tuple((kind, name) for name in names if name) if all(names) else ()

    def _pushes(self, verb: str, objects: str, is_branch: bool) -> Acts:
        if verb == "推" and not objects:
            return ()
        names: list[str] = []
        for piece in _AND.split(objects) if objects else ():
            name = self._shown(piece.removesuffix("分支").strip())
            if name in ("主", "主分支", "主干", "主线"):
                name = "main"
            branches = stated.branches(name, is_marked=is_branch or piece.endswith("分支"))
            if not branches:
                return ()
            names += branches
        return stated.pushes(names, force=verb[0] in "强fF")

    def _shown(self, piece: str) -> str:
        """Return a piece, or what is hidden in it, if it is one quoted piece alone."""
        return stated.shown(piece, self.pieces) if len(piece) == 1 else piece

    def _matched(self, pattern: re.Pattern[str], piece: str) -> tuple[re.Match[str], str, bool] | None:
        """Match a piece that names a thing; return the match, the name, and whether it is quoted."""
        quoted = re.search(stated.PIECE, piece)
        match = pattern.match(piece.replace(quoted[0], "x") if quoted else piece)
        if match is None or (quoted and match[1] != "x"):
            return None
        return match, self._shown(quoted[0]) if quoted else match[1], quoted is not None

    def _file(self, piece: str) -> str:
        """Return the path that a piece names; '' where it names none, or more than that."""
        matched = self._matched(_FILE, piece)
        if matched is None:
            return ""
        match, name, is_quoted = matched
        path = stated.file(name, is_marked=is_quoted or match[2] is not None)
        if not path:
            return ""
        holds_files = match[3] is not None and match[3][0] != "的" and "." not in path
        is_folder = match[2] in ("文件夹", "目录") or holds_files
        return f"{path}/" if is_folder and path[-1] not in "/*" else path

    def _command(self, piece: str) -> str:
        """Return the command of a piece, its program without folders; '' where it names none, or more than that."""
        matched = self._matched(_COMMAND, piece)
        if matched is None:
            return ""
        _, text, is_quoted = matched
        return stated.command(text, is_quoted=is_quoted)


def _is_reason(clause: str) -> bool:
    """True if a clause only says why, or what to do instead."""
    names = _NAMES_A_THING.search(clause) is not None and _INSTEAD.search(clause) is None
    return has_han(clause) and not names and _NOT_A_REASON.search(clause) is None


def _kinds(text: str) -> list[Does]:
    """Return what the verbs of a text do, without repetition."""
    words = [match[0].lower() for match in re.finditer(_VERB, text, re.IGNORECASE)]
    return list(
        dict.fromkeys(kind for word in words for kind, verbs in _KINDS.items() if word in verbs.split("|"))
    )
