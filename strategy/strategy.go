// Package strategy defines the order of the steps at each event of an agent and of git. The packages
// below it execute them; docs/architecture.md lists these.
package strategy
