// Command agentfs takes snapshots of whole working trees and restores them.
package main

import (
	"os"

	"github.com/seed-3aff656d/entire/cmd/internal/cli"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
)

var version = "dev" // set by the linker

func main() {
	os.Exit(app.Run(version, cli.MainFS))
}
