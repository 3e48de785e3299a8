// Installed by `entire enable`. It passes the events of a session on to `entire hooks AGENT`, and
// gives the agent the context that the program returns. It does nothing else.
import { spawn } from "node:child_process"

const limit = 20_000 // milliseconds

function start(verb, payload) {
  return new Promise((done) => {
    let out = ""
    const child = spawn("entire", ["hooks", "AGENT", verb, MORE], { stdio: ["pipe", "pipe", "ignore"], timeout: limit })
    child.on("error", () => done("{}"))
    child.on("close", () => done(out || "{}"))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (out += data))
    child.stdin.end(JSON.stringify(payload))
  })
}

// One after another, in the order of the events. What the program returns is never an error.
let last = Promise.resolve()
function run(verb, payload) {
  const result = last.then(async () => {
    try {
      return JSON.parse(await start(verb, await payload()))
    } catch {
      return {}
    }
  })
  last = result
  return result
}
