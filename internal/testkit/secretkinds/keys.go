package secretkinds

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// keys returns private keys and recovery phrases: whole, in part, and in the forms in which
// programs print them.
func keys() []Kind {
	kinds := armours()
	member := func(name, before string, value func(m Maker) string, after string) {
		kinds = append(kinds, Kind{"key/" + name, func(m Maker) Secret {
			v := value(m)
			return Secret{before + v + after, []string{v}}
		}})
	}
	url43 := func(m Maker) string { return m.Of(urls, 43) }
	pairs := func(m Maker) string { return strings.ReplaceAll(fmt.Sprintf("% x", m.Of(Alnums, 15)), " ", ":") }
	member("jwk ec", `{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"`, url43, `"}`+"\n")
	member("jwk okp", `{"crv": "Ed25519", "d": "`, url43, `", "kty": "OKP"}`+"\n")
	member("jwk oct", `{"kty":"oct","k":"`, url43, `"}`+"\n")
	member("jwk rsa", `{"kty":"RSA","e":"AQAB","d":"`, func(m Maker) string { return m.Of(urls, 342) }, `"}`+"\n")
	member("jwk lines", "{\n  \"kty\": \"EC\",\n  \"d\": \"", url43, "\"\n}\n")
	member("minisign", "untrusted comment: minisign encrypted secret key\nRWRTY0Iy", func(m Maker) string { return m.Of(Base64, 204) }, "\n")
	member("signify", "untrusted comment: signify secret key\nRWRCS", func(m Maker) string { return m.Of(Base64, 140) }, "\n")
	member("ssh.com", "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: x\n", func(m Maker) string { return m.Of(Base64, 70) }, "\n---- END SSH2 ENCRYPTED PRIVATE KEY ----\n")
	member("putty", "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n", func(m Maker) string { return m.Of(Base64, 43) + "=" }, "\nPrivate-MAC: 0\n")
	member("wireguard", "[Interface]\nPrivateKey = ", func(m Maker) string { return m.Of(Base64, 42) + "A=" }, "\n")
	member("openvpn static", "-----BEGIN OpenVPN Static key V1-----\n"+strings.Repeat("0123456789abcdef", 2)+"\n", func(m Maker) string { return m.Of(Hexes, 32) }, "\n-----END OpenVPN Static key V1-----\n")
	member("openssl text", "privateExponent:\n    ", pairs, ":\n    00:aa\nprime1:\n")
	member("ec text", "Private-Key: (256 bit)\npriv:\n    ", pairs, ":\n    00:aa\npub:\n")
	member("tink", `{"key": [{"keyData": {"typeUrl": "x/AesGcmKey", "value": "`, func(m Maker) string { return m.Of(Base64, 42) + "==" }, `", "keyMaterialType": "SYMMETRIC"}}]}`)
	member("eth", "private key 0x", func(m Maker) string { return m.Of(Hexes, 64) }, "\n")
	member("hardhat", "accounts: [\"0x", func(m Maker) string { return m.Of(Hexes, 64) }, "\"],\n")
	member("web3 keystore", `{"crypto": {"ciphertext": "`, func(m Maker) string { return m.Of(Hexes, 64) }, `", "kdf": "scrypt"}}`)
	member("solana array", "[", func(m Maker) string {
		n := make([]string, 64)
		for i := range n {
			n[i] = strconv.Itoa(m.IntN(256))
		}
		return strings.Join(n, ",")
	}, "]\n")
	member("shadow", "root:$6$", func(m Maker) string { return m.Of(Alnums, 16) + "$" + m.Of(Alnums, 86) }, ":19000:0:99999:7:::\n")
	member("bcrypt", "bob:$2y$10$", func(m Maker) string { return m.Of(Alnums, 53) }, "\n")
	member("apr1", "bob:$apr1$", func(m Maker) string { return m.Of(Alnums, 8) + "$" + m.Of(Alnums, 22) }, "\n")
	member("argon2", "$argon2id$v=19$m=65536,t=3,p=4$", func(m Maker) string { return m.Of(Alnums, 22) + "$" + m.Of(Alnums, 43) }, "\n")
	member("pbkdf2", "pbkdf2_sha256$600000$", func(m Maker) string { return m.Of(Alnums, 22) + "$" + m.Of(Base64, 43) + "=" }, "\n")
	member("ntlm", "Administrator:500:aad3b435b51404eeaad3b435b51404ee:", func(m Maker) string { return m.Of(Hexes, 32) }, ":::\n")
	member("ansible vault", "$ANSIBLE_VAULT;1.1;AES256\n", func(m Maker) string { return m.Of(Digits, 80) }, "\n")
	return append(kinds, phrases()...)
}

// armours returns private keys in lines.
func armours() []Kind {
	var kinds []Kind
	add := func(name, label string, change func(head string, body []string, tail string) string) {
		kinds = append(kinds, Kind{"key/" + name + "/" + label, func(m Maker) Secret {
			head, body, tail := m.PEM(label, 6)
			list := strings.Split(strings.TrimSpace(body), "\n")
			return Secret{change(strings.TrimSpace(head), list, strings.TrimSpace(tail)), []string{list[0][:60], list[1][:60], list[2][:60], list[5][:60]}}
		}})
	}
	each := func(before, after string) func(head string, body []string, tail string) string {
		return func(head string, body []string, tail string) string {
			var b strings.Builder
			for _, l := range append(append([]string{head}, body...), tail) {
				b.WriteString(before + l + after)
			}
			return b.String()
		}
	}
	for _, label := range []string{
		"RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "ENCRYPTED PRIVATE KEY",
		"PGP PRIVATE KEY BLOCK", "ANY PRIVATE KEY", "TSS2 PRIVATE KEY",
	} {
		add("whole", label, each("", "\n"))
	}
	wrap := func(before, after string, change func(head string, body []string, tail string) string) func(string, []string, string) string {
		return func(head string, body []string, tail string) string { return before + change(head, body, tail) + after }
	}
	for _, label := range []string{"RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"} {
		add("no end", label, func(head string, body []string, _ string) string {
			return head + "\n" + strings.Join(body, "\n") + "\n"
		})
		add("no beginning", label, func(_ string, body []string, tail string) string {
			return strings.Join(body, "\n") + "\n" + tail + "\n"
		})
		add("indented", label, each("    ", "\n"))
		add("yaml", label, wrap("tls:\n  key: |\n", "", each("    ", "\n")))
		add("quoted mail", label, each("> ", "\n"))
		add("diff", label, each("+", "\n"))
		add("removed", label, each("-", "\n"))
		add("comment", label, each("# ", "\n"))
		add("numbered", label, func(head string, body []string, tail string) string {
			var b strings.Builder
			for i, l := range append(append([]string{head}, body...), tail) {
				fmt.Fprintf(&b, "%6d→%s\n", i+1, l)
			}
			return b.String()
		})
		add("escaped", label, wrap(`"`, `"`, each("", `\n`)))
		add("escaped twice", label, wrap(`"`, `"`, each("", `\\n`)))
		add("CRLF", label, each("", "\r\n"))
		add("source", label, wrap("key := ", `""`, each(`"`, `\n" +`+"\n\t")))
		add("python", label, wrap("key = (\n", ")", each(`    '`, `\n'`+"\n")))
		add("array", label, func(head string, body []string, tail string) string {
			list, _ := json.MarshalIndent(append(append([]string{head}, body...), tail), "", "  ")
			return string(list)
		})
		add("array on a line", label, func(head string, body []string, tail string) string {
			list, _ := json.Marshal(append(append([]string{head}, body...), tail))
			return string(list)
		})
		add("spaces", label, each("", " "))
		add("one line", label, func(head string, body []string, tail string) string { return head + strings.Join(body, "") + tail })
		add("html", label, each("", "<br>\n"))
		add("echo", label, each(`echo "`, `" >> key.pem`+"\n"))
	}
	return kinds
}

// phrases returns recovery phrases of wallets.
func phrases() []Kind {
	var kinds []Kind
	for _, n := range []int{12, 15, 18, 21, 24} {
		add := func(name string, change func(words []string) string) {
			kinds = append(kinds, Kind{fmt.Sprintf("key/phrase of %d/%s", n, name), func(m Maker) Secret {
				words := m.phrase(n)
				text := change(words)
				return Secret{text, []string{text[len(text)/4 : len(text)*3/4], strings.Join(words[2:6], " ")}}
			}})
		}
		add("alone", func(words []string) string { return strings.Join(words, " ") + "\n" })
		add("sentence", func(words []string) string { return "I wrote down " + strings.Join(words, " ") + " for the wallet.\n" })
		if n != 12 && n != 24 {
			continue
		}
		numbered := func(end string) func(words []string) string {
			return func(words []string) string {
				var b strings.Builder
				for i, w := range words {
					fmt.Fprintf(&b, "%d. %s%s", i+1, w, end)
				}
				return b.String()
			}
		}
		add("named", func(words []string) string { return "seed phrase: " + strings.Join(words, " ") + "\n" })
		add("numbered", numbered("\n"))
		add("numbered on a line", numbered(" "))
		add("lines", func(words []string) string { return strings.Join(words, "\n") + "\n" })
		add("commas", func(words []string) string { return strings.Join(words, ", ") + "\n" })
		add("list", func(words []string) string {
			list, _ := json.Marshal(words)
			return string(list)
		})
		add("upper case", func(words []string) string { return strings.ToUpper(strings.Join(words, " ")) + "\n" })
	}
	return kinds
}

// phraseWords are the words of recovery phrases.
var phraseWords = sync.OnceValue(func() []string { //nolint:gochecknoglobals // a constant
	dir := ""
	for range 10 { // from the folder of the package whose tests run
		data, err := os.ReadFile(dir + "internal/redact/ownrules/bip39.txt")
		if err == nil {
			return strings.Fields(string(data))
		}
		dir += "../"
	}
	panic("no list of words for recovery phrases")
})

// phrase returns a recovery phrase of n words with a valid checksum.
func (m Maker) phrase(n int) []string {
	entropy := make([]byte, n*4/3)
	for i := range entropy {
		entropy[i] = byte(m.IntN(256))
	}
	sum := sha256.Sum256(entropy)
	bits := slices.Concat(entropy, sum[:1])
	words := make([]string, n)
	for i := range words {
		at := 0
		for k := range 11 {
			bit := i*11 + k
			at = at<<1 | int(bits[bit/8]>>(7-bit%8)&1)
		}
		words[i] = phraseWords()[at]
	}
	return words
}
