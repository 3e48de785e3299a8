// Installed by `entire enable`. It passes the events of a session on to `entire hooks pi`, and
// gives the agent the context that the program returns. It does nothing else.
import { spawn } from "node:child_process"

const limit = 20_000 // milliseconds

function run(verb, payload) {
  return new Promise((done) => {
    let out = ""
    const child = spawn("entire", ["hooks", "pi", verb], { stdio: ["pipe", "pipe", "ignore"], timeout: limit })
    child.on("error", () => done(""))
    child.on("close", () => done(out))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (out += data))
    child.stdin.end(JSON.stringify(payload))
  })
}

export default function (pi) {
  let context = [] // of the session
  const on = (event, verb, fields) =>
    pi.on(event, async (e, ctx) => {
      const more = fields(e)
      if (!more) return
      const out = await run(verb, {
        session_id: ctx.sessionManager?.getSessionId?.(),
        transcript_path: ctx.sessionManager?.getSessionFile?.() ?? "",
        cwd: ctx.cwd,
        ...more,
      })
      try {
        const text = JSON.parse(out).additionalContext
        if (text) context.push(text)
      } catch {}
    })
  const cleared = (reason) => (reason === "new" ? "clear" : reason)

  on("session_start", "session-start", (e) => {
    context = []
    return { source: cleared(e.reason) ?? "startup" }
  })
  on("input", "user-prompt-submit", (e) => (e.source === "extension" ? null : { prompt: e.text ?? "" }))
  on("agent_end", "stop", () => ({}))
  on("session_before_compact", "pre-compact", () => ({ trigger: "manual" }))
  on("session_compact", "post-compact", (e) => ({ compact_summary: e.compactionEntry?.summary ?? "" }))
  on("session_shutdown", "session-end", (e) => ({ reason: cleared(e.reason) ?? "other" }))
  // In the system prompt, as a message would come after the user's. It counts for one turn.
  pi.on("before_agent_start", async (e) => {
    if (context.length > 0) return { systemPrompt: [e.systemPrompt, ...context].join("\n\n") }
  })
}
