"""Words for the names and the values of arguments, in English, Chinese, German, French and Spanish."""

from collections.abc import Mapping

from memory_server.language.text import by_word

NAMES: Mapping[str, str] = by_word(
    {
        "content": "内容 正文 文本 文字 记忆 inhalt contenu texte contenido texto",
        "kind": "类型 类别 种类 分类 typ typen art arten kategorie genre catégorie tipo tipos categoría",
        "tags": "标签 标记 schlagwörter schlagworte stichwörter stichworte étiquettes etiquetas",
        "importance": "重要性 重要度 重要程度 优先级 wichtigkeit bedeutung priorität priorité prioridad importancia",
        "project": "项目 工程 projekt projet proyecto",
        "date": "日期 发生时间 datum fecha",
        "time": "时间 时刻 zeit uhrzeit zeitpunkt heure hora",
        "when": "何时 什么时候 提醒时间 wann quand cuándo cuando",
        "question": "问题 提问 查询 搜索 关键词 搜索词 frage anfrage suche suchbegriff requête "
        "recherche pregunta consulta búsqueda",
        "limit": "数量 限制 条数 个数 上限 最多 anzahl grenze höchstzahl maximal limite límite cantidad",
        "from": "从 自 起 开始 开始日期 起始 von seit ab depuis dès desde",
        "to": "到 至 截止 结束 结束日期 截止日期 bis nach jusque jusquà hasta",
        "what": "什么 was quoi qué",
        "key": "键 键名 schlüssel clé clef clave",
        "name": "名称 名字 nom nombre bezeichnung",
        "value": "值 数值 wert valeur valor",
        "ttl": "有效期 过期时间 期限 gültigkeit gültig gültigkeitsdauer durée duración",
        "scope": "范围 作用域 bereich geltungsbereich portée ámbito",
        "reminder": "提醒 提醒内容 事项 erinnerung rappel recordatorio",
        "message": "消息 信息 nachricht mensaje",
        "messages": "消息列表 对话 nachrichten mensajes",
        "summary": "摘要 总结 概要 zusammenfassung résumé resumen",
        "facts": "事实 fakten faits hechos",
        "id": "编号 序号 记忆编号 nummer numéro número kennung identifiant",
        "supersedes": "取代 替代 替换 ersetzt remplace reemplaza",
        "source": "来源 源 起点 quelle origine origen",
        "target": "目标 终点 ziel cible destino",
        "relation": "关系 beziehung verbindung relación",
        "depth": "深度 层数 tiefe profondeur profundidad",
        "mode": "模式 modus modo",
        "pattern": "模板 muster motif patrón",
        "prompt": "提示 提示词 hinweis consigne",
        "trigger": "触发器 触发条件 条件 auslöser déclencheur condición",
        "history": "历史 版本 verlauf historique historial",
        "path": "路径 目录 文件夹 pfad ordner verzeichnis chemin dossier ruta carpeta",
        "conversation": "会话 gespräch unterhaltung conversación",
        "metadata": "元数据 metadaten métadonnées metadatos",
    }
)
"""Names in other languages, as `fold` writes them."""

VALUES: Mapping[str, str] = by_word(
    {
        "observation": "观察 笔记 备注 记录 beobachtung notiz anmerkung remarque observación nota",
        "fact": "事实 fakt tatsache fait hecho",
        "decision": "决定 决策 entscheidung beschluss décision decisión",
        "preference": "偏好 喜好 vorliebe präferenz préférence preferencia",
        "error": "错误 故障 fehler erreur faute",
        "problem": "问题 problème problema",
        "learning": "经验 学习 知识 erkenntnis lehre leçon lección aprendizaje",
        "pattern": "规律 模式 规则 muster regel règle regla patrón",
        "memory": "记忆 erinnerung mémoire souvenir memoria",
        "turn": "对话 轮次 gespräch",
        "woken": "提醒",
        "all": "全部 所有 一切 alle alles tout tous toutes todos todas",
        "high": "hoch élevé élevée haute alto alta",
        "low": "niedrig gering faible bas basse bajo baja",
        "medium": "mittel moyen moyenne medio media",
        "very high": "sehrhoch trèshaute trèsélevé muyalta",
        "global": "全局 用户 benutzer utilisateur usuario",
        "project": "项目 projekt projet proyecto",
        "session": "会话 sitzung sesión",
        "shared": "共享 geteilt gemeinsam partagé compartido",
        "semantic": "语义 semantisch sémantique semántico semántica",
        "keyword": "关键词 stichwort motclé",
        "related to": "相关 verwandt lié relacionado",
        "causes": "导致 引起 verursacht bewirkt cause causa",
        "solves": "解决 löst résout resuelve",
        "depends on": "依赖 取决于 hängtabvon abhängigvon dépendde dependede",
        "contradicts": "矛盾 widerspricht contredit contradice",
        "extends": "扩展 erweitert étend extiende",
        "supersedes": "取代 替代 ersetzt remplace reemplaza",
        "out": "出 ausgehend sortant saliente",
        "in": "入 eingehend entrant entrante",
        "both": "双向 beide deux ambos",
    }
)
"""Values of closed sets in other languages."""

SAME_VALUE: Mapping[str, Mapping[str, str]] = {
    parameter: by_word(words)
    for parameter, words in {
        "type": {
            "observation": "fact note notes info information context statement knowledge general other "
            "memory data reference summary",
            "decision": "choice architecture adr agreement plan",
            "learning": "lesson insight discovery tip howto knowhow takeaway finding",
            "error": "bug issue problem fix bugfix solution failure incident warning pitfall gotcha",
            "pattern": "rule convention habit workflow procedure process routine policy practice guideline standard",
            "preference": "like dislike taste opinion",
        },
        "direction": {
            "out": "outgoing outbound forward from",
            "in": "incoming inbound backward to",
            "both": "any all either",
        },
        "relation": {
            "supersedes": "replaces replace updates overrides",
            "solves": "fixes resolves answers",
            "depends_on": "requires needs uses",
            "related_to": "relates_to related links_to connected_to similar_to associated_with",
            "contradicts": "conflicts_with opposes disagrees_with",
            "causes": "leads_to results_in triggers",
            "example_of": "is_a instance_of",
            "extends": "elaborates refines details adds_to",
            "summarizes": "sums_up",
        },
        "kinds": {
            "woken": "prompt reminder long_term long_term_memory trigger",
            "turn": "conversation message chat",
            "short_term": "short_term_memory short",
            "fact": "key value",
        },
        "order": {"new": "newest recent date created latest", "name": "alphabetical"},
        "scope": {
            "global": "user everywhere personal",
            "project": "local workspace repo",
            "shared": "team",
            "session": "chat",
        },
        "mode": {
            "semantic": "vector embedding meaning similarity dense",
            "keyword": "fulltext text words exact bm25 lexical fts",
            "hybrid": "auto both default mixed",
        },
    }.items()
}
"""Words that mean only one value of a closed set, or come nearest to it: a note tells how they were read."""

EVERY = frozenset({"all", "any", "every", "everything", "max", "maximum", "unlimited", "nolimit"})
"""Words for a filter that shall let everything pass, as `fold` writes them."""
