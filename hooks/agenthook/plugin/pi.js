
export default function (pi) {
  let context = [] // of the session
  const on = (event, verb, fields) =>
    pi.on(event, async (e, ctx) => {
      const more = fields(e)
      if (!more) return
      const { additionalContext } = await run(verb, () => ({
        session_id: ctx.sessionManager?.getSessionId?.(),
        transcript_path: ctx.sessionManager?.getSessionFile?.() ?? "",
        cwd: ctx.cwd,
        ...more,
      }))
      if (additionalContext) context.push(additionalContext)
    })
  const cleared = (reason) => (reason === "new" ? "clear" : reason)

  on("session_start", "session-start", (e) => {
    context = []
    return { source: cleared(e.reason) ?? "startup" }
  })
  on("input", "user-prompt-submit", (e) => (e.source === "extension" ? null : { prompt: e.text ?? "" }))
  const lines = new Map() // by the tool call to whose result they are added
  pi.on("tool_call", async (e, ctx) => {
    if (!["edit", "write", "bash"].includes(e.toolName)) return
    const { additionalContext } = await run("pre-tool", () => ({
      session_id: ctx.sessionManager?.getSessionId?.(), cwd: ctx.cwd, tool_input: e.input,
    }))
    if (additionalContext) lines.set(e.toolCallId, additionalContext)
  })
  pi.on("tool_result", async (e) => {
    const text = lines.get(e.toolCallId)
    lines.delete(e.toolCallId)
    if (text) return { content: [...(e.content ?? []), { type: "text", text }] }
  })
  on("agent_end", "stop", () => ({}))
  on("session_before_compact", "pre-compact", () => ({ trigger: "manual" }))
  on("session_compact", "post-compact", (e) => ({ compact_summary: e.compactionEntry?.summary ?? "" }))
  on("session_shutdown", "session-end", (e) => ({ reason: cleared(e.reason) ?? "other" }))
  // In the system prompt, as a message would come after the user's. It counts for one turn.
  pi.on("before_agent_start", async (e) => {
    if (context.length > 0) return { systemPrompt: [e.systemPrompt, ...context].join("\n\n") }
  })
}
