
const writers = ["edit", "write", "apply_patch", "bash"]
const most = 12_000_000 // characters; the program reads no more than 16 MiB

export const Entire = async ({ client, directory }) => {
  const parents = new Map() // of the sessions of subagents
  const sessions = new Map() // the others that had a prompt in this process
  const lines = new Map() // by the tool call to whose result they are added

  const root = async (id) => {
    if (sessions.has(id)) return id
    if (!parents.has(id)) parents.set(id, (await client.session.get({ path: { id } }).catch(() => ({}))).data?.parentID)
    return parents.get(id) ? root(parents.get(id)) : id
  }
  const messages = async (id, stored) => {
    const list = (await client.session.messages({ path: { id } }).catch(() => ({}))).data ?? []
    let size = 0
    const isDone = (m) => m.info.id === stored || (size += JSON.stringify(m).length) > most
    return list.slice(list.findLastIndex(isDone) + 1)
  }
  // hook passes an event of a session on, with the messages that the program doesn't have.
  const hook = async (id, verb, fields) => {
    const session = sessions.get(id) ?? {}
    const { additionalContext, stored } = await run(verb, async () => ({
      session_id: id, cwd: directory, messages: await messages(id, session.stored), ...(await fields),
    }))
    if (stored) session.stored = stored
    if (additionalContext) session.context.push(additionalContext)
  }
  // task passes an event of a subagent on, whose session is id.
  const task = async (id, verb, fields) =>
    run(verb, async () => ({
      session_id: await root(id), cwd: directory, agent_id: id, messages: await messages(id), ...fields,
    }))

  const begin = async (id, prompt) => {
    const earlier = (await messages(id)).filter((m) => m.info.id !== prompt)
    const others = [...sessions.values()]
    const source = earlier.length > 0 ? "resume" : others.length > 0 && !others.some((s) => s.busy) ? "clear" : "startup"
    sessions.set(id, { context: [] })
    await hook(id, "session-start", { source })
  }
  const events = {
    "session.created": async ({ info }) => info.parentID && parents.set(info.id, info.parentID),
    "session.idle": async ({ sessionID }) => {
      const session = sessions.get(sessionID)
      if (!session?.busy) return // a subagent's, or after a compaction
      session.busy = false
      await hook(sessionID, "stop", {})
    },
    "session.compacted": async ({ sessionID }) => {
      const summary = async () => (await messages(sessionID)).findLast((m) => m.info.summary === true)
      const text = (m) => m?.parts.map((p) => p.text ?? "").join("") ?? ""
      if (sessions.has(sessionID)) await hook(sessionID, "post-compact", { compact_summary: text(await summary()) })
    },
  }
  return {
    event: async ({ event }) => events[event.type]?.(event.properties),
    "chat.message": async ({ sessionID }, { message, parts }) => {
      if ((await root(sessionID)) !== sessionID) return
      if (!sessions.has(sessionID)) await begin(sessionID, message.id)
      sessions.get(sessionID).busy = true
      const said = parts.filter((p) => p.type === "text" && !p.synthetic && !p.ignored)
      await hook(sessionID, "user-prompt-submit", { prompt: said.map((p) => p.text).join("\n") })
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const verb = tool === "task" ? "pre-task" : writers.includes(tool) ? "pre-tool" : ""
      if (!verb) return
      const { additionalContext } = await run(verb, async () => ({
        session_id: await root(sessionID), cwd: directory, tool_use_id: callID, tool_input: args,
      }))
      if (additionalContext) lines.set(callID, additionalContext)
    },
    "tool.execute.after": async ({ tool, callID, args }, result) => {
      if (lines.has(callID) && typeof result.output === "string") result.output += "\n\n" + lines.get(callID)
      lines.delete(callID)
      const { metadata } = result
      if (tool !== "task" || !metadata?.sessionId) return
      await task(metadata.sessionId, "post-task", {
        tool_use_id: callID, tool_input: args, tool_response: { agentId: metadata.sessionId },
      })
    },
    "shell.env": async ({ sessionID }, { env }) => {
      if (sessionID) env.OPENCODE_SESSION_ID = await root(sessionID)
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      system.push(...(sessions.get(sessionID)?.context ?? []))
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      if (sessions.has(sessionID)) await hook(sessionID, "pre-compact", { trigger: "manual" })
    },
    dispose: async () => {
      for (const id of sessions.keys()) await hook(id, "session-end", { reason: "other" })
    },
  }
}
