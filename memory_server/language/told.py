"""Sentences in which a person plainly tells a fact of the project or of themselves. By closed lists, in two languages.

Precision comes first: what asks, supposes, doubts, denies, reports or tells of the past is left out, and so is all that
fits no pattern. `tests/language/test_told.py` measures it on turns that were labelled before the rules were written.
"""

from dataclasses import dataclass

from memory_server.language.lazy import closed_list
from memory_server.language.own_words import own_words

LONGEST = 200
"""Characters of a sentence that states one fact."""

SHORTEST = 5

_OPENING = closed_list(r"""
    ^(?:no|nope|actually|wrong|correction|hi|hello|hey|fyi|btw|by\sthe\sway|ok|okay|that'?s\s(?:wrong|not\sright)|also)[,:.!]+\s
    |^(?:不对|更正|纠正一下|其实|另外|对了|顺便说一下)[,，:：]\s*
""")
"""What opens a sentence and is no part of the fact."""

_ASKED_TO_KEEP = closed_list(r"""
    ^(?:please\s)?(?:remember|note|keep\sin\smind|bear\sin\smind|don'?t\sforget)\sthat\b\s*
    |^(?:请)?(?:记住|记一下|请记得)[,，:：]\s*
""")

_AND_DO = closed_list(r"""
    ,\sso\s.*$
    |,\s(?:and\s|then\s)?(?:please|can|could|add|fix|write|make|update|generate|create|change|check|look|use|run|move|rename|show|list|start|find)\b.*$
    |[,，;；](?:请|帮|改|加|写|看|把|给我|你|先|再|现在).*$
""")
"""A request that follows the fact in the same sentence."""

_EXCEPT = closed_list(r"(?:,\s(?:and\s)?|\sand\s)not\s[^,]+$|[,，]\s*(?:而)?不是[^,，]+$")
"""What a correction denies: "…, not May 2"."""

_DOUBTFUL = closed_list(r"""
    [?？]\s*$
    |^(?:what|which|who|whom|whose|why|when|where|how|is|are|am|do|does|did|can|could|should|would|will|shall|may|has|have)\b
    |^(?:this|that|these|those|it|he|she|they|there|here|you|your)\b
    |\b(?:if|unless|whether|suppose|supposing|imagine|pretend|assum\w+|let'?s\ssay|would|could|might|should|maybe|perhaps|probably
        |possibly|likely|guess|think|believe|seems?|apparently|presumably|not\ssure|wonder|hope|wish|almost|supposed
        |hypothetical\w*|for\sexample|but|however|though|although)\b
    |\b(?:said|says|say|claims?|claimed|according|told|reads|heard|wiki|rumou?rs?)\b
    |\b(?:not|no|never|none|nobody|nothing|without|cannot|neither|nor)\b|n['’]t\b
    |\b(?:used\sto|was|were|had|previously|formerly|once|until|yet|today|tonight|currently|right\snow|at\sthe\smoment|again|anymore)\b
    |\b(?:ha(?:ha)+|lol|lmao|rofl|jk|kidding|joking|basically|literally|technically)\b|[😀-🙏🤣]
    |\b(?:here's|broken|stuck|fail\w*|wrong|slow|down)\b
    |^(?:把|将|让|请|帮|给|在)
    |[吗呢吧么]\s*[。.!！]?$|谁|什么|多少|哪|怎么|为何|为啥|是不是|是否|有没有|能不能|几[个点号时]
    |如果|假如|假设|假装|万一|要是|倘若|的话|可能|也许|大概|好像|似乎|应该|我?觉得|我?猜|估计|不确定|听说|据说|例如|比如
    |[说写][着过道]?[:：]|[他她]说|文档|不|没|别|未|无|以前|之前|原来|曾|过去|本来|今天|刚才|刚刚|哈哈|[了过]\s*[。.!！]?$
""")

_OF_CODE = closed_list(r"""
    ^(?:(?:the|my|our|all)\s)?(?:\w+\s)?(?:functions?|methods?|class(?:es)?|variables?|values?|data|images?|texts?|lists?|loops?|buttons?|bugs?
        |files?|pages?|modals?|callbacks?|hooks?|components?|lines?|errors?|elements?|divs?|cursor|icons?|props?|fields?|forms?|everything
        |logs?|tables?|columns?|rows?|strings?|arrays?|objects?|keys?)\s(?:is|are|runs?|lives?|uses?|needs?)\b
    |(?:函数|方法|变量|按钮|组件|元素|类|字段|数组|对象|图片).{0,4}(?:放在|在|叫|名)|^代码放在
    |\b(?:the\s(?:left|right|top|bottom|state|old|wrong)|memory|lowercase|uppercase|bold|bytes|my\s(?:laptop|machine))\b
    |\bcalled\s(?:twice|once|from|by|when|with|in|on|at|for|too)\b|\b(?:works?|returns?)\b(?!\s(?:at|for|on|in|from|as)\s)
    |\b(?:done|back|sorry|ready|fine|late|minutes?\slate|tomorrow|yesterday)\b|\bi\s.*\bnow\b
""")
"""What is said of code in view, or of the moment, and is true for an hour."""

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
_DATE = rf"(?:{_MONTH}\b|{_WEEKDAY}|\d)"
_DAY = rf"(?:{_MONTH}\s\d|{_WEEKDAY}|\d{{4}}-\d)"

_PLACE = r"(?:[~./]?/?\w[\w.-]*/\S*|/\w\S*|https?://\S+|\d+(?:\.\d+)+|port\s\d+|(?:host|server|node|bucket|cluster|region)\s\S+)"

_ATTRIBUTE = r"""
    (?:name|pronouns?|ports?|host(?:name)?|address|url|domain|branch|timeout|limit|deadline|due\sdate|release|launch|demo
    |manager|boss|lead|owner|maintainer|customer|client|contact|team|time\s?zone|language|editor|shell|licen[sc]e|bucket
    |queue|region|cluster|version|birthday|repo(?:sitory)?|stack|database|framework|linter|formatter|package\smanager
    |convention|currency|employer|company|title|role|job|os|operating\ssystem|wife|husband|partner|son|daughter|dog|cat)
"""

_FACTS = closed_list(rf"""
    ^my\s(?:\w+\s)?name\sis\s\S
    |^i(?:'m|’m|\sam)\s(?:(?:a|an)\s(?!bit|little|lot|fan|big|huge|idiot|rubber)|the\s\w+(?:\s\w+)*\s(?:lead|manager|developer|engineer|designer|owner|maintainer)
        |based\sin|from\s(?-i:[A-Z])|allergic|vegetarian|vegan|responsible\sfor|in\scharge\sof|on\sthe\s[\w\s-]+\steam
        |(?-i:[A-Z][a-z]+)(?:\s(?-i:[A-Z][a-z]+))?(?:$|[.,]|\sand\s|\sfrom\s))
    |^i\s(?:work|live)\s(?:on|at|for|from|in|as)\s(?!this|that|it)\S
    |^i\s(?:speak|maintain|own|lead|manage)\s(?!this|that|it\b|so|to\b)\S
    |^i\s(?:really\s|always\s|much\s|strongly\s)?(?:prefer|hate|dislike|love)\s(?!this|that|it\b|the\b|when|how|you|my\b|option|version|approach|variant|solution)\S
    |^(?:from\snow\son|in\s(?:the\s)?future|going\sforward),?\s(?:please\s)?(?:we\s|always\s)?use\s\S
    |^(?:please\s)?always\suse\s(?!this|that|it)\S
    |^(?:we|our\steam|our\s\w+|(?:the|this)\s(?:project|repo(?:sitory)?|app|team|company|service|backend|frontend|codebase))
        \s(?:all\s)?uses?\s(?!an?\s|too|this|that|it\b|them|the\ssame|these|those|some|more|only|\d|option)\S
    |^we\s(?:deploy|build|test|ship|host|develop)\s(?:(?:on|with|to|in|from|everything\s\w+)\s(?!it\b|this|that|them)\S|every\s)
    |^we(?:'re|’re|\sare)\s(?:on|using)\s(?-i:[A-Z])\S*
    |^(?:our|the|my|all|both|[\w./-]+)(?:\s[\w./’'-]+){{0,5}}?\s
        (?:runs?\s(?:on|at|every|under|inside)|(?:lives?|listens?|resides?|(?:is|are)\s(?:hosted|deployed|stored|kept|located|scheduled|served|written|built|implemented|defined|configured|managed|owned|maintained))
        \s(?:on|at|in|with|under|from|for|by|every|using))\s(?!my\smachine|line|this|that|it\b|my\slaptop|click|top)\S
    |^(?:our|the|my)(?:\s[\w./’'-]+){{1,5}}?\sneeds?\s[\w.-]+\s(?:on\sport\s\d|[\d.]+)
    |^(?:our|the|my|[\w-]+)(?:\s[\w./’'-]+){{0,5}}?\s(?:is|are)\s(?:called|named)\s\S
    |^(?:our|the|my)(?:\s[\w./’'-]+){{1,5}}?\s(?:is|are)\s(?:in|at|on|under)\s(?:the\s)?(?:{_PLACE}|{_DAY})
    |^(?:our|my)(?:\s[\w-]+){{0,2}}?\s{_ATTRIBUTE}\s(?:is|are)\s(?!a\b|an\b|too|so|very|really|gone|the\ssame|\w+er\b|different|fine|ok|empty|missing|ready|done|blank|correct|right|full|up\b|off\b|on\b|in\b|to\b|here|there)\S
    |^the(?:\s[\w-]+){{0,2}}?\s{_ATTRIBUTE}(?:\s(?:of|for)\s(?:\s?[\w-]+){{1,4}}?)?\sis\s(?:(?-i:[A-Z][\w-]*)|{_DATE}|{_PLACE})
    |^(?:the\s)?(?-i:[A-Z])[\w-]+(?:\s(?-i:[A-Z])[\w-]+){{0,2}}\s(?:owns|maintains|leads|manages|(?:is\s(?:responsible\sfor|in\scharge\sof)))\s(?!this|that|it)\S
    |^[\w-]+(?:\s[\w-]+){{0,3}}?\s(?:go(?:es)?\sout|run|runs|happens?|ships?|starts?|closes?|takes?\splace|meets?|ends?|is|are)\s.{{0,30}}?\b(?:every|each)\s(?:{_DATE}|day|week|month|night|morning|hour|quarter)
    |\b(?:contract|licen[sc]e|certificate|subscription|trial|sprint|freeze)s?\s(?:ends?|expires?|starts?)\s(?:on|in|at)\s{_DATE}
    |^我叫\s?\S|^我的名字[是叫]|^我住在?\s?\S|^我在.{{1,20}}(?:工作|上班|做.{{1,8}})|^我负责\S|^我对.{{1,10}}过敏|^我是.{{0,20}}(?:工程师|开发|设计师|测试|产品经理|负责人|学生|老师|医生|律师)
    |^我(?:更|比较|特别|最)?(?:喜欢|偏好|习惯|倾向)(?!这|那|它|你|第|前者|后者|方案|选项)
    |^以后(?:都|就|统一|一律|全部)?[用使]|^(?:以后|今后|从现在开始|从今以后).{{1,15}}(?:都|统一|一律)[用使]
    |^(?:请)?(?:始终|总是|一律|统一)(?:使用|用)
    |^(?:我们|咱们)(?:的|都|这边|团队|公司|项目)?.{{0,10}}?(?:用的是|使用的是|使用|采用|用)\s?(?!第|这|那|它|他|上|下|一|同|完|起来|过|到|来)\w
    |^(?:这个|本|该)?(?:项目|前端|后端|服务端|客户端|网站|应用|[Aa]pp|仓库|团队|代码|接口).{{0,6}}?(?:是用|用的是|使用|采用|基于)\s?(?!这|那|它|同|完|起来|过|到|一|了)\w
    |^[\w\s.-]*\w.{{0,12}}(?:端口|地址|主机|域名|分支|版本|时区|路径|目录|负责人|项目经理|经理|截止日期|名字|名称|密钥环|上限|超时|周期)(?:时间)?(?:是|为|叫|[:：])\s?(?!空|错|对|一样|同)\S
    |^[\w\s.-]{{1,20}}?(?:(?:部署|托管|监听|跑)在\s?(?!这|那|哪)\S|(?:运行|存放|保存|放|存|装)在.{{0,6}}?[A-Za-z0-9/][\w./-]*(?!\s?[行列]))
    |^[\w\s.-]{{1,20}}?由\s?\w{{2,6}}\s?(?:负责|维护|管理)|^[\u4e00-\u9fff]{{2,3}}负责\s?\S
    |^(?:我们)?每(?:天|周|月|年|个月|个?季度|晚|隔).{{1,12}}(?:发版|发布|上线|部署|备份|开会|例会|跑|运行|执行|清理|更新)
""")


_WISH = closed_list(r"""
    ^i\s(?:\w+\s)?(?:prefer|hate|dislike|love)\b|^(?:please\s)?always\b|^(?:from\snow\son|in\s(?:the\s)?future|going\sforward)\b
    |^我(?:更|比较|特别|最)?(?:喜欢|偏好|习惯|倾向)|^(?:以后|今后|从现在开始|从今以后|始终|总是|一律|统一)
""")

_PERSONAL = closed_list(r"^(?:i\b|my\b|我(?!们))")


@dataclass(frozen=True, slots=True)
class Told:
    """A fact in the person's words. `wish`: how they want things to be. `personal`: it is about themselves."""

    text: str
    wish: bool
    personal: bool


def told(text: str) -> list[Told]:
    """The sentences of a message that tell a fact, each without its opening words and the request at its end."""
    facts = dict.fromkeys(fact for sentence in own_words(text) if (fact := _fact(sentence)))
    return [Told(fact, bool(_WISH.search(fact)), bool(_PERSONAL.search(fact))) for fact in facts]


def _fact(sentence: str) -> str:
    """The fact of a sentence; '' where it tells none."""
    opened = _OPENING.sub("", sentence, count=1).strip()
    statement = _ASKED_TO_KEEP.sub("", opened, count=1)
    fact = _AND_DO.sub("", statement).strip()
    if not SHORTEST <= len(fact) <= LONGEST or sentence.rstrip().endswith(("?", "？")):
        return ""
    claimed = _EXCEPT.sub("", fact.rstrip(".。!！"))
    if _DOUBTFUL.search(claimed) or _OF_CODE.search(claimed):
        return ""
    return fact if statement != opened or _FACTS.search(fact) else ""
