package contextstore

import (
	"path"
	"strings"
)

// isSecretFile reports whether a path is that of a file with keys, passwords or environment
// variables, and not an example of such a file.
func isSecretFile(name string) bool {
	dir, base := path.Split(strings.ToLower(name))
	for _, word := range []string{"example", "sample", "template", "dist", "defaults"} {
		if strings.HasSuffix(base, "."+word) || strings.HasSuffix(base, "-"+word) || strings.Contains(base, "."+word+".") {
			return false
		}
	}
	if strings.HasPrefix(base, ".env") && (len(base) == 4 || strings.IndexByte("._-", base[4]) >= 0) {
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
		".vault-token", ".vault_pass", "shadow",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "id_xmss":
		return true
	}
	for _, folder := range []string{".ssh/", ".aws/", ".gnupg/", ".azure/", ".kube/"} {
		if dir == folder || strings.HasSuffix(dir, "/"+folder) || strings.HasPrefix(dir, folder) {
			return true
		}
	}
	return strings.HasSuffix(dir, ".docker/") && base == "config.json"
}

// isBuildFolder reports whether name is one of the folders that builds or package managers
// create.
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
