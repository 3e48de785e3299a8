package bands

// Thin is what a policy has no place for by age or number.
func Thin(snaps []Snapshot, p Policy, kept ...Version) []Version {
	needed := map[Version]bool{}
	for _, v := range kept {
		needed[v] = true
	}
	return thin(snaps, ranks(snaps, p.Now, needed), p)
}
