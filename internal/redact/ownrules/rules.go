// Package ownrules finds secrets that gitleaks' rules don't. Its rules are tried at
// literals and judge a value by its name, form and surroundings.
package ownrules

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
)

// Mark replaces a secret.
const Mark = "REDACTED"

// Span is a part of a text, in bytes.
type Span struct{ Begin, End int }

// Rule is a rule that gitleaks doesn't have. Match is called for each occurrence [at, end)
// of one of its literals. It returns the span of the secret, or an empty span. It must read
// only a bounded part of the text, or parts that are disjoint for different occurrences.
type Rule struct {
	ID    string
	Match func(text []byte, at, end int) Span
}

// Rules holds the rules by number.
var Rules = [...]Rule{ //nolint:gochecknoglobals // read-only table, laid out by the linker
	RuleName:     {"named-secret", namedSecret},
	RuleURL:      {"url-password", URLPassword},
	RuleDSN:      {"dsn-password", dsnPassword},
	RuleHeader:   {"authorization-header", authorization},
	RuleBearer:   {"bearer-token", bearerToken},
	RuleBasic:    {"basic-auth", basicAuth},
	RuleCookie:   {"cookie", cookie},
	RuleKeyHead:  {"private-key-without-end", keyAfterHead},
	RuleKeyTail:  {"private-key-without-begin", keyBeforeTail},
	RulePutty:    {"putty-private-key", puttyKey},
	RuleOTP:      {"otpauth-url", otpSecret},
	RuleCommand:  {"command-password", commandPassword},
	RulePgpass:   {"pgpass", pgpassPassword},
	RuleToken:    {"vendor-token", vendorToken},
	RuleFCM:      {"fcm-server-key", fcmKey},
	RuleWebhook:  {"webhook-url", webhookURL},
	RuleMnemonic: {"mnemonic", mnemonic},
	RuleValue:    {"named-value", namedValue},
	// These are tried at runs of base64 digits, see redact.baseParts.
	RuleRandomEnv: {"random-variable", RandomVariable},
	RuleDiscord:   {"discord-bot-token", DiscordToken},
	RuleRandom:    {"random-token", nil},
	RuleNear:      {"password-near-word", nearPassword},
	RuleFlag:      {"password-of-flag", nearFlag},
	RulePiped:     {"piped-password", pipedPassword},
	RulePin:       {"pin-near-word", pinAfter},
	RuleJWE:       {"json-web-encryption", encryptedToken},
	RulePhrase:    {"recovery-phrase", nil},
	RulePrefixed:  {"prefixed-key", prefixedHex},
	RuleMailchimp: {"mailchimp-key", mailchimpKey},
	RuleLicense:   {"new-relic-license", licenseKey},
	RuleQuery:     {"signed-url", queryValue},
	RuleHook:      {"hook-url", hookPath},
	RuleJWK:       {"json-web-key", jwkMember},
	RuleHexPairs:  {"private-number", hexPairs},
	RuleHexKey:    {"hex-private-key", hexKey},
	RuleKeystore:  {"wallet-keystore", keystore},
	RuleNTHash:    {"nt-hash", ntHash},
	RuleVault:     {"ansible-vault", vaultText},
	RuleAzure:     {"azure-devops-token", azureToken},
	RuleBot:       {"telegram-bot-token", botToken},
	RuleNeon:      {"neon-password", neonPassword},
	RuleCrypt:     {"password-hash", cryptHash},
	RuleParted:    {"parted-token", PartedToken},
	RuleQuoted:    {"quoted-password", nil},
}

// The numbers of the rules.
const (
	RuleName = iota
	RuleURL
	RuleDSN
	RuleHeader
	RuleBearer
	RuleBasic
	RuleCookie
	RuleKeyHead
	RuleKeyTail
	RulePutty
	RuleOTP
	RuleCommand
	RulePgpass
	RuleToken
	RuleFCM
	RuleWebhook
	RuleMnemonic
	RuleValue
	RuleRandomEnv
	RuleDiscord
	RuleRandom
	RuleNear
	RuleFlag
	RulePiped
	RulePin
	RulePhrase
	RuleJWE
	RulePrefixed
	RuleMailchimp
	RuleLicense
	RuleQuery
	RuleHook
	RuleJWK
	RuleHexPairs
	RuleHexKey
	RuleKeystore
	RuleNTHash
	RuleVault
	RuleAzure
	RuleBot
	RuleNeon
	RuleCrypt
	RuleParted
	RuleQuoted
)

// Literal is a lower-case text at which a rule is tried.
type Literal struct {
	Text string
	Rule uint8
}

// Literals are the texts at which the rules are tried.
var Literals = [...]Literal{ //nolint:gochecknoglobals // read-only table, laid out by the linker
	// Parts of names: Classify decides on the whole name.
	{"pass", RuleName},
	{"pwd", RuleName},
	{"secret", RuleName},
	{"token", RuleName},
	{"pin", RuleName},
	{"key", RuleName},
	{"salt", RuleName},
	{"licen", RuleName},
	{"cred", RuleName},
	{"auth=", RuleName},
	{`auth"`, RuleName},
	{"auth'", RuleName},
	{"_auth", RuleName},
	{"psk", RuleName},
	{"dsn", RuleName},

	// Words after which a password is recognized by its form, in several languages.
	{"kennwort", RuleNear},
	{"zugangsdaten", RuleNear},
	{"mot de passe", RuleNear},
	{"mdp", RuleNear},
	{"contrase", RuleNear},
	{"clave", RuleNear},
	{"senha", RuleNear},
	{"palavra-passe", RuleNear},
	{"parola", RuleNear},
	{"wachtwoord", RuleNear},
	{"identified", RuleNear},
	{"basicauth", RuleNear},
	{"auth(", RuleNear},
	{"auth=(", RuleNear},
	{"--auth", RuleNear},
	{"auth default", RuleNear},
	{"stats auth", RuleNear},
	{"credential", RuleNear},
	{"creds", RuleNear},
	{"securestring", RuleNear},
	{"getconnection(", RuleNear},
	{"connect(", RuleNear},
	{"mysqli(", RuleNear},
	{"pdo(", RuleNear},
	{"wifi.begin(", RuleNear},
	{"crypt(", RuleNear},
	{"login", RuleNear},
	{"logon", RuleNear},
	{"xauth", RuleNear},
	{"snmp-server", RuleNear},
	{"access code", RuleNear},
	{"net use", RuleNear},
	{"put-parameter", RuleNear},
	{"--body", RuleNear},
	{"log in with", RuleNear},
	{"sign in", RuleNear},
	{"sqlplus", RuleNear},
	{"oracle:thin:", RuleNear},
	{"smbclient", RuleNear},
	{"stringdata", RuleNear},
	{"encrypt_string", RuleNear},
	{"pgp_sym", RuleNear},
	{"net user", RuleNear},
	{"ejabberdctl", RuleNear},
	{"rabbitmqctl", RuleNear},
	{"assword", RuleNear},
	{":587", RuleNear},
	{":465", RuleNear},
	{"{plain}", RuleNear},
	{"authinfo", RuleNear},
	{"lftp", RuleNear},
	{"rclone", RuleNear},
	{"proxy-user", RuleNear},
	{"--cert ", RuleNear},
	{"http-basic", RuleNear},
	{"rootpw", RuleNear},
	{"server key", RuleNear},
	{"-digest-key", RuleNear},
	{"identify", RuleNear},
	{"setuser", RuleNear},
	{" auth ", RuleNear},
	{"etcdctl", RuleNear},
	{"userlist", RuleNear},
	{"pw:", RuleNear},
	{"pw=", RuleNear},
	{"locksettings", RulePin},
	{"code is ", RulePin},
	{"code pin", RulePin},

	{"sk-", RulePrefixed},
	{"key-", RulePrefixed},
	{"nrjs-", RulePrefixed},
	{"user:", RulePrefixed},
	{"sk_", RulePrefixed},
	{"sqp_", RulePrefixed},
	{"squ_", RulePrefixed},
	{"sqa_", RulePrefixed},
	{"bkua_", RulePrefixed},
	{"pat-na1-", RulePrefixed},
	{"pat-eu1-", RulePrefixed},
	{"sdk-", RulePrefixed},
	{"api-", RulePrefixed},
	{"csa_", RulePrefixed},
	{"fc-", RulePrefixed},
	{"mlsn.", RulePrefixed},
	{"live_", RulePrefixed},
	{"test_", RulePrefixed},
	{"key_", RulePrefixed},
	{"st.", RulePrefixed},
	{"sk_live_", RulePrefixed},
	{"flwseck-", RulePrefixed},
	{"flwsectest-", RulePrefixed},
	{"lin_oauth_", RulePrefixed},
	{"secret-", RulePrefixed},
	{"access-sandbox-", RulePrefixed},
	{"access-production-", RulePrefixed},
	{"access-development-", RulePrefixed},
	{"-us", RuleMailchimp},
	{"ffffnral", RuleLicense},
	{"signature=", RuleQuery},
	{"sig=", RuleQuery},
	{"code=", RuleQuery},
	{"webhookb2/", RuleHook},
	{"hooks/catch/", RuleHook},
	{"infura.io/v3/", RuleHook},
	{"mypipedream/", RuleHook},
	{"ifttt.com/use/", RuleHook},
	{"\"d\"", RuleJWK},
	{"\"k\"", RuleJWK},
	{"\"p\"", RuleJWK},
	{"\"q\"", RuleJWK},
	{"\"dp\"", RuleJWK},
	{"\"dq\"", RuleJWK},
	{"\"qi\"", RuleJWK},
	{"d\\\"", RuleJWK},
	{"k\\\"", RuleJWK},
	{"privateexponent:", RuleHexPairs},
	{"priv:", RuleHexPairs},
	{"prime1:", RuleHexPairs},
	{"prime2:", RuleHexPairs},
	{"exponent1:", RuleHexPairs},
	{"exponent2:", RuleHexPairs},
	{"coefficient:", RuleHexPairs},
	{"private key ", RuleHexKey},
	{"private_key", RuleHexKey},
	{"privatekey", RuleHexKey},
	{"accounts: ", RuleHexKey},
	{"accounts\":", RuleHexKey},
	{"ciphertext", RuleKeystore},
	{"aad3b435", RuleNTHash},
	{"$ansible_vault", RuleVault},
	{"static key v1-----", RuleKeyHead},
	{"eyjhb", RuleJWE},
	{"eyjlb", RuleJWE},
	{"rzp_live_", RuleToken},
	{"rzp_test_", RuleToken},
	{"pm-t-", RuleToken},
	{"ocid1.credential", RuleToken},
	{"nsec1", RuleToken},
	{"xoxc-", RuleToken},
	{"xoxd-", RuleToken},
	{"iqoj", RuleToken},
	{"fwogz", RuleToken},
	{"hcaik_", RuleToken},
	{"ccipat_", RuleToken},
	{"cciprj_", RuleToken},
	{"nrak-", RuleToken},
	{"nrii-", RuleToken},
	{"ntn_", RuleToken},
	{"wpl_ap1.", RuleToken},
	{"sk-ant-", RuleToken},
	{"cfpat-", RuleToken},
	{"pscale_pw_", RuleToken},
	{"rwrty0iy", RuleToken},
	{"access_token$production$", RuleToken},
	{"napi_", RuleToken},
	{"npg_", RuleNeon},
	{"oauth:", RuleToken},
	{"vercel_blob_rw_", RuleToken},
	{"azdo", RuleAzure},
	{"api.telegram.org/bot", RuleBot},
	{"$apr1$", RuleCrypt},

	{"echo ", RulePiped},
	{"printf ", RulePiped},

	{" -p", RuleFlag},
	{" -w ", RuleFlag},
	{" -a ", RuleFlag},
	{" -k ", RuleFlag},
	{" -u", RuleFlag},
	{`"-p`, RuleFlag},
	{"'-p", RuleFlag},
	{" / ", RuleFlag},
	{".py ", RuleFlag},
	{" -n '", RuleFlag},
	{" -b", RuleFlag},
	{" -s ", RuleFlag},
	{" -x ", RuleFlag},
	{" -v '", RuleFlag},
	{" /p", RuleFlag},
	{" /rp ", RuleFlag},
	{" -hmac ", RuleFlag},

	{`value"`, RuleValue},
	{"value:", RuleValue},

	{"://", RuleURL},
	{"@tcp(", RuleDSN},
	{"@unix(", RuleDSN},
	{"authorization", RuleHeader},
	{"bearer ", RuleBearer},
	{"basic ", RuleBasic},
	{"cookie", RuleCookie},
	{"private key-----", RuleKeyHead},
	{"private key block-----", RuleKeyHead},
	{"-----end ", RuleKeyTail},
	{"private-lines:", RulePutty},
	{"otpauth://", RuleOTP},
	{":5432:", RulePgpass},
	{":5433:", RulePgpass},
	{":6432:", RulePgpass},
	{":*:", RulePgpass},
	{"api/webhooks/", RuleWebhook},
	{"mnemonic", RuleMnemonic},
	{"seed phrase", RuleMnemonic},
	{"seed_phrase", RuleMnemonic},
	{"recovery phrase", RuleMnemonic},

	{"curl", RuleCommand},
	{"mysql", RuleCommand},
	{"mariadb", RuleCommand},
	{"sshpass", RuleCommand},
	{"redis-cli", RuleCommand},
	{"docker login", RuleCommand},
	{"ldapsearch", RuleCommand},
	{"-passin", RuleCommand},
	{"-passout", RuleCommand},

	{"aaaa", RuleFCM},
	{"dckr_pat_", RuleToken},
	{"dckr_oat_", RuleToken},
	{"sbp_", RuleToken},
	{"sb_secret_", RuleToken},
	{"sntrys_", RuleToken},
	{"sntryu_", RuleToken},
	{"gsk_", RuleToken},
	{"xai-", RuleToken},
	{"r8_", RuleToken},
	{"gocspx-", RuleToken},
	{"1//0", RuleToken},
	{"ya29.", RuleToken},
	{"tskey-", RuleToken},
	{"whsec_", RuleToken},
	{"nvapi-", RuleToken},
	{"pcsk_", RuleToken},
	{"tvly-", RuleToken},
	{"sk-or-v1-", RuleToken},
	{"sk-lf-", RuleToken},
	{"lsv2_pt_", RuleToken},
	{"lsv2_sk_", RuleToken},
	{"figd_", RuleToken},
	{"nfp_", RuleToken},
	{"phx_", RuleToken},
	{"rnd_", RuleToken},
	{"atbb", RuleToken},
	{"hvs.", RuleToken},
	{"hvb.", RuleToken},
}

// words are further texts at which rules are tried, those with letters that aren't ASCII.
var words = [...]Literal{ //nolint:gochecknoglobals // read-only table, laid out by the linker
	{"hasło", RuleNear},
	{"Hasło", RuleNear},
	{"lösenord", RuleNear},
	{"Lösenord", RuleNear},
	{"密码", RuleNear},
	{"密碼", RuleNear},
	{"パスワード", RuleNear},
	{"비밀번호", RuleNear},
	{"암호", RuleNear},
	{"ароль", RuleNear}, // the Russian word, in both cases
	{"暗証番号", RulePin},
}

// ForeignWord finds the secret after a word whose first character that isn't ASCII is at text[i].
// It returns the number of the rule.
func ForeignWord(text []byte, i int) (Span, int) {
	for _, w := range words {
		k := 0
		for w.Text[k] < 0x80 {
			k++
		}
		if w.Text[k] != text[i] || i < k || !bytes.HasPrefix(text[i-k:], []byte(w.Text)) {
			continue
		}
		if s := Rules[w.Rule].Match(text, i-k, i-k+len(w.Text)); s.End > s.Begin {
			return s, int(w.Rule)
		}
	}
	return Span{}, 0
}

// isTokenByte reports whether b can be part of a token that needs no quotes.
func isTokenByte(b byte) bool {
	return chars.IsBase64(b) || b == '.' || b == '~' || b == '='
}

// isValueByte reports whether b can be part of an unquoted value.
func isValueByte(b byte) bool {
	return b > ' ' && !chars.IsQuote(b) && b != '\\' && b != '<' && b != '>'
}

// skip returns the first index from i on of a byte that is not in bytesOf.
func skip(text []byte, i int, bytesOf string) int {
	for i < len(text) && bytes.IndexByte([]byte(bytesOf), text[i]) >= 0 {
		i++
	}
	return i
}

// IsTrivial reports whether a secret has no letters and digits besides marks.
func IsTrivial(secret string) bool {
	return !strings.ContainsFunc(strings.ReplaceAll(secret, Mark, ""), func(c rune) bool {
		return unicode.IsLetter(c) || unicode.IsDigit(c)
	})
}
