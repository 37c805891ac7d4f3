import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { join, resolve } from "node:path"

const COMMANDS = @COMMANDS@

// The tools that act on the user's machine.
const ACTS = new Set(["bash", "read", "edit", "write"])

// The file in which opencode keeps its sessions.
const DATA = join(process.env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "opencode")
const DATABASE = resolve(DATA, process.env.OPENCODE_DB || "opencode.db")

// Runs a hook; gives its answer, an empty one where it fails or takes longer than @SECONDS@ seconds.
function answered(event, input) {
  const command = COMMANDS[event]
  if (!command) return Promise.resolve({})
  return new Promise((resolve) => {
    const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill(), @SECONDS@ * 1000)
    let out = ""
    child.stdout.on("data", (data) => (out += data))
    child.on("error", () => resolve({}))
    child.on("close", () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(out).hookSpecificOutput)
      } catch {
        resolve({})
      }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(input))
  })
}

// Runs a hook; gives what it would have the model know.
const hook = async (event, input) => (await answered(event, input)).additionalContext ?? ""

export const MemoryServer = async ({ directory }) => {
  const started = new Set()
  const prompts = new Map()
  const replies = new Map()
  const notes = new Map()
  return {
    // What is said before and after an act is put behind what its tool returns: the model reads both in one request.
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      if (!ACTS.has(tool)) return
      const input = { session_id: sessionID, cwd: directory, tool_name: tool, tool_input: args }
      const { permissionDecision, permissionDecisionReason, additionalContext } = await answered("PreToolUse", input)
      if (permissionDecision) throw new Error(permissionDecisionReason)
      notes.set(callID, { input, said: additionalContext })
    },
    "tool.execute.after": async ({ callID }, output) => {
      const note = notes.get(callID)
      if (!note) return
      notes.delete(callID)
      const tool_response = { output: output.output, metadata: { exit: output.metadata?.exit } }
      const after = "command" in note.input.tool_input ? await hook("PostToolUse", { ...note.input, tool_response }) : ""
      output.output = [output.output, note.said, after].filter(Boolean).join("\n\n")
    },
    "chat.message": async (input, output) => {
      const session_id = input.sessionID
      const said = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = said.map((part) => part.text).join("\n")
      prompts.set(session_id, prompt)
      const contexts = []
      if (!started.has(session_id)) {
        started.add(session_id)
        contexts.push(await hook("SessionStart", { session_id, cwd: directory, source: "startup" }))
      }
      contexts.push(await hook("UserPromptSubmit", { session_id, cwd: directory, prompt }))
      const text = contexts.filter(Boolean).join("\n\n")
      const last = said[said.length - 1]
      if (text && last) output.parts.push({ ...last, id: last.id + "m", text, synthetic: true })
    },
    event: async ({ event }) => {
      if (event.type === "message.part.updated" && event.properties.part.type === "text") {
        replies.set(event.properties.part.sessionID, event.properties.part.text)
      } else if (event.type === "session.idle") {
        const session_id = event.properties.sessionID
        const transcript_path = join(DATABASE, session_id)
        const input = { session_id, cwd: directory, transcript_path, prompt: prompts.get(session_id) }
        await hook("Stop", { ...input, last_assistant_message: replies.get(session_id) })
      } else if (event.type === "session.compacted") {
        await hook("SessionStart", { session_id: event.properties.sessionID, cwd: directory, source: "compact" })
      }
    },
  }
}
