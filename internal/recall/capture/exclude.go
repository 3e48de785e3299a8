package capture

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/recall"
)

// byName returns why a file's content is not kept because of its path, "" if it may be.
func (w *capturing) byName(name string) recall.Omitted {
	switch {
	case slices.Contains(w.Limits.Forgotten, name):
		return recall.Forgotten
	case isSecretFile(name):
		return recall.Secret
	case w.exclude.File(name):
		return recall.Excluded
	}
	return ""
}

// isSecretFile reports whether a path is one of keys, passwords or environments of
// programs, and not an example of such a file.
func isSecretFile(name string) bool {
	dir, base := path.Split(strings.ToLower(name))
	if isExample(base) {
		return false
	}
	if strings.HasPrefix(base, ".env") && (len(base) == 4 || strings.IndexByte("._-", base[4]) >= 0) || strings.HasPrefix(base, "id_") && isKeyName(base) {
		return true
	}
	switch path.Ext(base) {
	case ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".p8", ".asc", ".gpg", ".age", ".tfvars", ".tfstate", ".ovpn", ".env":
		return true
	}
	switch base {
	case ".netrc", "_netrc", ".pgpass", ".my.cnf", ".htpasswd", ".git-credentials", ".npmrc", ".pypirc", ".dockercfg", ".boto", ".s3cfg",
		".envrc", "credentials", "credentials.json", "credentials.yml", "credentials.yaml", "credentials.toml", "credentials.xml",
		"credentials.ini", "credentials.csv", "secrets.json", "secrets.yml", "secrets.yaml", "secrets.toml", "secrets.env",
		"service-account.json", "service_account.json", "client_secret.json", "master.key", "kubeconfig", "terraform.tfstate.backup",
		".vault-token", ".vault_pass", "shadow":
		return true
	}
	for _, folder := range []string{".ssh/", ".aws/", ".gnupg/", ".azure/", ".kube/"} {
		if dir == folder || strings.HasSuffix(dir, "/"+folder) || strings.HasPrefix(dir, folder) {
			return true
		}
	}
	return strings.HasSuffix(dir, ".docker/") && base == "config.json"
}

// isKeyName reports whether a name is one that ssh gives to private keys.
func isKeyName(base string) bool {
	for _, kind := range []string{"rsa", "dsa", "ecdsa", "ed25519", "ecdsa_sk", "ed25519_sk", "xmss"} {
		if base == "id_"+kind {
			return true
		}
	}
	return false
}

// isExample reports whether a name is that of an example of another file.
func isExample(base string) bool {
	for _, word := range []string{"example", "sample", "template", "dist", "defaults"} {
		if strings.HasSuffix(base, "."+word) || strings.HasSuffix(base, "-"+word) || strings.Contains(base, "."+word+".") {
			return true
		}
	}
	return false
}

// isBuildFolder reports whether builds or package managers create folders of that name.
func isBuildFolder(name string) bool {
	switch strings.ToLower(name) {
	case "node_modules", "bower_components", "jspm_packages", "vendor", "pods", "site-packages",
		"dist", "build", "target", "deriveddata", "coverage", "htmlcov",
		".next", ".nuxt", ".svelte-kit", ".output", ".turbo", ".parcel-cache", ".angular", ".vite", ".cache", ".eggs",
		"__pycache__", ".venv", "venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache",
		".gradle", ".terraform", ".dart_tool", ".stack-work", "_build", "elm-stuff", "zig-cache", ".zig-cache", ".build":
		return true
	}
	return strings.HasSuffix(name, ".egg-info")
}
