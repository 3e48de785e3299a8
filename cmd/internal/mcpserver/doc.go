// Package mcpserver offers the saved contexts of a repository to an agent over the Model
// Context Protocol. It also asks the person whether to keep a checkpoint before /clear,
// which the agent's hooks can't do. docs/formats/mcp.md is the contract.
package mcpserver
