-- Hooks say and keep something around acts too: before a tool runs, after it, and after it has failed.
ALTER TABLE hook_injections DROP CONSTRAINT hook_injections_event_check;
ALTER TABLE hook_injections ADD CONSTRAINT hook_injections_event_check CHECK (
    event IN ('SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure')
);
ALTER TABLE hook_captures DROP CONSTRAINT hook_captures_event_check;
ALTER TABLE hook_captures ADD CONSTRAINT hook_captures_event_check CHECK (
    event IN ('Stop', 'PreCompact', 'SessionEnd', 'PostToolUse')
);
