"""Words what mends a failure for a model: which tool to call, or what to ask the user for."""

from memory_server.errors import Mend

WORDS = {
    Mend.FIND_MEMORY: "Call `recall` to find the id.",
    Mend.FIND_TURN: "Call `recall` with kinds turn to find the id.",
    Mend.NAME_MEMORY_FIELDS: "Give at least one of content, type, tags, importance, project, metadata.",
    Mend.NAME_LONG_TERM_FIELDS: "Give at least one of trigger, prompt, updatedContext.",
    Mend.NAME_NEIGHBOURS: "Set includeGraph or includeSemantic to true.",
    Mend.SHOW_EDGES: "Call `graph_explore` with memoryId={memory} to see the valid edges.",
    Mend.END_SUPERSEDING: "Call `graph_explore` with memoryId={memory}, relation=supersedes, direction=in to see the "
    "edge. If it is wrong, call `graph_connect` with the edge's sourceId, targetId, relation and end=true.",
    Mend.LIST_FACTS: "Call `read_memory` without a key to see the keys.",
    Mend.SHOW_FACT_HISTORY: "Call `read_memory` with key={key} and history=true to see what happened to it.",
    Mend.WRITE_AT_VERSION: "To replace this value, call `write_memory` again with expectedVersion={version}.",
    Mend.LIST_SHORT_TERM_CONVERSATIONS: "Call `get_memory_stats` without conversation_id "
    "to see which conversations have some.",
    Mend.LIST_LONG_TERM: "Call `list_long_term_memories` with conversation_id={conversation} to see all.",
    Mend.LIST_RULES: "The user can list them: memory-server rules.",
    Mend.UPDATE_LONG_TERM: "Call `update_long_term_memory` to replace its prompt or trigger, or choose another name.",
    Mend.LIST_CHANGES: "The user can run `memory-server log`, which shows what happened.",
    Mend.UNDO_TOGETHER: "The user can undo all of them together: memory-server undo.",
    Mend.LIST_PROJECTS: "`memory_stats` lists them.",
    Mend.LIST_TOKENS: "The user can list them: memory-server token list.",
    Mend.USE_ANOTHER_PORT: "The user can name another port with --http.",
    Mend.ADD_TOKEN: "The user can make one: memory-server token add NAME --project PROJECT.",
    Mend.STORE_BESIDE: "Store it as a memory of its own; the user confirms it with `memory-server review`.",
    Mend.SETTLE_DISPUTE: "If {old} is outdated: `graph_connect` with sourceId={new}, targetId={old}, "
    "relation=supersedes. If both are right: `graph_connect` with sourceId={source}, targetId={target}, "
    "relation=contradicts, end=true.",
    Mend.FOLLOW_GROUND: "If it holds no more: `memory_store` what holds now with supersedes={id}.",
    Mend.DELETE_DUPLICATE: "`memory_delete` with id={id}.",
    Mend.CLOSE_TASK: "If it is done: `delete_memory` with key={key}, scope={scope}. "
    "If not: `write_memory` with key={key}, scope={scope} and its present state.",
    Mend.ANSWER_QUESTION: "If the user or the files answer it: `memory_store`. That takes it from the list.",
    Mend.MEND_TRIGGER: "Try it with `test_trigger`, then `update_long_term_memory` with name={name}, "
    "conversation_id={conversation}; or `delete_long_term_memory` with the same.",
    Mend.SWITCH_RULE: "The user switches it off: `memory-server rules off '{name}'`.",
    Mend.JOIN_PROJECTS: "The user can put both together: memory-server projects join FROM INTO.",
    Mend.ALLOW_SECRETS: "To store it anyway, the user must start memory-server with --allow-secrets.",
    Mend.CHECK_FILE: "The user can run `memory-server doctor`: it reports what is wrong.",
    Mend.USE_ANOTHER_FILE: "The user can start memory-server with --db and another path.",
    Mend.PUT_FILE_BACK: "Tell the user. To go on, the user must move the file back to {path}, or start memory-server "
    "with --db and the path of the file.",
    Mend.NAME_FORMAT: "The user can name the format with `memory-server import --from`.",
    Mend.EXPORT_FIRST: "The user can export it with the program that wrote it, and import that.",
    Mend.MERGE_FILE: "The user can add its content with `memory-server merge`.",
    Mend.IMPORT_FILE: "The user can import files of other programs with `memory-server import`.",
    Mend.NAME_BACKUP: "The user can name a file that `memory-server backup` has written.",
    Mend.FREE_IDS: "The user can note what that row says, then run in the sqlite3 program: "
    "DELETE FROM {table} WHERE id = {id}; DELETE FROM sqlite_sequence WHERE name = '{table}'",
    Mend.REMOVE_FOREIGN_SQL: "The user can remove it with `memory-server doctor --fix`.",
    Mend.RESTORE: "Tell the user: copy the file away, then restore a backup. Without one, `memory-server "
    "rescue FILE` saves what can still be read.",
    Mend.RESTORE_NEWEST: "Tell the user to restore the newest backup: memory-server restore {backup}",
    Mend.USE_SAME_EMBEDDER: "The user can start memory-server with the same --embedder as the other window.",
    Mend.USE_ANOTHER_EMBEDDER: "The user can start memory-server with --embedder and a sentence-transformers folder, "
    "a model that has been downloaded, or another embedder.",
    Mend.NAME_ENDPOINT_MODEL: "To use it, the user must start memory-server with --embedder openai:{model} and, unless "
    "the model is OpenAI's own, with --embedder-url.",
    Mend.CHECK_ENDPOINT: "The user can check that it runs, that it has the model of --embedder, and the address of "
    "--embedder-url: most end with /v1.",
    Mend.SET_ENDPOINT_KEY: "The user must set the environment variable MEMORY_SERVER_EMBEDDER_KEY to the key, or "
    "OPENAI_API_KEY for OpenAI's own service.",
    Mend.ENCRYPT_ENDPOINT: "The user must name an https address with --embedder-url, or take away "
    "MEMORY_SERVER_EMBEDDER_KEY.",
    Mend.WAIT_FOR_ENDPOINT: "Wait {seconds} s: then it is asked again. If that goes on, the user can raise its quota "
    "or rate limit.",
    Mend.CHECK_RERANKER: "The user can check --reranker, --reranker-url and --reranker-seconds, the variable "
    "MEMORY_SERVER_RERANKER_KEY, and that it runs.",
    Mend.MEND_DICTIONARY: "The user can correct the file of --dictionary (a line: WORD, WORD WEIGHT or WORD WEIGHT "
    "TAG) or of --stop-words (a line: a word).",
    Mend.INSTALL_EXTRA: "The user can install it with: {command}",
    Mend.INSTALL_ENGINE: "The user can install it: pip install quickjs-ng. For macOS on Intel it has no wheel: pip "
    "compiles it there, which needs the command line tools of Xcode.",
    Mend.REINSTALL_ENGINE: "The user can install it again: pip uninstall quickjs-ng, then pip install quickjs-ng.",
    Mend.COPY_AGAIN: "The user can run `memory-server copy` again: it goes on.",
    Mend.EMPTY_TARGET: "The user can name another target of `memory-server copy`.",
    Mend.MEND_SOURCE: "The user can change that row in the source of the copy.",
    Mend.UPGRADE: "The user must upgrade memory-server, then restart it.",
    Mend.TRY_AGAIN: "Then call again.",
    Mend.LOOK_FIRST: "Check whether it is stored before you write it again.",
    Mend.IMPORT_AGAIN: "The user can run the same command again: it adds only what is missing.",
}
