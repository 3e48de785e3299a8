package ownrules

import (
	"bytes"
	_ "embed"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
)

// bigrams says for each pair of characters how much more, in eighths of a bit, the second is
// expected after the first in names and words than in a random token. bigrams_gen.go writes it.
//
//go:embed bigrams.bin
var bigrams string

const (
	bigramCount = 64
	// randomMean is the most that the mean of bigrams, in eighths of a bit, may be in a
	// random token. Random letters and digits have a mean of -13 with little variance, names
	// one of 8.
	randomMean = -3
	// sureLength is the length from which randomMean applies.
	sureLength = 20
	// manyLength is the length from which many digits suffice.
	manyLength = 32
)

// bigramClasses has the row of each byte in bigrams.
const bigramClasses = "" +
	"\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f" +
	"\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3e\x3f\x3f\x34\x35\x36\x37\x38\x39\x3a\x3b\x3c\x3d\x3f\x3f\x3f\x3f\x3f\x3f" +
	"\x3f\x1a\x1b\x1c\x1d\x1e\x1f\x20\x21\x22\x23\x24\x25\x26\x27\x28\x29\x2a\x2b\x2c\x2d\x2e\x2f\x30\x31\x32\x33\x3f\x3f\x3f\x3f\x3e" +
	"\x3f\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x3f\x3f\x3f\x3f\x3f" +
	"\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f" +
	"\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f" +
	"\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f" +
	"\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f\x3f"

// bigramSum returns the sum of bigrams over v.
func bigramSum(v []byte) int {
	sum, last := 0, 0
	for i, b := range v {
		c := int(bigramClasses[b])
		if i > 0 {
			sum += int(int8(bigrams[last*bigramCount+c]))
		}
		last = c
	}
	return sum
}

// counts are the numbers of characters of each class in a text.
type counts struct{ upper, lower, digits, signs int }

func countOf(v []byte) (c counts) {
	for _, b := range v {
		switch chars.Classes[b] {
		case chars.UpperCase:
			c.upper++
		case chars.LowerCase:
			c.lower++
		case chars.Digit:
			c.digits++
		default:
			c.signs++
		}
	}
	return c
}

// hasDigit reports whether v has a digit.
func hasDigit(v []byte) bool {
	for _, b := range v {
		if chars.Classes[b] == chars.Digit {
			return true
		}
	}
	return false
}

// sizes are numbers of bits, bytes and elements that are usual in names of code.
var sizes = []string{"2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "2048", "4096"} //nolint:gochecknoglobals // read-only

// isSized reports whether v is a name with sizes: at least three numbers, all of them sizes.
func isSized(v []byte) bool {
	numbers := 0
	for i := 0; i < len(v); i++ {
		if !chars.IsDigit(v[i]) {
			continue
		}
		end := chars.RunEnd(v, i, len(v), chars.IsDigit)
		if !slices.Contains(sizes, string(v[i:end])) {
			return false
		}
		i = end
		numbers++
	}
	return numbers > 2 && len(v) < 24
}

// isDrawing reports whether v is a part of a path of SVG: numbers and letters for lines.
func isDrawing(v []byte) bool {
	return len(bytes.Trim(v, "MmLlHhVvCcSsQqTtAaZz-0123456789")) == 0 && bytes.IndexByte(v, '-') > 0
}

// hasFewCharacters reports whether v repeats a few characters.
func hasFewCharacters(v []byte) bool {
	var seen [4]uint64
	n := 0
	for _, b := range v {
		if bit := uint64(1) << (b & 63); seen[b>>6]&bit == 0 {
			seen[b>>6] |= bit
			n++
		}
	}
	return n < 10 && n*2 < len(v)
}

// IsRandomForm reports whether v has the form of a random token, whatever is around it: the
// pairs of its characters are unlike those of names and words. least is the minimum length of a
// token with upper-case and lower-case letters and digits; others must be longer.
func IsRandomForm(v []byte, least int) bool {
	if len(v) < least {
		return false
	}
	c, mean := countOf(v), randomMean
	switch {
	case c.digits > 0 && min(c.upper, c.lower) > 1 && (c.digits > 1 || c.upper > 3):
	case c.digits > 1 && len(v) >= least+8:
		if len(v) < 2*sureLength {
			mean = 2 * randomMean // lower case or upper case only
		}
	case c.digits < 2 && min(c.upper, c.lower) > 3 && len(v) >= least+8:
		mean = 2 * randomMean
	default:
		return false
	}
	if len(v) >= manyLength && c.signs == 0 && min(c.upper, c.lower) == 0 && (c.lower == 0 || c.digits*8 > len(v)) && !isHexRun(v) {
		mean = -randomMean // names that long don't have that many digits
	}
	if len(v) < sureLength {
		// Short names of few letters and numbers come close to a random token.
		if c.digits < 2 || longestRun(v, chars.IsLower) > 3 {
			return false
		}
		mean = 2 * randomMean
	}
	return bigramSum(v) < mean*(len(v)-1) && !isSequence(v) && !hasFewCharacters(v) && !isDrawing(v) && !isSized(v)
}

// isSequence reports whether v has six characters in a row that are the same or follow each other
// in the alphabet.
func isSequence(v []byte) bool {
	run, last := 0, 0
	for i := 1; i < len(v); i++ {
		step := int(v[i]) - int(v[i-1])
		if run++; step < -1 || step > 1 || step != last {
			run = 0
		}
		if last = step; run >= 4 {
			return true
		}
	}
	return false
}

// longestRun returns the length of the longest run of bytes of a class in v.
func longestRun(v []byte, isIn func(byte) bool) int {
	most, n := 0, 0
	for _, b := range v {
		if n++; !isIn(b) {
			n = 0
		}
		most = max(most, n)
	}
	return most
}

// Limits of a token that is a secret because of its form.
const (
	minToken = 16
	maxToken = 200
)

// RandomToken finds a token that is a secret because of its form: a run of base64 digits that is
// random and no id, digest, public key or part of encoded data. [begin, end) is the run.
func RandomToken(text []byte, begin, end int) Span {
	if end-begin < minToken || end-begin > maxToken {
		return Span{}
	}
	run := text[begin:end]
	if i := bytes.Index(run, []byte(Mark)); i >= 0 {
		// Parts of it are replaced.
		if s := RandomToken(text, begin, begin+i); s.End > 0 {
			return s
		}
		return RandomToken(text, begin+i+len(Mark), end)
	}
	if IsInBlock(text, begin, end) {
		return Span{}
	}
	if bytes.IndexByte(run, '/') >= 0 && (run[0] == '/' && run[1] == '/' || bigramSum(run) >= randomMean*(len(run)-1) || isURLPath(text, begin)) {
		// A path: its parts are tokens.
		for i := begin; i < end; {
			stop := i
			for stop < end && text[stop] != '/' {
				stop++
			}
			if stop-i >= minToken {
				if s := RandomToken(text, i, stop); s.End > 0 {
					return s
				}
			}
			i = stop + 1
		}
		return Span{}
	}
	for begin < end && (text[begin] == '-' || text[begin] == '/' || text[begin] == '+') {
		begin++ // a flag, the root of a path, a line of a diff
	}
	run = text[begin:end]
	if !IsRandomForm(run, minToken) || IsPlaceholder(run) || isHarmless(text, begin, end) {
		return Span{}
	}
	for end < len(text) && text[end] == '=' {
		end++
	}
	if end+1 < len(text) && text[end-1] == '=' && text[end] == '-' {
		// The second part of a key of Adyen.
		if stop := chars.RunEnd(text, end+1, 17, chars.IsAlnum); stop == end+17 {
			end = stop
		}
	}
	return Span{begin, end}
}

// minQuoted is the minimum length of a password in quotes that is recognized by its form alone.
const minQuoted = 14

// QuotedPassword finds a constant that is a password because of its form: a random one of letters
// in both cases, digits and a few signs. text[i] is the quote before it.
func QuotedPassword(text []byte, i int) Span {
	begin := i + 1
	if begin+minQuoted >= len(text) || !isConstantByte(text[begin+minQuoted-1]) {
		return Span{}
	}
	if i > 0 && strings.IndexByte(" \t\n([{,=:+>\\", text[i-1]) < 0 {
		return Span{} // the quote after a constant
	}
	end := chars.RunEnd(text, begin, maxPassword, isConstantByte)
	if end-begin < minQuoted || end >= len(text) || text[end] != text[i] && text[end] != '\\' {
		return Span{}
	}
	return constant(text, begin, end)
}

// LonePassword is QuotedPassword for a word without quotes. i is before the word.
func LonePassword(text []byte, i int) Span {
	begin := i + 1
	if begin+sureLength > len(text) || !isConstantByte(text[begin+sureLength-1]) || !isConstantByte(text[begin+sureLength/2]) {
		return Span{} // most words are shorter
	}
	if text[begin] == '+' || text[begin] == '-' {
		begin++ // a line of a diff
	}
	end := chars.RunEnd(text, begin, maxPassword, isConstantByte)
	if end < len(text) && text[end] > ' ' && text[end] != '"' && text[end] != '\\' {
		return Span{}
	}
	for end > begin && (text[end-1] == '.' || text[end-1] == ',' || text[end-1] == ';') {
		end--
	}
	v := text[begin:end]
	most := randomMean
	if call := bytes.IndexByte(v, '('); call > 0 && chars.IsWord(v[call-1]) && bytes.IndexByte(v[call:], ')') > 0 || bytes.Contains(v, []byte("&&")) {
		most = 2 * randomMean // code
	}
	name, _, _ := bytes.Cut(v, []byte("="))
	if len(v) < sureLength || len(v) > 3*sureLength || len(name) < len(v) && !hasDigit(name) || pairMean(v) > most {
		return Span{}
	}
	return constant(text, begin, end)
}

// constant returns the span of text[begin:end], at least minQuoted bytes, if it has the form of a
// random password of letters, digits and signs.
func constant(text []byte, begin, end int) Span {
	v := text[begin:end]
	c, most := countOf(v), 0
	if min(c.upper, c.lower) < 3 || c.digits == 0 || c.signs*5 > 2*len(v) {
		return Span{}
	}
	if len(v) < sureLength {
		most = randomMean
		if c.digits < 2 || c.signs*3 > len(v) {
			return Span{}
		}
	}
	// Runs of base64 digits are judged by RandomToken; percent-encoded text, addresses and code
	// have other signs.
	if !bytes.ContainsAny(v, "!@#$%^&*()?~") {
		if len(v) < sureLength || c.digits < 3 || !bytes.ContainsAny(v, "-_") || !bytes.ContainsAny(v, "+=.") || isHarmless(text, begin, end) {
			return Span{}
		}
		most = 2 * randomMean
	}
	if bytes.ContainsAny(v, "<>/:`") || bytes.Count(v, []byte("%")) > 2 || bytes.Contains(v, []byte("&#")) ||
		bytes.HasPrefix(v, []byte("(*")) || bytes.HasPrefix(v, []byte("=?")) || isSequence(v) || IsPlaceholder(v) || pairMean(v) > most {
		return Span{}
	}
	return Span{begin, end}
}

// isConstantByte reports whether b can be part of a password in quotes.
func isConstantByte(b byte) bool { return ' ' < b && b < 0x7f && b != '"' && b != '\'' && b != '\\' }

// pairMean returns the mean of bigrams over the pairs of letters and digits in v, 0 if there are few.
func pairMean(v []byte) int {
	sum, n := 0, 0
	for i := 1; i < len(v); i++ {
		if chars.Classes[v[i-1]] != 0 && chars.Classes[v[i]] != 0 {
			sum += int(int8(bigrams[int(bigramClasses[v[i-1]])*bigramCount+int(bigramClasses[v[i]])]))
			n++
		}
	}
	if n < len(v)/4 {
		return 0
	}
	return sum / n
}

// isHexRun reports whether v has hex digits only.
func isHexRun(v []byte) bool { return chars.RunEnd(v, 0, len(v), chars.IsHex) == len(v) }

// isURLPath reports whether text[i] is in the path of a URL.
func isURLPath(text []byte, i int) bool {
	near := text[max(0, i-80):i]
	at := bytes.LastIndex(near, []byte("://"))
	return at >= 0 && !bytes.ContainsAny(near[at:], " \n\"'?#=")
}

// idPrefixes begin ids, which are no secrets: those of messages and tools in transcripts, of
// objects of Stripe and others.
var idPrefixes = []string{ //nolint:gochecknoglobals // read-only
	"toolu_", "srvtoolu_", "msg_", "msgbatch_", "req_", "call_", "fc_", "rs_", "resp_", "item_", "chatcmpl-", "cmpl-", "gen-",
	"file_", "file-", "asst_", "thread_", "run_", "step_", "vs_", "ws_", "ses_", "sess_", "prt_", "evt_", "cus_", "sub_", "price_", "prod_",
	"pi_", "pm_", "ch_", "in_", "acct_", "pk_live_", "pk_test_", "cs_test_", "cse_", "sha1-", "sha256-", "sha384-", "sha512-", "md5-", "AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh",
	"toolu", "_ZN", "_ZS", "_ZT", "GHSA-", "h1:", "sha256:", "sha512:", "SHA256:", "MDQ6", "MDU6", "MDEw", "MDEx", "MDEy", "container_", "session_", "agent_", "task_", "usr_", "org_", "user_", "proj_", "ocid1", "iVBORw0KGgo", "R0lGOD", "UklGR",
}

// digestMarks precede digests, public keys and encoded data.
var digestMarks = []string{ //nolint:gochecknoglobals // read-only
	"h1:", "h2:", "r1:", "t1:", "base64,", "?b?", "?B?", "[+]", "\\+", "/document/d/", "/document/d/e/", "/file/d/", "playlist?list=", "watch?list=", "PUBLIC KEY-----\n", "sum.golang.org", "sha256:", "sha512:", "SHA256:", "sha1:", "md5:", "integrity", "checksum", "digest", "/nix/store/", "ssh-rsa ", "ssh-ed25519 ", "ssh-dss ",
	"nistp256 ", "nistp384 ", "nistp521 ", "etag", "Etag", "ETag", "go:", "fingerprint", "pin-sha256=", "publickey", "public_key", "publicKey", "PublicKey", "public-key",
	`signature"`, `Signature"`, "cursor", "Cursor", "nextPageToken", "pageToken", "sourceMappingURL", "nonce-", "commit", "Sec-WebSocket",
}

// isULID reports whether a token is a ULID of this time, as the ids of checkpoints are: 26 letters of
// Crockford's base 32, of which the first ten are a time in milliseconds. Of random tokens of such
// letters one in 250 is taken for one.
func isULID(run []byte) bool {
	const (
		letters   = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
		timed     = 10
		from, end = 1420070400000, 2524608000000 // 2015, 2050
	)
	if len(run) != 26 || len(bytes.Trim(run, letters)) > 0 {
		return false
	}
	ms := 0
	for _, c := range run[:timed] {
		ms = ms<<5 | strings.IndexByte(letters, c)
	}
	return from <= ms && ms < end
}

// isHarmless reports whether a random token is known to be no secret by its form or by what
// precedes it.
func isHarmless(text []byte, begin, end int) bool {
	run := text[begin:end]
	for _, p := range idPrefixes {
		if bytes.HasPrefix(run, []byte(p)) {
			return true
		}
	}
	if i := bytes.Index(run[:min(len(run), 8)], []byte("_kw")); i > 0 {
		return true // an id of GitHub
	}
	if IsNamedID(text, begin) || isULID(run) {
		return true
	}
	if IsDigest(text, begin) {
		return true
	}
	if end < len(text) && (text[end] == '(' || text[end] == ')' && begin > 1 && text[begin-1] == '(' && text[begin-2] == ']') {
		return true // a call, a link
	}
	return isTemporary(text, begin)
}

// IsDigest reports whether what precedes text[i] says that a digest, a public key or encoded data
// follows.
func IsDigest(text []byte, i int) bool {
	before := text[max(0, i-24):i]
	for _, m := range digestMarks {
		if k := bytes.LastIndex(before, []byte(m)); k >= 0 && len(bytes.Trim(before[k+len(m):], " \"':=\t\\[{(+/")) == 0 {
			return true
		}
	}
	return false
}

// isTemporary reports whether text[i] is in the path of a temporary file.
func isTemporary(text []byte, i int) bool {
	from := max(0, i-80)
	from += bytes.LastIndexAny(text[from:i], " \n\"'=") + 1
	near := text[from:min(len(text), i+len("var/folders/"))]
	return bytes.Contains(near, []byte("/tmp/")) || bytes.Contains(near, []byte("/var/folders/"))
}

// IsNamedID reports whether the name before text[i] says that an id follows.
func IsNamedID(text []byte, i int) bool {
	before := bytes.TrimRight(text[max(0, i-16):i], " \"'\\")
	if n := len(before); n == 0 || before[n-1] != ':' && before[n-1] != '=' {
		return false
	}
	before = bytes.TrimRight(before[:len(before)-1], " \"'\\:")
	n := len(before)
	return n > 1 && chars.HasFoldSuffix(before, "id") && (n == 2 || !chars.IsLower(before[n-3]) || chars.IsUpper(before[n-2]))
}

// IsInBlock reports whether a run is a line of encoded data: the line before or after it is as
// long, and a run as well, or two lines before it are.
func IsInBlock(text []byte, begin, end int) bool {
	if end-begin < blockLine {
		last := lineBefore(text, begin)
		return last > 0 && lineBefore(text, last) > 0
	}
	if lineBefore(text, begin) > 0 {
		return true
	}
	next := lineAfter(text, end)
	return next > 0 && chars.RunEnd(text, next, blockLine, chars.IsBase64) == next+blockLine
}

// blockLine is the minimum length of a line of encoded data.
const blockLine = 48

// maxLineGap limits the text between two lines of encoded data.
const maxLineGap = 16

// lineAfter returns the beginning of the line after text[end], 0 if other text follows. Lines may be
// quoted, and their ends escaped.
func lineAfter(text []byte, end int) int {
	broken := false
	for i := end; i < len(text) && i < end+maxLineGap; i++ {
		switch {
		case text[i] == '\n':
			broken = true
		case text[i] == '\\' && i+1 < len(text) && (text[i+1] == 'n' || text[i+1] == 'r'):
			broken = true
			i++
		case chars.IsBase64(text[i]) && text[i] != '+':
			if broken {
				return i
			}
			return 0
		}
	}
	return 0
}

// lineBefore returns the beginning of the last blockLine characters of the line of encoded data before
// text[begin], or before the line that continues there, 0 if there is none.
func lineBefore(text []byte, begin int) int {
	for n := 0; n < 100 && begin > 0 && chars.IsBase64(text[begin-1]); n++ {
		begin--
	}
	end := begin
	for n := 0; n < maxLineGap && end > 0; n++ {
		if chars.IsBase64(text[end-1]) && (end < 2 || text[end-2] != '\\') && text[end-1] != '+' {
			break
		}
		end--
	}
	if end < blockLine || lineAfter(text, end) == 0 || chars.RunEnd(text, end-blockLine, blockLine, chars.IsBase64) != end {
		return 0
	}
	return end - blockLine
}

// IsName reports whether a value that a rule takes for a key because of its name is a name itself:
// words and numbers, as in code. quoted says that the value is in quotes.
func IsName(v []byte, quoted bool) bool {
	c := countOf(v)
	if c.signs > bytes.Count(v, []byte("."))+bytes.Count(v, []byte("_"))+bytes.Count(v, []byte("=")) || c.upper+c.lower < 2*c.digits {
		return false
	}
	if quoted {
		return c.upper > 0 && c.digits < 5 && bigramSum(v) >= 6*(len(v)-1)
	}
	return !chars.IsDigit(v[0]) && bigramSum(v) >= 0
}
