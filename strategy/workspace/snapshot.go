package workspace

// BandOptions are the settings of snapshots.
type BandOptions struct {
	Enabled bool
	Exclude []string
	// Cap and Floor are bytes, 0 for the default of the file system.
	Cap, Floor int64
}

// AgentName is how the agent is named in causality and on command lines.
const AgentName = "claude-code"
