"""A synthetic working log for the benchmark: sentences of a software team, English and Chinese, the same every time."""

import random
from collections.abc import Iterator
from typing import Any

TYPES = ["observation", "decision", "learning", "error", "pattern", "preference"]
PROJECTS = ["ledger", "harbor", "atlas", "beacon", "quarry"]

ENGLISH = {
    "who": "Maya,Tomas,Ingrid,Kofi,Priya,Lars,Noor,Felix,Jun,Rosa,Dmitri,Aisha,Callum,Yuki,Elena,Omar".split(
        ","
    ),
    "did": "moved,rewrote,measured,disabled,reviewed,doubled,removed,documented,split,cached,renamed,pinned,"
    "reverted,profiled,scheduled,encrypted".split(","),
    "what": "the invoice exporter,the login page,the image resizer,the retry queue,the search index,"
    "the nightly backup,the rate limiter,the mobile release,the audit report,the currency table,"
    "the webhook sender,the feature flags,the staging cluster,the session store,the parser,"
    "the onboarding mail".split(","),
    "why": "customers in Norway waited too long,the disk was nearly full,two tests were flaky,"
    "the vendor raised its price,a certificate expired,the old library is unmaintained,memory kept growing,"
    "the auditors asked for it,half of the requests timed out,nobody understood the log lines,"
    "the schema had drifted,time zones were mixed up,a deadlock showed up on Mondays,"
    "the team wants smaller releases,support got many calls,the port was already taken".split(","),
    "then": "it takes {n} ms now,version {n} carries the change,see ticket OPS-{n},the limit is {n} per minute,"
    "it runs on host node-{n},we saved {n} euros a month,{n} files were touched,the port is {n},"
    "rollback means restoring snapshot {n},alert number {n} watches it,{n} users noticed,the build shrank by {n} KB,"
    "batch size {n} worked best,we keep it for {n} days,review it again in sprint {n},it failed {n} times before".split(
        ","
    ),
}
CHINESE = {
    "who": "王磊,李婷,赵鹏,林悦,陈思远,周敏,吴昊,孙倩,郑凯,黄蓉,徐亮,何静,马超,罗莎,高翔,梁雨".split(","),
    "did": "迁移了,重写了,测量了,关闭了,审查了,扩容了,删除了,整理了,拆分了,缓存了,重命名了,锁定了,回滚了,分析了,"
    "安排了,加密了".split(","),
    "what": "发票导出,登录页面,图片压缩,重试队列,搜索索引,夜间备份,限流组件,移动端发布,审计报表,币种表,回调服务,"
    "功能开关,测试环境,会话存储,日志解析,欢迎邮件".split(","),
    "why": "挪威的客户等待太久,磁盘快要写满,两个用例不稳定,供应商涨价,证书过期,旧的库没有人维护,内存一直上涨,"
    "审计方提出要求,一半的请求超时,没有人看得懂日志,表结构已经不一致,时区混在一起,每周一出现死锁,团队希望小步发布,"
    "客服接到很多电话,端口已经被占用".split(","),
    "then": "现在只要 {n} 毫秒,改动在版本 {n} 里,参见工单 OPS-{n},上限是每分钟 {n} 次,部署在主机 node-{n},"
    "每月省下 {n} 欧元,一共改了 {n} 个文件,端口是 {n},回滚就是恢复快照 {n},由 {n} 号告警监控,{n} 个用户注意到了,"
    "安装包小了 {n} KB,批量大小 {n} 最合适,保留 {n} 天,第 {n} 个迭代再检查,之前失败过 {n} 次".split(","),
}


def memories(count: int) -> list[dict[str, Any]]:
    """So many arguments of `memory_store`; a third is Chinese."""
    return [memory for memory, _ in zip(_memories(), range(count), strict=False)]


def _memories() -> Iterator[dict[str, Any]]:
    chance = random.Random(7)
    while True:
        parts = _parts(CHINESE if chance.random() < 1 / 3 else ENGLISH, chance)
        chinese = parts["who"] in CHINESE["who"]
        yield {
            "content": "{who}{did}{what}，因为{why}；{then}。".format(**parts)
            if chinese
            else "{who} {did} {what} because {why}; {then}.".format(**parts),
            "type": chance.choice(TYPES),
            "project": chance.choice(PROJECTS),
            "tags": [parts["what"].removeprefix("the ")],
            "importance": chance.randint(3, 9),
        }


def _parts(vocabulary: dict[str, list[str]], chance: random.Random) -> dict[str, str]:
    parts = {name: chance.choice(words) for name, words in vocabulary.items()}
    return parts | {"then": parts["then"].format(n=chance.randint(1000, 99999))}
