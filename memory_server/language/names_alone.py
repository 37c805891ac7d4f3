"""Names that tell alone what a topic is about: of "the Okafor order" a message about Okafor is enough.

Only a name right before a word for business with somebody. Of "Maria's visa" and "the trip to Lisbon" it is not enough:
people speak of Maria and of Lisbon for other reasons too.
"""

import re

from memory_server.language.calendar_words import MONTHS, WEEKDAYS
from memory_server.language.text import HAN

_BUSINESS = (
    "order|deal|account|case|contract|invoice|shipment|delivery|quote|offer|matter|affair|business|complaint"
)
_OF_ENGLISH = re.compile(rf"(?:(?i:the|our|my|that|this) )?(?P<name>[^\W\d_]{{4,}}) (?:{_BUSINESS})s?")
_OF_CHINESE = re.compile(
    rf"(?P<name>[老小阿][{HAN}]|[{HAN}]{{1,3}}(?:老师|总|经理|医生|先生|女士|小姐|阿姨|师傅|教授|律师))"
    "的?(?:订单|单子|合同|发票|案子|生意|报价|投诉|退款|货)"
)
_PRODUCTS = frozenset(
    "android amazon apple azure chrome claude copilot docker facebook firefox gemini github google java kubernetes "
    "linux microsoft netflix oracle paypal postgres python redis shopify slack spotify stripe teams twitter windows "
    "word zoom christmas easter".split()
)
"""Names that are said for other reasons too."""


def name_alone(topic: str) -> str | None:
    """Return the name with which somebody's order or the like is meant; None where a topic has none."""
    if chinese := _OF_CHINESE.fullmatch(topic):
        return chinese["name"]
    match = _OF_ENGLISH.fullmatch(topic)
    if match is None or not (match["name"][0].isupper() and match["name"][1:].islower()):
        return None
    folded = match["name"].lower()
    return None if folded in _PRODUCTS or folded in WEEKDAYS or folded in MONTHS else match["name"]
