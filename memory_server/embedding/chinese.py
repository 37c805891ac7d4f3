"""Tests whether an unknown embedder understands Chinese."""

from collections.abc import Callable, Sequence

import numpy as np

from memory_server.domain.embedding import Vector

LEAST_SHARE = 0.75
"""The least share of paraphrases that an embedder must find to count as one that understands Chinese.

Measured: multilingual-e5-small 1.0; all-MiniLM-L6-v2 0.25, n-gram hashing 0.19, chance 0.06.
"""

_PARAPHRASES = (
    ("他病得很重", "那位男士身体非常糟糕"),
    ("我喜欢喝茶", "本人爱好品茗"),
    ("电脑坏了", "计算机出故障"),
    ("明天要下雨", "次日有降水"),
    ("妈妈做饭很好吃", "母亲的厨艺棒极了"),
    ("火车晚点了", "列车延误"),
    ("房价太贵", "住宅卖得过高"),
    ("孩子怕黑", "小朋友恐惧夜晚"),
    ("他开除了两个员工", "老板解雇一些职员"),
    ("密码忘记了", "想不起登录口令"),
    ("手机没电", "电话需要充能"),
    ("她在医院上班", "那位女士是护士"),
    ("这家店关门了", "该铺子已停止营业"),
    ("我的钱被偷了", "财物失窃"),
    ("弟弟考上大学", "家中男孩被高校录取"),
    ("飞机票订好啦", "已经预购航班座位"),
)
"""Pairs with the same meaning in different characters, so that comparing characters does not find them."""


def understands_chinese(embed: Callable[[Sequence[str]], Sequence[Vector]]) -> bool:
    """True if most texts are nearer to their own paraphrase than to every other one."""
    texts = np.array(embed([text for text, _ in _PARAPHRASES]))
    paraphrases = np.array(embed([paraphrase for _, paraphrase in _PARAPHRASES]))
    nearest = (texts @ paraphrases.T).argmax(axis=1)
    matches = np.count_nonzero(nearest == np.arange(len(_PARAPHRASES)))
    return bool(matches >= LEAST_SHARE * len(_PARAPHRASES))
