package redact_test

import (
	"testing"

	"github.com/seed-3aff656d/entire/internal/redact"
)

// Names in code, ids, digests, paths and ordinary sentences about secrets are kept.
func TestHarmlessTextsAreKept(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for _, text := range []string{
		"x := \"DB_PASSWORD=\" + password + \" # x\"\n",
		"var obj1KeysLength = obj1Keys.length\n",
		"ek, err := NewEncapsulationKey768(b)\nkey: NewEncapsulationKey768\n",
		"commit 3f786850e387550fdab836ed7e6dc881de23001b\nindex 83db48f..bf269f4 100644\n",
		"\"integrity\": \"sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==\",\n",
		"golang.org/x/text v0.3.0 h1:g61tztE5qeGQ89tm6NTjjM9VPIm088od1l6aSorWRWg=\n",
		"password: string\nfunc setPassword(password string, token2 int) error {\n",
		"if (password === other.password) return token;\n",
		"The password is base64 encoded with SHA256, see RFC7519.\n",
		"the secret is stored in /etc/app/secret.key\n",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8RmYz3pq0Q7v3fJmZ1kHq9sXb5Yx0c4N2dWq3eLr7T bob@host\n",
		"uuid 5f0c7a52-3f3e-4c0a-9d43-1d64c1d0a111 toolu_01A09q90qw90lq917835lq9 req_011CYSyCRyvMdP7HjUu3fok9\n",
		"Entire-Checkpoint: 01M8PTZDN068FS3XTDMA06B9G8\nrefs/entire/checkpoints/XK/01M8PTZDQBCSFCYSBT6CV29SXK\n",
		"docker pull alpine@sha256:c5b1261d6d3e43071626931fc004f70149baeba2c8ec672bd4f27761f8e1ad6b\n",
		"export default class PasswordResetController2024 extends BaseController {\n",
		"password_hash = bcrypt.hashpw(password.encode('utf-8'), salt)\n",
		"--- PASS: TestLogin2024User (0.00s)\n",
		"mkdir -p build/Release2024.1 && cp -p a b\n",
		"curl -u $USER:$PASS https://x\n",
		"\"minipass\": \"^7.0.4\",\n",
		"SELECT password FROM users WHERE id = 12345678;\n",
		"exit code is 1234, the error code is 10061, the zip code is 90210\n",
		`{"login":"someone","id":351934,"node_id":"MDQ6VXNlcjM1MTkzNA=="}` + "\n",
		"{\"(*YCbCr).RGBA64At\", Method, 5, \"\"},\n",
		"mail := regexp.MustCompile(\"^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$\")\n",
		"log.Printf(\"%[2]*.[1]*f|%-8X|%+v\", width, precision)\n",
		"password for the RSA-2048 key, the X25519MLKEM768 secret and the 4096-bit key, secret size 1024x768\n",
		"pip install cryptography # password hashing: PBKDF2-HMAC-SHA256, Kyber1024 and ISO-8859-1\n",
		"case OpCvt16toMask8x16, OpCvt8x64toMask64x8:\n",
		"PrivateKey: testRSA2048PrivateKey}\nPrivateKey = testEd25519PrivateKey\n",
		"stdout '\"TagSum\": \"t1:47DEQpj8HBSa\\+/TImW\\+5JCeuQeRkm5NMpJWZG3hSuFU=\"'\n",
		"rsc.io/quote v1.5.2/go.mod h2:LzX7hefJvL54yjefDEDHNONDjII0t9xZLPXsUe+TKr0=\n",
		"modernc.org/token v1.1.0 h1:Xl7Ap9dKaEs5kLoOQeQmPWevfnk/DM5qcLcYlA8ys6Y=\n",
		"see https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU\n",
		"Subject: =?utf-8?b?IkFudG9uaW8gSm9zw6kiIDxqb3NlQGV4YW1wbGUub3JnPg==?=\n",
		"Writing to /tmp/tmp-2102-6jUr4hCh9DGcQx7Z and /var/folders/1n/1z36z1gn6z300_hb4k7glvy40000gn/T/x\n",
		"_ZNSo5seekpElSt12_Ios_Seekdir\n",
		"<path d=\"M13 7v7a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V2h5v5h5zM9\"/>\n",
		"XaaaXbbbXcccXdddXaaaXbbb1Xccc2Xddd\n",
		"Password = null;\nvar JSCompiler_inline_result$jscomp$10 = 1;\n",
		"e.username=r.username,e.password=r.password,e.host=r.host,e.port=r.port;c=wg\n",
		"D.prototype.keyFromSecret=function(e){return h.fromSecret(this,e)};D.prototype.sign=1\n",
		"if(I.needAdditionalPass){v.needAdditionalPass=true}const{logging:L}=$\n",
		"\"license\": \"BlueOak-1.0.0\",\n// License: https://github.com/a/b/blob/0527ca7156a524d256101bb310a9f970f63078ad/LICENSE\n",
		"{\"turnId\":\"0\",\"apiCallId\":\"resp_011402a6d1a55bad016a47739b404881918235256781d2fd51\"}\n",
		"left bottom, left top, right bottom, right top, left top, left bottom, right top, right bottom\n",
		"-----BEGIN CERTIFICATE-----\nMIIC1jCCAb6gAwIBAgICEjQwDQYJKoZIhvcNAQELBQAwKDEmMCQGA1UEAxMdRW1w\n" +
			"dHkgbmFtZSBjb25zdHJhaW50cyBpc3N1ZXIwHhcNMTMwMjAxMDAwMDAwWhcNMjAw\nyuGnBXj8ytqU0CwIPX4WecigUCAkVDNx\n-----END CERTIFICATE-----\n",
		"-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEApVjJeLW5MoP6uR3+OeITokM+rBDng6dgl1vvhcy+wws=\n-----END PUBLIC KEY-----\n",
		"\t// Bytes 40 - 7f\n\t0x44, 0x4A, 0x42, 0x44, 0x5A, 0x42, 0x44, 0x7A,\n\t0x42, 0x47, 0x42, 0x42, 0x47, 0x79, 0x42, 0x48,\n\t// Bytes 80 - bf\n\t0x42, 0x48,\n",
		"zebra zero zone zoo abandon ability able about above absent absorb abstract absurd abuse\n",
	} {
		if got := r.Text(text); got != text {
			t.Errorf("%sbecomes\n%s", text, got)
		}
	}
}
