"""Chinese, and what is written like it, through the real server with the embedder that is bundled."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp import Client

from tests.conftest import ROOT, Servers, call

pytestmark = pytest.mark.anyio

MEMORIES = {
    "mixed": "我喜欢AI技术",
    "identity": "登录之后要先检查用户身份，再写日志",
    "traditional": "資料庫的備份每天凌晨執行",
    "simplified": "数据库的索引每周重建一次",
    "full width": "服务器型号是ＰＶＥ－０１，内存６４ＧＢ",
    "one": "她家的猫今天生病了",
    "kana": "カタカナの名前は画面に表示されません",
    "hiragana": "ありがとうございます、と返事をした",
    "hangul": "회의는 매주 월요일 오전에 시작합니다",
    "english": "The deployment to production happens every Thursday afternoon",
    "chinese": "小王负责给新同事办理入职手续",
    "emoji": "发布成功🚀大家辛苦了",
    "tea": "客户经理只喝乌龙茶，不喝咖啡",
    "weather": "周末多半会下大雨，活动改到室内",
    "invoice": "The accountant asked for the invoices of the second quarter",
    "printer": "打印机卡纸时要先关电源",
}


@pytest.fixture(scope="module")
async def chinese(
    tmp_path_factory: pytest.TempPathFactory, user_folders: dict[str, str]
) -> AsyncIterator["Asked"]:
    servers = Servers(tmp_path_factory.mktemp("chinese"), {**user_folders, "PYTHONPATH": str(ROOT)})
    async with servers("--embedder", "bundled") as client:
        ids = {}
        for name, content in MEMORIES.items():
            ids[(await call(client, "memory_store", content=content, type="learning"))["id"]] = name
        assert len(ids) == len(MEMORIES)
        yield Asked(client, ids)


class Asked:
    """The names of the memories that answer a query, best first."""

    def __init__(self, client: Client, names: dict[int, str]) -> None:
        self._client = client
        self._names = names

    async def __call__(self, query: str, **wanted: Any) -> list[str]:
        found = await call(self._client, "memory_search", query=query, **wanted)
        assert found["embedder"].startswith("bundled:" if wanted.get("mode") != "keyword" else "none")
        return [self._names[hit["id"]] for hit in found["results"]]


WORDS = [
    ("用户身份", "identity"),
    ("身份", "identity"),
    ("用户", "identity"),
    ("日志", "identity"),
    ("猫", "one"),
    ("AI", "mixed"),
    ("ai", "mixed"),
    ("ＡＩ", "mixed"),
    ("技术", "mixed"),
    ("喜欢", "mixed"),
    ("AI技术", "mixed"),
    ("喜欢AI", "mixed"),
    ("我喜欢AI技术", "mixed"),
    ("備份", "traditional"),
    ("备份", "traditional"),
    ("资料库", "traditional"),
    ("執行", "traditional"),
    ("执行", "traditional"),
    ("索引", "simplified"),
    ("數據庫", "simplified"),
    ("每週重建", "simplified"),
    ("PVE-01", "full width"),
    ("ｐｖｅ－０１", "full width"),
    ("64GB", "full width"),
    ("カタカナ", "kana"),
    ("ｶﾀｶﾅ", "kana"),
    ("画面", "kana"),
    ("ありがとう", "hiragana"),
    ("返事", "hiragana"),
    ("월요일", "hangul"),
    ("회의", "hangul"),
    ("🚀", "emoji"),
    ("辛苦", "emoji"),
]


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
@pytest.mark.parametrize(("query", "name"), WORDS)
async def test_a_word_finds_the_memory_that_holds_it_in_any_form(
    chinese: Asked, query: str, name: str, mode: str
) -> None:
    assert (await chinese(query, mode=mode))[:1] == [name]


@pytest.mark.parametrize("query", ["狗", "身用", "日身", "份身户用"])
async def test_characters_in_another_order_are_no_word_of_the_memory(chinese: Asked, query: str) -> None:
    assert await chinese(query, mode="keyword") == []


ACROSS = [
    ("什么时候部署到生产环境？", "english"),
    ("星期几发布到线上", "english"),
    ("会计要哪些发票？", "invoice"),
    ("Who takes care of new colleagues on their first day?", "chinese"),
    ("Which tea does the account manager drink?", "tea"),
    ("What to do when the printer has a paper jam?", "printer"),
    ("Will it rain at the weekend?", "weather"),
    ("她的宠物怎么样了？", "one"),
    ("數據多久備份一次？", "traditional"),
]


@pytest.mark.parametrize(("query", "name"), ACROSS)
async def test_a_question_finds_its_answer_in_the_other_language(
    chinese: Asked, query: str, name: str
) -> None:
    assert name in (await chinese(query))[:2]


async def test_a_tag_and_a_project_in_chinese_filter_and_find(server: Servers, era: str) -> None:
    async with server(mode=era) as client:
        memory = {"content": "每周五演示", "type": "decision", "project": "项目甲", "tags": ["会议"]}
        id = (await call(client, "memory_store", **memory))["id"]
        for wanted in ({"project": "项目甲"}, {"tags": ["会议"]}, {}):
            found = await call(client, "memory_search", query="演示", **wanted)
            assert [hit["id"] for hit in found["results"]] == [id]
        assert (await call(client, "memory_search", query="会议", mode="keyword"))["results"][0]["id"] == id
        assert (await call(client, "memory_search", query="演示", project="项目乙"))["results"] == []
