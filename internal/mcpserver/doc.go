// Package mcpserver offers the saved contexts of a repository to an agent
// over the Model Context Protocol, and asks the person what the agent's hooks
// can't: whether to keep a checkpoint before /clear. docs/formats/mcp.md is the
// contract.
package mcpserver
