// Command entire-cli has the commands of entire that neither git nor an agent waits for; entire
// executes it.
package main

import (
	"os"

	"github.com/seed-3aff656d/entire/cmd/internal/cli"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
)

var version = "dev" // set by the linker

func main() {
	os.Exit(app.Run(version, cli.Main))
}
