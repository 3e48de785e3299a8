package redact

import "bytes"

// ownRule is a rule that gitleaks doesn't have. Its matcher is called for each
// place of one of its literals; [at, end) is the literal. It returns the span of
// the secret, or an empty span. It may read a bounded part of the text only, or
// parts that are disjoint for different places.
type ownRule struct {
	id    string
	match func(text []byte, at, end int) span
}

// ownRules are the rules by number.
var ownRules = [...]ownRule{ //nolint:gochecknoglobals // read-only table, laid out by the linker
	ruleName:     {"named-secret", namedSecret},
	ruleURL:      {"url-password", urlPassword},
	ruleDSN:      {"dsn-password", dsnPassword},
	ruleHeader:   {"authorization-header", authorization},
	ruleBearer:   {"bearer-token", bearerToken},
	ruleBasic:    {"basic-auth", basicAuth},
	ruleCookie:   {"cookie", cookie},
	ruleKeyHead:  {"private-key-without-end", keyAfterHead},
	ruleKeyTail:  {"private-key-without-begin", keyBeforeTail},
	rulePutty:    {"putty-private-key", puttyKey},
	ruleOTP:      {"otpauth-url", otpSecret},
	ruleCommand:  {"command-password", commandPassword},
	rulePgpass:   {"pgpass", pgpassPassword},
	ruleToken:    {"vendor-token", vendorToken},
	ruleFCM:      {"fcm-server-key", fcmKey},
	ruleWebhook:  {"webhook-url", webhookURL},
	ruleMnemonic: {"mnemonic", mnemonic},
	ruleValue:    {"named-value", namedValue},
	// These are tried at runs of digits of base64, see baseParts.
	ruleRandomEnv: {"random-variable", randomVariable},
	ruleDiscord:   {"discord-bot-token", discordToken},
}

const (
	ruleName = iota
	ruleURL
	ruleDSN
	ruleHeader
	ruleBearer
	ruleBasic
	ruleCookie
	ruleKeyHead
	ruleKeyTail
	rulePutty
	ruleOTP
	ruleCommand
	rulePgpass
	ruleToken
	ruleFCM
	ruleWebhook
	ruleMnemonic
	ruleValue
	ruleRandomEnv
	ruleDiscord
)

// ownLiteral is a text, in lower case, at which a rule is tried.
type ownLiteral struct {
	text string
	rule uint8
}

var ownLiterals = [...]ownLiteral{ //nolint:gochecknoglobals // read-only table, laid out by the linker
	// Parts of names: classify decides about the whole name.
	{"pass", ruleName},
	{"pwd", ruleName},
	{"secret", ruleName},
	{"token", ruleName},
	{"pin", ruleName},
	{"key", ruleName},
	{"salt", ruleName},
	{"licen", ruleName},
	{"cred", ruleName},
	{"auth=", ruleName},
	{`auth"`, ruleName},
	{"auth'", ruleName},
	{"_auth", ruleName},
	{"psk", ruleName},
	{"dsn", ruleName},

	{`value"`, ruleValue},
	{"value:", ruleValue},

	{"://", ruleURL},
	{"@tcp(", ruleDSN},
	{"@unix(", ruleDSN},
	{"authorization", ruleHeader},
	{"bearer ", ruleBearer},
	{"basic ", ruleBasic},
	{"cookie", ruleCookie},
	{"private key-----", ruleKeyHead},
	{"private key block-----", ruleKeyHead},
	{"-----end ", ruleKeyTail},
	{"private-lines:", rulePutty},
	{"otpauth://", ruleOTP},
	{":5432:", rulePgpass},
	{":5433:", rulePgpass},
	{":6432:", rulePgpass},
	{":*:", rulePgpass},
	{"api/webhooks/", ruleWebhook},
	{"mnemonic", ruleMnemonic},
	{"seed phrase", ruleMnemonic},
	{"seed_phrase", ruleMnemonic},
	{"recovery phrase", ruleMnemonic},

	{"curl", ruleCommand},
	{"mysql", ruleCommand},
	{"mariadb", ruleCommand},
	{"sshpass", ruleCommand},
	{"redis-cli", ruleCommand},
	{"docker login", ruleCommand},
	{"ldapsearch", ruleCommand},
	{"-passin", ruleCommand},
	{"-passout", ruleCommand},

	{"aaaa", ruleFCM},
	{"dckr_pat_", ruleToken},
	{"dckr_oat_", ruleToken},
	{"sbp_", ruleToken},
	{"sb_secret_", ruleToken},
	{"sntrys_", ruleToken},
	{"sntryu_", ruleToken},
	{"gsk_", ruleToken},
	{"xai-", ruleToken},
	{"r8_", ruleToken},
	{"gocspx-", ruleToken},
	{"1//0", ruleToken},
	{"ya29.", ruleToken},
	{"tskey-", ruleToken},
	{"whsec_", ruleToken},
	{"nvapi-", ruleToken},
	{"pcsk_", ruleToken},
	{"tvly-", ruleToken},
	{"sk-or-v1-", ruleToken},
	{"sk-lf-", ruleToken},
	{"lsv2_pt_", ruleToken},
	{"lsv2_sk_", ruleToken},
	{"figd_", ruleToken},
	{"nfp_", ruleToken},
	{"phx_", ruleToken},
	{"rnd_", ruleToken},
	{"atbb", ruleToken},
	{"hvs.", ruleToken},
	{"hvb.", ruleToken},
}

// ownFindings lists what our own rules match in text, which was scanned.
func (a *automaton) ownFindings(text []byte, sc *scratch) []Finding {
	var found []Finding
	for _, id := range sc.touched {
		if a.own[id] == 0 {
			continue
		}
		rule := &ownRules[a.own[id]-1]
		length := len(a.text[id])
		last := -1
		for _, at := range sc.places[id] {
			s := rule.match(text, at, at+length)
			if s.end <= s.begin || s.begin == last {
				continue
			}
			last = s.begin
			found = append(found, Finding{
				Rule: rule.id, Secret: string(text[s.begin:s.end]), Start: s.begin, End: s.end,
			})
		}
	}
	return found
}

// isShared reports whether what a rule found is a secret wherever it is: an
// ordinary word is one only behind the name of a password.
func (f *Finding) isShared() bool {
	return f.Rule != ownRules[ruleName].id && f.Rule != ownRules[ruleURL].id || hasMixture([]byte(f.Secret))
}

// token returns the end of the run of bytes of the class at i, and how long it
// may be at most.
func tokenEnd(text []byte, i, most int, in func(byte) bool) int {
	end := min(len(text), i+most)
	for i < end && in(text[i]) {
		i++
	}
	return i
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }
func isLower(b byte) bool { return 'a' <= b && b <= 'z' }
func isAlpha(b byte) bool { return isUpper(b) || isLower(b) }
func isAlnum(b byte) bool { return isAlpha(b) || isDigit(b) }
func isHex(b byte) bool   { return isDigit(b) || 'a' <= lower(b) && lower(b) <= 'f' }
func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }
func isBase64(b byte) bool {
	return isAlnum(b) || b == '+' || b == '/' || b == '-' || b == '_'
}

// isTokenByte reports whether b can be in a token that needs no quotes.
func isTokenByte(b byte) bool {
	return isBase64(b) || b == '.' || b == '~' || b == '='
}

// isValueByte reports whether b can be in a value without quotes.
func isValueByte(b byte) bool { return b > ' ' && !isQuote(b) && b != '\\' && b != '<' && b != '>' }

// skip returns the first place from i on that is not one of the bytes.
func skip(text []byte, i int, bytesOf string) int {
	for i < len(text) && bytes.IndexByte([]byte(bytesOf), text[i]) >= 0 {
		i++
	}
	return i
}

func hasFoldSuffix(s []byte, suffix string) bool {
	return len(s) >= len(suffix) && hasFold(s[len(s)-len(suffix):], suffix)
}
