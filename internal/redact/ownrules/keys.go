package ownrules

import (
	"bytes"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
)

// prefixedHex finds hex digits or a UUID after a prefix that vendors use, but others use as well.
func prefixedHex(text []byte, at, end int) Span {
	if at > 0 && (chars.IsWord(text[at-1]) || text[at-1] == '/' || text[at-1] == '-' && at > 1 && text[at-2] != '\n') {
		return Span{}
	}
	stop := chars.RunEnd(text, end, 256, func(b byte) bool { return chars.IsHex(b) || b == '-' || b == '.' })
	for stop > end && (text[stop-1] == '.' || text[stop-1] == '-') {
		stop--
	}
	run := text[end:stop]
	if stop < len(text) && chars.IsWord(text[stop]) {
		return Span{}
	}
	uuid := len(run) == 36 && run[8] == '-' && run[13] == '-' && run[18] == '-' && run[23] == '-'
	least := 32
	if chars.HasFold(text[at:], "nrjs-") {
		least = 19
	}
	if !uuid && (len(run) < least || bytes.IndexByte(run, '-') >= 0) || isSequence(run) || chars.Entropy(run) < 2.5 {
		return Span{}
	}
	return Span{at, stop}
}

// mailchimpKey finds 32 hex digits before the name of a data centre, like -us14.
func mailchimpKey(text []byte, at, end int) Span {
	stop := chars.RunEnd(text, end, 2, chars.IsDigit)
	begin := at
	for begin > 0 && at-begin < 33 && chars.IsHex(text[begin-1]) {
		begin--
	}
	if stop == end || at-begin != 32 || stop < len(text) && chars.IsWord(text[stop]) {
		return Span{}
	}
	return Span{begin, stop}
}

// licenseKey finds 36 hex digits before the end of a New Relic license key.
func licenseKey(text []byte, at, end int) Span {
	begin := at
	for begin > 0 && at-begin < 41 && chars.IsHex(text[begin-1]) {
		begin--
	}
	if n := at - begin; n < 36 || n > 40 {
		return Span{}
	}
	return Span{begin, end}
}

// queryValue finds the value of a parameter of a URL, or of a header, that proves who its holder is:
// a signature or a code.
func queryValue(text []byte, at, end int) Span {
	if at == 0 || !chars.IsWord(text[at-1]) && text[at-1] != '-' && text[at-1] != '?' && text[at-1] != '&' && text[at-1] != ';' && text[at-1] != ' ' {
		return Span{}
	}
	if chars.HasFold(text[at:], "code=") && text[at-1] != '?' && text[at-1] != '&' {
		return Span{}
	}
	stop := chars.RunEnd(text, end, 1024, func(b byte) bool { return isTokenByte(b) || b == '%' })
	value := text[end:stop]
	c := countOf(value)
	if len(value) < 16 || c.digits < 2 || c.upper+c.lower == 0 || IsPlaceholder(value) || IsWordy(value) {
		return Span{}
	}
	return Span{end, stop}
}

// hookPath finds the rest of the path of a URL that needs no other secret.
func hookPath(text []byte, at, end int) Span {
	if at == 0 || text[at-1] != '/' && text[at-1] != '.' {
		return Span{}
	}
	stop := chars.RunEnd(text, end, 512, func(b byte) bool { return chars.IsBase64(b) || b == '@' || b == '.' })
	c := countOf(text[end:stop])
	if stop-end < 8 || c.digits == 0 || c.upper+c.lower == 0 {
		return Span{}
	}
	return Span{end, stop}
}

// jwkMember finds a private member of a JSON Web Key: its name is a single letter or two.
func jwkMember(text []byte, _, end int) Span {
	i := skip(text, end, " ")
	if i >= len(text) || text[i] != ':' {
		return Span{}
	}
	if i = skip(text, i+1, ` \`); i >= len(text) || text[i] != '"' {
		return Span{}
	}
	stop := chars.RunEnd(text, i+1, 2048, func(b byte) bool { return chars.IsAlnum(b) || b == '-' || b == '_' })
	if stop-i < 40 || stop >= len(text) || text[stop] != '"' && text[stop] != '\\' || bigramSum(text[i+1:stop]) >= randomMean*(stop-i-2) {
		return Span{}
	}
	return Span{i + 1, stop}
}

// hexPairs finds the bytes of a private number that openssl prints.
func hexPairs(text []byte, _, end int) Span {
	i := skip(text, end, " \t\r\n+-")
	stop := chars.RunEnd(text, i, 4096, func(b byte) bool { return chars.IsHex(b) || b == ':' || b == '+' || chars.IsSpace(b) })
	stop = i + len(bytes.TrimRight(text[i:stop], " \t\r\n+"))
	for stop > i && text[stop-1] != ':' && !chars.IsSpace(text[stop-1]) && bytes.IndexByte(text[i:stop], ':') >= 0 && stop < len(text) && chars.IsAlnum(text[stop]) {
		stop-- // the beginning of the next name
	}
	if bytes.Count(text[i:stop], []byte(":")) < 8 {
		return Span{}
	}
	return Span{i, stop}
}

// hexKey finds the 64 hex digits of a private key after a word for it.
func hexKey(text []byte, _, end int) Span {
	for i := end; i < min(len(text), end+32); i++ {
		if !chars.IsHex(text[i]) || chars.IsAlnum(text[i-1]) && text[i-1] != 'x' {
			continue
		}
		if stop := chars.RunEnd(text, i, 65, chars.IsHex); stop == i+64 && !isSequence(text[i:stop]) {
			return Span{i, stop}
		}
	}
	return Span{}
}

// keystore finds the encrypted key in the keystore of a wallet.
func keystore(text []byte, at, end int) Span {
	near := text[max(0, at-400):min(len(text), end+400)]
	if !bytes.Contains(near, []byte(`"kdf`)) && !bytes.Contains(near, []byte(`\"kdf`)) {
		return Span{}
	}
	return hexKey(text, at, end)
}

// ntHash finds the hash of a password after the hash of no password, as dumps of Windows have it.
func ntHash(text []byte, _, end int) Span {
	i := chars.RunEnd(text, end, 24, chars.IsHex)
	if i >= len(text) || text[i] != ':' {
		return Span{}
	}
	if stop := chars.RunEnd(text, i+1, 33, chars.IsHex); stop == i+33 {
		return Span{i + 1, stop}
	}
	return Span{}
}

// vaultText finds the lines of a text that ansible-vault encrypted.
func vaultText(text []byte, _, end int) Span {
	i := chars.RunEnd(text, end, 64, func(b byte) bool { return b > ' ' && b != '\\' })
	i = skip(text, i, " \t\r\n+")
	stop := chars.RunEnd(text, i, 1<<16, func(b byte) bool { return chars.IsDigit(b) || 'a' <= b && b <= 'f' || chars.IsSpace(b) || b == '+' })
	stop = i + len(bytes.TrimRight(text[i:stop], " \t\r\n+"))
	if stop-i < 64 {
		return Span{}
	}
	return Span{i, stop}
}

// encryptedToken finds a JSON Web Token of five parts, an encrypted one.
func encryptedToken(text []byte, at, end int) Span {
	if at > 0 && (chars.IsBase64(text[at-1]) && text[at-1] != '+' || text[at-1] == '.') {
		return Span{}
	}
	stop := chars.RunEnd(text, end, 8192, func(b byte) bool { return chars.IsBase64(b) || b == '.' })
	if stop-end < 60 || bytes.Count(text[end:stop], []byte(".")) != 4 {
		return Span{}
	}
	return Span{at, stop}
}

// twitterBearer finds a token that begins with many As.
func twitterBearer(text []byte, at int) Span {
	stop := chars.RunEnd(text, at, 256, func(b byte) bool { return chars.IsAlnum(b) || b == '%' })
	rest := bytes.TrimLeft(text[at:stop], "A")
	if n := stop - at - len(rest); n < 16 || n > 26 || stop-at < 80 || stop-at > 200 || len(rest) < 50 || bigramSum(rest) >= randomMean*len(rest) {
		return Span{}
	}
	return Span{at, stop}
}

// azureToken finds a token of Azure DevOps: 76 letters and digits before AZDO and four after it.
func azureToken(text []byte, at, end int) Span {
	begin := at
	for begin > 0 && at-begin < 77 && chars.IsAlnum(text[begin-1]) {
		begin--
	}
	stop := chars.RunEnd(text, end, 5, chars.IsAlnum)
	if at-begin != 76 || stop-end != 4 {
		return Span{}
	}
	return Span{begin, stop}
}

// botToken finds a bot's token in a URL of Telegram: its number, a colon and 35 characters.
func botToken(text []byte, _, end int) Span {
	colon := chars.RunEnd(text, end, 12, chars.IsDigit)
	if colon == end || colon >= len(text) || text[colon] != ':' {
		return Span{}
	}
	stop := chars.RunEnd(text, colon+1, 64, func(b byte) bool { return chars.IsWord(b) || b == '-' })
	if stop-colon < 30 {
		return Span{}
	}
	return Span{end, stop}
}

// cryptHash finds the salt and the hash of a password.
func cryptHash(text []byte, _, end int) Span {
	salt := chars.RunEnd(text, end, 8, isCryptByte)
	if salt >= len(text) || text[salt] != '$' {
		return Span{}
	}
	if stop := chars.RunEnd(text, salt+1, 23, isCryptByte); stop == salt+23 {
		return Span{end, stop}
	}
	return Span{}
}

func isCryptByte(b byte) bool { return chars.IsAlnum(b) || b == '.' || b == '/' }

// PartedToken finds a token of several parts, none of which identifies it. [at, end) is the first
// of them, a run of base64 digits:
//
//   - 2/<digits>/<digits>:<32 hex digits>, 1/<digits>:<32 hex digits> (Asana)
//   - pat<14 letters and digits>.<64 hex digits> (Airtable)
//   - <UUID>.<30 letters and digits>:<base64> (Bitwarden)
func PartedToken(text []byte, at, end int) Span {
	if end >= len(text) {
		return Span{}
	}
	at += len(text[at:end]) - len(bytes.TrimLeft(text[at:end], "+-")) // of a patch
	next, first := end+1, text[at:end]
	switch {
	case text[end] == ':' && len(first) > 12 && first[1] == '/' && bytes.Count(first, []byte("/")) <= 2 && len(bytes.Trim(first, "0123456789/")) == 0:
		if stop := chars.RunEnd(text, next, 33, chars.IsHex); stop == next+32 {
			return Span{at, stop}
		}
	case text[end] == '.' && len(first) == 17 && bytes.HasPrefix(first, []byte("pat")):
		if stop := chars.RunEnd(text, next, 65, chars.IsHex); stop == next+64 {
			return Span{at, stop}
		}
	case text[end] == '.' && len(first) == 36 && first[8] == '-' && first[13] == '-':
		if stop := chars.RunEnd(text, next, 31, chars.IsAlnum); stop == next+30 && stop < len(text) && text[stop] == ':' {
			return Span{next, chars.RunEnd(text, stop+1, 44, isTokenByte)}
		}
	}
	return Span{}
}

// neonPassword finds a password of Neon: npg_ and 12 letters in both cases and digits.
func neonPassword(text []byte, at, end int) Span {
	stop := chars.RunEnd(text, end, 13, chars.IsAlnum)
	c := countOf(text[end:stop])
	if at > 0 && chars.IsWord(text[at-1]) || stop != end+12 || min(c.upper, c.lower) == 0 || IsWordy(text[end:stop]) {
		return Span{}
	}
	return Span{at, stop}
}

// IsKeyBytes reports whether a list of numbers is a key of Solana: 64 bytes in brackets.
func IsKeyBytes(text []byte, begin, end int) bool {
	if begin == 0 || text[begin-1] != '[' || end >= len(text) || text[end] != ']' {
		return false
	}
	return bytes.Count(text[begin:end], []byte(",")) == 63 && longestRun(text[begin:end], chars.IsDigit) <= 3
}
