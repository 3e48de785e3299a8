package testkit

import "strings"

// Secret returns a made-up access token in the format of a well-known provider. It is assembled
// here so that no file of the project looks like a leak.
func Secret() string {
	return strings.Join([]string{"gh", "p", "_", "wK3mZq8R", "t1VbN6yX", "c9LdH2sP", "f7JgT4uE", "o5Qa"}, "")
}

// AWSSecret returns one that another rule matches.
func AWSSecret() string {
	return strings.Join([]string{"AK", "IA", "Q3EG", "WZ5L", "7TNB", "2XKD"}, "")
}
