"""The words with which people steer an assistant ("run the tests again"): a note that shares only these is not meant.

Lists by hand. Terms are as `query.parse` makes them: English words, and pairs of Chinese characters.
"""

ENGLISH = frozenset(
    """
    add again alright answer ask back best better bit bug build change changes check class clear code commit
    continue correct create debug delete describe diff different done else error errors exactly example explain
    fail failed failing fails fast faster file files fine finish first fix fixed function functions get give go
    good great hello help hey hi idea implement improve keep know last let like line lines list long look looks
    make maybe mean means merge method missing move name need new next nice no now ok okay old one open option
    perfect please possible print problem push put question read ready refactor remember remove rename rest result
    results right round run running save say second see set short shorter show simple simpler something sort start
    step still stop sure task tell test tests thank thanks thing things think third to today tool try two undo
    update use used user using variable version wait want way well work works write wrong yeah yes
    """.split()
)

CHINESE = frozenset(
    """
    代码 函数 测试 运行 继续 谢谢 解释 修改 修复 文件 一下 问题 没问 可以 帮我 请把 改成 提交
    删除 添加 增加 看看 看一 好像 就这 这样 这段 现在 错误 报错 变量 一点 下一 一步 再试 试试
    写一 实现 优化 重构 好吧 不错 不对 对吗 明白 知道 开始 完成 停止 更新 检查 结果 重新 使用
    需要 应该 觉得 比较 简单 功能 方法 回答 告诉 给我 列出 总结
    """.split()
)


def is_small_talk(term: str) -> bool:
    """True if a term of a query steers the conversation and names nothing."""
    return term in ENGLISH or term.replace(" ", "") in CHINESE
