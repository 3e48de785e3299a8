package ownrules

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
)

// maxAuthority limits the bytes of a URL that are searched for a password.
const maxAuthority = 512

// URLPassword finds the password in scheme://user:password@host, or a token in
// scheme://token@host.
func URLPassword(text []byte, at, end int) Span {
	if at == 0 || !chars.IsAlnum(text[at-1]) {
		return Span{}
	}
	stop := chars.RunEnd(text, end, maxAuthority, func(b byte) bool {
		return isValueByte(b) && b != '/' && b != '?' && b != '#'
	})
	user := bytes.LastIndexByte(text[end:stop], '@')
	database := []string{ // schemes of databases and message brokers
		"postgres", "postgresql", "mysql", "mongodb", "mongodb+srv", "redis", "rediss", "amqp", "amqps", "mariadb", "mssql",
		"sqlserver", "clickhouse",
	}
	if user < 0 && slices.ContainsFunc(database, func(s string) bool { return chars.HasFoldSuffix(text[:at], s) }) {
		// A password with a slash that should have been encoded as %2F.
		stop = chars.RunEnd(text, end, maxAuthority, isValueByte)
		user = bytes.LastIndexByte(text[end:stop], '@')
	}
	if user < 0 {
		return Span{}
	}
	info := text[end : end+user]
	if colon := bytes.IndexByte(info, ':'); colon >= 0 {
		begin := end + colon + 1
		password := text[begin : end+user]
		if len(password) < 2 || IsPlaceholder(password) {
			return Span{}
		}
		return Span{begin, end + user}
	}
	if IsRandom(info, 16) {
		return Span{end, end + user}
	}
	return Span{}
}

// dsnPassword finds the password in user:password@tcp(host).
func dsnPassword(text []byte, at, _ int) Span {
	begin := at
	for begin > 0 && at-begin < maxAuthority && isValueByte(text[begin-1]) && text[begin-1] != '=' {
		begin--
	}
	colon := bytes.IndexByte(text[begin:at], ':')
	if colon < 0 || at-begin-colon-1 < 2 || IsPlaceholder(text[begin+colon+1:at]) {
		return Span{}
	}
	return Span{begin + colon + 1, at}
}

// afterColon returns the index of the value in `name: value`, `name=value`, `"name":
// "value"` and `"name", "value"`, -1 if there is none.
func afterColon(text []byte, i int) int {
	from := i
	i = skip(text, i, "\\\"'")
	if i > from && i < len(text) && text[i] == ',' {
		i = skip(text, i+1, " \t\\")
		if i < len(text) && chars.IsQuote(text[i]) {
			return i + 1
		}
		return -1
	}
	i = skip(text, i, " \t")
	if i >= len(text) || text[i] != ':' && text[i] != '=' {
		return -1
	}
	i = skip(text, i+1, " \t")
	return skip(text, i, "[\\\"'`")
}

// authorization finds the credentials in an Authorization header.
func authorization(text []byte, _, end int) Span {
	i := afterColon(text, end)
	if i < 0 {
		return Span{}
	}
	return Credentials(text, i)
}

// Credentials finds the credentials in an Authorization header's value: the text after the
// scheme, or all if there is no scheme.
func Credentials(text []byte, i int) Span {
	scheme := chars.RunEnd(text, i, 24, func(b byte) bool { return chars.IsAlnum(b) || b == '-' })
	begin, sure := i, false
	if scheme > i && scheme < len(text) && text[scheme] == ' ' && chars.IsAlpha(text[i]) {
		begin, sure = skip(text, scheme, " "), true
	}
	end := chars.RunEnd(text, begin, 8192, func(b byte) bool { return isValueByte(b) && b != ',' && b != ')' })
	value := text[begin:end]
	if len(value) < 6 || IsPlaceholder(value) || looksLikeCode(value) && !isJWT(value) {
		return Span{}
	}
	if sure && !HasMixture(value) && !isScheme(text[i:scheme]) || !sure && !IsRandom(value, 16) {
		return Span{}
	}
	if sure && !isScheme(text[i:scheme]) && !IsRandom(value, 16) {
		return Span{}
	}
	return Span{begin, end}
}

func isScheme(s []byte) bool {
	for _, known := range []string{"basic", "bearer", "token", "digest", "apikey", "negotiate", "key", "oauth", "dpop"} {
		if len(s) == len(known) && chars.HasFold(s, known) {
			return true
		}
	}
	return false
}

func isJWT(v []byte) bool { return bytes.HasPrefix(v, []byte("ey")) }

// bearerToken finds a token after the word Bearer.
func bearerToken(text []byte, at, end int) Span {
	if at > 0 && chars.IsWord(text[at-1]) {
		return Span{}
	}
	stop := chars.RunEnd(text, end, 8192, isTokenByte)
	value := text[end:stop]
	if len(value) < 12 || IsPlaceholder(value) || looksLikeCode(value) && !isJWT(value) || !IsRandom(value, 12) && !isJWT(value) {
		return Span{}
	}
	return Span{end, stop}
}

// basicAuth finds user:password in base64 after the word Basic.
func basicAuth(text []byte, at, end int) Span {
	if at > 0 && chars.IsWord(text[at-1]) {
		return Span{}
	}
	stop := chars.RunEnd(text, end, 1024, func(b byte) bool { return chars.IsBase64(b) || b == '=' })
	said, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(text[end:stop], "=")))
	if err != nil || len(said) < 5 || bytes.IndexByte(said, ':') < 0 || !chars.IsPrintable(said) {
		return Span{}
	}
	return Span{end, stop}
}

// cookie finds the value of a Cookie or Set-Cookie header.
func cookie(text []byte, at, end int) Span {
	flag := at >= 2 && text[at-1] == '-' && text[at-2] == '-'
	i := afterColon(text, end)
	switch {
	case i < 0 && flag && end < len(text) && text[end] == ' ':
		i = skip(text, end, " \"'")
	case i < 0 || at > 0 && chars.IsWord(text[at-1]):
		return Span{}
	}
	stop := chars.RunEnd(text, i, 8192, func(b byte) bool { return b >= ' ' && !chars.IsQuote(b) && b != '\\' })
	value := bytes.TrimRight(text[i:stop], " ")
	name := bytes.IndexByte(value, '=')
	if name <= 0 || len(value) < 12 || HasSpace(value[:name]) || !HasMixture(value[name+1:]) || looksLikeCode(value[name+1:]) {
		return Span{}
	}
	if first, _, _ := bytes.Cut(value[name+1:], []byte(";")); IsPlaceholder(first) || len(first) < 4 {
		return Span{}
	}
	return Span{i, i + len(value)}
}

// otpSecret finds the secret in an otpauth URL.
func otpSecret(text []byte, _, end int) Span {
	stop := chars.RunEnd(text, end, maxAuthority, isValueByte)
	i := bytes.Index(text[end:stop], []byte("secret="))
	if i < 0 {
		return Span{}
	}
	begin := end + i + len("secret=")
	last := chars.RunEnd(text, begin, maxAuthority, func(b byte) bool { return chars.IsAlnum(b) || b == '=' })
	if last-begin < 8 {
		return Span{}
	}
	return Span{begin, last}
}

// maxCommand limits the bytes read after a program's name.
const maxCommand = 300

// commandPassword finds the password on the command line of a program.
func commandPassword(text []byte, at, end int) Span {
	if at > 0 && (chars.IsWord(text[at-1]) || text[at-1] == '-') {
		return Span{}
	}
	line := text[end:min(len(text), end+maxCommand)]
	for _, b := range []byte("\n|;") {
		if i := bytes.IndexByte(line, b); i >= 0 {
			line = line[:i]
		}
	}
	if bytes.IndexByte(line, '-') < 0 && bytes.IndexByte(line, ':') < 0 {
		return Span{}
	}
	word := strings.ToLower(string(text[at:end]))
	flag, apart := "-p", true
	switch word {
	case "mysql", "mariadb":
		apart = false
		// This includes mysqldump, mysqladmin, ..., but not a path or a URL.
		if i := bytes.IndexByte(line, ' '); i < 0 || bytes.ContainsAny(line[:i], "/:.\"'@=") {
			return Span{}
		}
	case "curl":
		return curlPassword(text, end, line)
	case "redis-cli":
		flag = "-a"
	case "ldapsearch":
		flag = "-w"
	case "-passin", "-passout":
		i := bytes.Index(line, []byte("pass:"))
		if i < 0 || i > 3 {
			return Span{}
		}
		return argumentAt(text, end+i+len("pass:"))
	}
	for i := 0; ; {
		n := bytes.Index(line[i:], []byte(" "+flag))
		if n < 0 {
			return Span{}
		}
		i += n + 1 + len(flag)
		if i >= len(line) {
			return Span{}
		}
		switch {
		case line[i] == ' ' && apart:
			return argumentAt(text, end+skip(line, i, " "))
		case line[i] == ' ' || chars.IsLower(line[i]) && apart && word != "sshpass":
			continue // another flag
		}
		return argumentAt(text, end+i)
	}
}

// curlPassword finds the password in curl -u user:password.
func curlPassword(text []byte, end int, line []byte) Span {
	if !bytes.Contains(line, []byte("-u")) {
		return Span{}
	}
	for _, flag := range []string{" -u ", " --user ", " -u=", " --user="} {
		i := bytes.Index(line, []byte(flag))
		if i < 0 {
			continue
		}
		s := argumentAt(text, end+i+len(flag))
		user, password, ok := bytes.Cut(text[s.Begin:s.End], []byte(":"))
		if ok && len(password) >= MinValue && !IsPlaceholder(password) && len(user) <= MaxName {
			return Span{s.End - len(password), s.End}
		}
	}
	return Span{}
}

// argumentAt returns the span of a shell argument.
func argumentAt(text []byte, i int) Span {
	if i >= len(text) {
		return Span{}
	}
	var end int
	switch {
	case chars.IsQuote(text[i]):
		i++
		end = quotedEnd(text, i, text[i-1], false)
	case text[i] == '\\' && i+1 < len(text) && chars.IsQuote(text[i+1]):
		i += 2
		end = quotedEnd(text, i, text[i-1], true)
	default:
		end = chars.RunEnd(text, i, maxValue, func(b byte) bool { return isValueByte(b) && b != ')' })
	}
	if end-i < 3 || text[i] == '-' || IsPlaceholder(text[i:end]) {
		return Span{}
	}
	return Span{i, end}
}

// pgpassPassword finds the password in host:port:database:user:password.
func pgpassPassword(text []byte, at, end int) Span {
	begin := at
	for begin > 0 && at-begin < maxAuthority && isValueByte(text[begin-1]) {
		begin--
	}
	if begin == at {
		return Span{}
	}
	stop := chars.RunEnd(text, end, maxAuthority, isValueByte)
	fields := bytes.SplitN(text[end:stop], []byte(":"), 3)
	if len(fields) < 3 || len(fields[0]) == 0 || len(fields[1]) == 0 || len(fields[2]) < 4 || IsPlaceholder(fields[2]) {
		return Span{}
	}
	return Span{stop - len(fields[2]), stop}
}

// vendorToken finds a token by its prefix.
func vendorToken(text []byte, at, end int) Span {
	if at > 0 && chars.IsWord(text[at-1]) || isInData(text, at) {
		return Span{}
	}
	stop := chars.RunEnd(text, end, 4096, func(b byte) bool { return isTokenByte(b) || b == '$' })
	for stop > end && (text[stop-1] == '.' || text[stop-1] == '=' || text[stop-1] == '-') {
		stop--
	}
	if stop-end < 18 && (stop-end < 14 || end-at < 5) {
		return Span{}
	}
	value := text[end:stop]
	digit := bytes.ContainsFunc(value, func(c rune) bool { return '0' <= c && c <= '9' })
	if !digit || IsWordy(value) || IsPlaceholder(value) || chars.Entropy(value) < 3 {
		return Span{}
	}
	return Span{at, stop}
}

// fcmKey finds a server key of Firebase: AAAA, 7 characters, a colon and at least 99 more.
func fcmKey(text []byte, at, end int) Span {
	if at > 0 && chars.IsWord(text[at-1]) || !bytes.HasPrefix(text[at:], []byte("AAAA")) {
		return Span{}
	}
	if s := twitterBearer(text, at); s.End > 0 {
		return s
	}
	colon := chars.RunEnd(text, end, 7, chars.IsBase64)
	if colon != end+7 || colon >= len(text) || text[colon] != ':' {
		return Span{}
	}
	stop := chars.RunEnd(text, colon+1, 512, chars.IsBase64)
	if stop-colon < 100 {
		return Span{}
	}
	return Span{at, stop}
}

// webhookURL finds the token at the end of a Discord webhook's URL.
func webhookURL(text []byte, _, end int) Span {
	slash := chars.RunEnd(text, end, 24, chars.IsDigit)
	if slash == end || slash >= len(text) || text[slash] != '/' {
		return Span{}
	}
	stop := chars.RunEnd(text, slash+1, 128, chars.IsBase64)
	if stop-slash < 30 {
		return Span{}
	}
	return Span{slash + 1, stop}
}

// mnemonic finds the recovery phrase of a wallet.
func mnemonic(text []byte, _, end int) Span {
	i := skip(text, end, "\\\"'`=: \t*_()12458words\n")
	begin, words := i, 0
	for i < len(text) && words < 25 {
		stop := chars.RunEnd(text, i, 9, chars.IsLower)
		if stop-i < 3 || stop-i > 8 {
			break
		}
		words++
		end = stop
		if stop >= len(text) || text[stop] != ' ' {
			break
		}
		i = stop + 1
	}
	if words != 12 && words != 15 && words != 18 && words != 21 && words != 24 {
		return Span{}
	}
	return Span{begin, end}
}

// RandomVariable finds a random value after NAME=.
func RandomVariable(text []byte, at, end int) Span {
	if at == 0 || !chars.IsUpper(text[at-1]) && !chars.IsDigit(text[at-1]) && text[at-1] != '_' {
		return Span{}
	}
	begin := at
	for begin > 0 && at-begin < MaxName && (chars.IsUpper(text[begin-1]) || chars.IsDigit(text[begin-1]) || text[begin-1] == '_') {
		begin--
	}
	if at-begin < 3 || !chars.IsUpper(text[begin]) || begin > 0 && isNameByte(text[begin-1]) {
		return Span{}
	}
	i := skip(text, end, "\\\"'")
	stop := chars.RunEnd(text, i, 256, func(b byte) bool { return chars.IsBase64(b) || b == '=' })
	if stop-i < 20 || stop-i > 200 || i-end > 2 {
		return Span{}
	}
	value := text[i:stop]
	name := nameWords(text[begin:at])
	switch string(name[len(name)-1]) {
	case "id", "hash", "sha", "commit", "digest", "checksum", "path", "url", "integrity", "rev", "version", "cursor", "uuid", "sha256", "etag":
		return Span{}
	}
	var upper, low, digits int
	for _, b := range value {
		switch {
		case chars.IsUpper(b):
			upper++
		case chars.IsLower(b):
			low++
		case chars.IsDigit(b):
			digits++
		}
	}
	if min(upper, low) < 3 || digits < 1 || IsWordy(value) || IsPath(value) || chars.Entropy(value) < 3.9 {
		return Span{}
	}
	return Span{i, stop}
}

// DiscordToken finds a bot's token: an id in base64, a time and a signature, joined by
// dots. [at, end) is the first dot.
func DiscordToken(text []byte, at, end int) Span {
	if end+34 > len(text) || text[end+6] != '.' || at < 24 {
		return Span{}
	}
	begin := at
	for begin > 0 && at-begin < 30 && chars.IsBase64(text[begin-1]) {
		begin--
	}
	if n := at - begin; n < 23 || n > 28 || text[begin] < 'M' || text[begin] > 'O' || chars.RunEnd(text, end, 6, chars.IsBase64) != end+6 {
		return Span{}
	}
	stop := chars.RunEnd(text, end+7, 64, chars.IsBase64)
	if stop-end-7 < 27 || IsWordy(text[begin:at]) {
		return Span{}
	}
	return Span{begin, stop}
}
