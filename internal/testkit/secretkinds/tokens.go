package secretkinds

import (
	"encoding/base64"
	"strings"
)

const (
	base32s = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	base58s = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	bech32s = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	urls    = Alnums + "-_"
)

// tokenForms are the documented forms of vendors' tokens that need no name beside them. In a
// form <set:n> stands for n random characters of a set.
//
//nolint:gosec // forms
const tokenForms = `
anthropic oauth|sk-ant-oat01-<url:93>AA
anthropic session|sk-ant-sid01-<url:93>AA
anthropic refresh|sk-ant-ort01-<url:93>AA
anthropic api|sk-ant-api03-<url:93>AA
anthropic admin|sk-ant-admin01-<url:93>AA
openai service|sk-svcacct-<url:74>T3BlbkFJ<url:74>
openai admin|sk-admin-<url:74>T3BlbkFJ<url:74>
openai short|sk-<alnum:48>
openrouter|sk-or-v1-<hex:64>
deepseek|sk-<hex:32>
notion|ntn_<digit:11><alnum:35>
notion old|secret_<alnum:43>
hubspot|pat-na1-<uuid>
hubspot eu|pat-eu1-<uuid>
mailgun|key-<hex:32>
mailchimp|<hex:32>-us14
new relic user|NRAK-<upnum:27>
new relic ingest|<hex:36>FFFFNRAL
new relic browser|NRJS-<hex:19>
new relic insert|NRII-<url:32>
circleci|CCIPAT_<alnum:22>_<hex:40>
circleci project|CCIPRJ_<alnum:22>_<hex:40>
buildkite|bkua_<hex:40>
sonar project|sqp_<hex:40>
sonar user|squ_<hex:40>
sonar analysis|sqa_<hex:40>
nuget|oy2<lownum:43>
crates.io|cio<alnum:32>
contentful|CFPAT-<url:43>
telegram url|https://api.telegram.org/bot<digit:10>:AA<url:33>/sendMessage
mapbox secret|sk.eyJ1Ijoi<alnum:60>.<url:22>
azure devops|<lownum:76>AZDO<alnum:4>
testpypi|pypi-AgENdGVzdC5weXBpLm9yZw<url:120>
pypi|pypi-AgEIcHlwaS5vcmc<url:120>
paseto local|v2.local.<url:120>
paseto public|v4.public.<url:120>
jwt|eyJhbGciOiJSUzI1NiJ9.eyJ<url:80>.<url:86>
jwe|eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.<url:60>.<url:16>.<url:40>.<url:22>
xprv|xprv9s21ZrQH143K<b58:95>
tprv|tprv8ZgxMBicQKs<b58:97>
wif|5<wif:50>
wif compressed|K<b58:51>
nsec|nsec1<bech32:58>
age|AGE-SECRET-KEY-1<BECH32:58>
stellar|S<b32:55>
solana|<b58:88>
github|ghp_<alnum:36>
github server|ghs_<alnum:36>
github user|ghu_<alnum:36>
github refresh|ghr_<alnum:36>
github oauth|gho_<alnum:36>
github fine|github_pat_<alnum:22>_<alnum:59>
gitlab|glpat-<url:20>
gitlab deploy|gldt-<url:20>
gitlab runner|glrt-<url:20>
gitlab ci|glcbt-<alnum:2>_<url:20>
gitlab trigger|glptt-<hex:40>
gitlab feed|glft-<url:20>
gitlab agent|glagent-<url:50>
gitlab old runner|GR1348941<url:20>
bitbucket app|ATBB<alnum:32>
atlassian|ATATT3xFfGF0<url:170>=<HEX:8>
atlassian access|ATCTT3xFfGN0<url:170>=<HEX:8>
slack bot|xoxb-<digit:12>-<digit:13>-<alnum:24>
slack user|xoxp-<digit:12>-<digit:12>-<digit:13>-<hex:32>
slack app|xapp-1-A<upnum:10>-<digit:13>-<hex:64>
slack config|xoxe.xoxp-1-<alnum:166>
slack refresh|xoxe-1-<alnum:147>
slack cookie|xoxd-<alnum:120>
slack client|xoxc-<digit:12>-<digit:12>-<digit:13>-<hex:64>
slack hook|https://hooks.slack.com/services/T<upnum:9>/B<upnum:10>/<alnum:24>
slack workflow|https://hooks.slack.com/workflows/T<upnum:9>/A<upnum:10>/<digit:18>/<alnum:24>
discord hook|https://discord.com/api/webhooks/<digit:19>/<url:68>
discord bot|MTE<alnum:23>.G<alnum:5>.<url:38>
discord mfa|mfa.<url:84>
teams hook|https://acme.webhook.office.com/webhookb2/<uuid>@<uuid>/IncomingWebhook/<hex:32>/<uuid>
google chat hook|https://chat.googleapis.com/v1/spaces/AAAA<alnum:7>/messages?key=AIza<url:35>&token=<url:43>
google api|AIza<url:35>
google access|ya29.<url:160>
google refresh|1//0<url:100>
google client|GOCSPX-<url:28>
firebase messaging|AAAA<url:7>:APA91b<url:134>
stripe live|sk_live_<alnum:99>
stripe test|sk_test_<alnum:24>
stripe restricted|rk_live_<alnum:24>
stripe webhook|whsec_<alnum:32>
square access|EAAA<url:60>
square secret|sq0csp-<url:43>
square token|sq0atp-<url:22>
paypal braintree|access_token$production$<lownum:16>$<hex:32>
plaid|access-sandbox-<uuid>
razorpay|rzp_live_<alnum:14>
adyen|AQE<alnum:60>-<b64:43>=-<alnum:16>
coinbase|organizations/<uuid>/apiKeys/<uuid> <b64:86>==
shopify|shpat_<hex:32>
shopify secret|shpss_<hex:32>
shopify private|shppa_<hex:32>
shopify custom|shpca_<hex:32>
twilio key|SK<hex:32>
sendgrid|SG.<url:22>.<url:43>
sendinblue|xkeysib-<hex:64>-<alnum:16>
postmark smtp|PM-T-<alnum:22>
resend|re_<alnum:8>_<alnum:24>
mailersend|mlsn.<hex:64>
customer.io|live_<hex:32>
aws id and secret|AKIA<b32:16> <b64:40>
aws temporary|ASIA<b32:16> <b64:40>
aws session|IQoJb3JpZ2luX2VjE<b64:300>
aws bedrock|ABSK<b64:120>
aws presigned|https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA<b32:16>%2F20260101%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Signature=<hex:64>
aws presigned v2|https://b.s3.amazonaws.com/k?AWSAccessKeyId=AKIA<b32:16>&Expires=1900000000&Signature=<alnum:26>%3D
aws session in url|https://b.s3.amazonaws.com/k?X-Amz-Security-Token=IQoJb3JpZ2luX2Vj<alnum:200>&X-Amz-Date=20260101T000000Z
gcs signed|https://storage.googleapis.com/b/k?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Signature=<hex:512>
cloudfront|https://d1.cloudfront.net/a?Expires=1900000000&Signature=<url:300>&Key-Pair-Id=K2JCJMDEHXQW5F
azure sas|https://a.blob.core.windows.net/c/b?sv=2022-11-02&se=2030-01-01&sr=b&sp=r&sig=<alnum:43>%3D
azure sas plain|?sv=2022-11-02&ss=b&srt=o&sp=rl&se=2030-01-01T00:00:00Z&sig=<b64:43>=
azure function|https://app.azurewebsites.net/api/run?code=<url:54>==
azure logic app|https://prod-1.westeurope.logic.azure.com/workflows/<hex:32>/triggers/manual/paths/invoke?api-version=2016-10-01&sp=%2Ftriggers&sv=1.0&sig=<url:43>
azure client|<alnum:3>8Q~<alnum:34>
azure storage|DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=<b64:86>==;EndpointSuffix=core.windows.net
azure service bus|Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=<b64:43>=
azure cosmos|AccountEndpoint=https://acme.documents.azure.com:443/;AccountKey=<b64:86>==;
azure iot|HostName=h.azure-devices.net;DeviceId=d;SharedAccessKey=<b64:43>=
azure search|<alnum:42>AzSe<alnum:6>
azure openai|<alnum:52>JQQJ99<alnum:26>
azure apim|SharedAccessSignature uid=1&ex=2030-01-01&sn=<b64:86>==
alibaba|LTAI<alnum:20> <alnum:30>
tencent|AKID<alnum:32> <alnum:32>
yandex|AQVN<url:36>
yandex oauth|y0_<url:55>
ibm|IBMCLOUD_API_KEY=<url:44>
oracle|ocid1.credential.oc1..<lownum:60>
digitalocean|dop_v1_<hex:64>
digitalocean oauth|doo_v1_<hex:64>
digitalocean refresh|dor_v1_<hex:64>
heroku|HRKU-<url:60>
netlify|nfp_<alnum:36>
vercel blob|vercel_blob_rw_<alnum:16>_<alnum:30>
render|rnd_<alnum:28>
railway|RAILWAY_TOKEN=<uuid>
fly|fo1_<url:43>
fly macaroon|FlyV1 fm2_<b64:200>
supabase|sbp_<hex:40>
supabase secret|sb_secret_<url:31>
planetscale|pscale_tkn_<url:43>
planetscale password|pscale_pw_<url:43>
neon|npg_<alnum:12>
neon api|napi_<lownum:64>
turso|eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJ<url:80>.<url:86>
upstash|AX<alnum:60>==
databricks|dapi<hex:32>
snowflake|ver:1-hint:<digit:10>-ETMsDgAAAY<b64:120>
confluent|cflt<b64:60>
mongodb atlas|mdb_sa_sk_<url:40>
pinecone|pcsk_<alnum:70>
weaviate|WVIT_<url:40>
qdrant|<url:54>|qdrant
huggingface|hf_<letter:34>
huggingface org|api_org_<letter:34>
replicate|r8_<alnum:37>
groq|gsk_<alnum:52>
xai|xai-<alnum:80>
perplexity|pplx-<alnum:48>
cohere|co_<alnum:40>
mistral|MISTRAL_API_KEY=<alnum:32>
together|tgp_v1_<url:43>
fireworks|fw_<alnum:24>
nvidia|nvapi-<url:64>
elevenlabs|sk_<hex:48>
assemblyai|ASSEMBLYAI_API_KEY=<hex:32>
stability|sk-<alnum:48>x
langsmith|lsv2_pt_<hex:32>_<hex:10>
langfuse|sk-lf-<uuid>
tavily|tvly-<alnum:32>
exa|EXA_API_KEY=<uuid>
firecrawl|fc-<hex:32>
cursor|key_<hex:64>
wandb|WANDB_API_KEY=<hex:40>
npm|npm_<alnum:36>
rubygems|rubygems_<hex:48>
docker|dckr_pat_<url:27>
docker org|dckr_oat_<url:32>
jfrog|AKCp8<alnum:64>
jfrog reference|cmVmdGtu<alnum:56>
clojars|CLOJARS_<hex:60>
cloudsmith|csa_<hex:40>
packagecloud|PACKAGECLOUD_TOKEN=<hex:48>
terraform|<alnum:14>.atlasv1.<url:67>
pulumi|pul-<hex:40>
vault|hvs.<url:95>
vault batch|hvb.<url:140>
vault old|s.<alnum:24>|vault
doppler|dp.pt.<alnum:43>
doppler service|dp.st.prd.<alnum:43>
infisical|st.<hex:24>.<hex:32>.<hex:32>
onepassword|ops_eyJ<b64:250>
onepassword key|A3-<upnum:6>-<upnum:6>-<upnum:5>-<upnum:5>-<upnum:5>-<upnum:5>
bitwarden|0.<uuid>.<alnum:30>:<b64:22>==
tailscale|tskey-auth-<alnum:12>CNTRL-<alnum:32>
tailscale api|tskey-api-<alnum:12>CNTRL-<alnum:32>
cloudflare origin|v1.0-<hex:24>-<hex:146>
cloudflare tunnel|eyJhIjoi<b64:150>
fastly|FASTLY_API_TOKEN=<url:32>
grafana|glsa_<alnum:32>_<hex:8>
grafana cloud|glc_eyJ<b64:80>
datadog|DD_API_KEY=<hex:32>
dynatrace|dt0c01.<b32:24>.<b32:64>
sentry|sntrys_<b64:100>
sentry user|sntryu_<hex:64>
rollbar|ROLLBAR_ACCESS_TOKEN=<hex:32>
honeycomb|hcaik_<lownum:58>
posthog|phx_<alnum:43>
launchdarkly|sdk-<uuid>
launchdarkly api|api-<uuid>
statsig|secret-<alnum:43>
amplitude|AMPLITUDE_SECRET_KEY=<hex:32>
segment|sgp_<alnum:64>
mixpanel|MIXPANEL_SECRET=<hex:32>
algolia|ALGOLIA_ADMIN_KEY=<hex:32>
asana|2/<digit:16>/<digit:16>:<hex:32>
asana of one part|1/<digit:16>:<hex:32>
linear|lin_api_<alnum:40>
linear oauth|lin_oauth_<hex:64>
airtable|pat<alnum:14>.<hex:64>
figma|figd_<url:40>
dropbox|sl.u.<url:135>
box|BOX_CLIENT_SECRET=<alnum:32>
zapier|https://hooks.zapier.com/hooks/catch/<digit:7>/<lownum:7>/
intercom|dG9rOm<b64:52>=
typeform|tfp_<url:59>
monday|eyJhbGciOiJIUzI1NiJ9.eyJ<url:60>.<url:43>
postman|PMAK-<hex:24>-<hex:34>
readme|rdme_<lownum:70>
easypost|EZAK<alnum:54>
shippo|shippo_live_<hex:40>
duffel|duffel_live_<url:43>
lob|live_<hex:35>
flutterwave|FLWSECK-<hex:32>-X
facebook|EAA<alnum:180>
twitter bearer|AAAAAAAAAAAAAAAAAAAAA<alnum:80>
linkedin|WPL_AP1.<alnum:16>.<b64:8>==
twitch|oauth:<lownum:30>
spotify|BQ<url:180>
okta|SSWS 00<url:40>
auth0|AUTH0_CLIENT_SECRET=<url:64>
clerk|sk_live_<alnum:42>
workos|sk_live_<b64:60>
ory|ory_at_<url:43>.<url:43>
zitadel|dEnGhIeB<url:64>
snyk|snyk_uat.<hex:8>.<url:80>
semgrep|SEMGREP_APP_TOKEN=<hex:64>
codecov|CODECOV_TOKEN=<uuid>
travis|TRAVIS_TOKEN=<alnum:22>
drone|DRONE_TOKEN=<alnum:32>
bugsnag|BUGSNAG_API_KEY=<hex:32>
prefect|pnu_<alnum:36>
dagster|user:<hex:32>|dagster
octopus|API-<upnum:26>
harness|pat.<alnum:22>.<hex:24>.<alnum:20>
scalr|at-<alnum:40>
spacelift|SPACELIFT_API_KEY_SECRET=<hex:64>
hetzner|HCLOUD_TOKEN=<alnum:64>
linode|LINODE_TOKEN=<hex:64>
vultr|VULTR_API_KEY=<upnum:36>
scaleway|SCW_SECRET_KEY=<uuid>
ovh|OVH_APPLICATION_SECRET=<alnum:32>
kraken|KRAKEN_PRIVATE_KEY=<b64:86>==
binance|BINANCE_SECRET_KEY=<alnum:64>
infura|https://mainnet.infura.io/v3/<hex:32>
alchemy|https://eth-mainnet.g.alchemy.com/v2/<url:32>
pem token|MII<b64:61>
random|<alnum:32>
random long|<url:64>
random base64|<b64:43>=
random upper|<upnum:40>
random symbols|<sym:28>
`

// sets are the alphabets in tokenForms.
var sets = map[string]string{ //nolint:gochecknoglobals // a read-only table
	"hex": Hexes, "HEX": strings.ToUpper(Hexes), "alnum": Alnums, "url": urls, "b64": Base64, "digit": Digits, "lownum": Lowers + Digits,
	"upnum": Uppers + Digits, "letter": Lowers + Uppers, "b58": base58s, "wif": base58s, "b32": base32s, "bech32": bech32s, "BECH32": strings.ToUpper(bech32s),
	"sym": Alnums + "!@%^*()_+-=.",
}

// fill replaces <set:n> in a form by random characters. parts are those of at least min
// characters, which make up the secret.
func (m Maker) fill(form string, least int) (text string, parts []string) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(form, "<")
		b.WriteString(before)
		if !found {
			return b.String(), parts
		}
		name, after, _ := strings.Cut(rest, ">")
		part := m.UUID()
		if name != "uuid" {
			set, count, _ := strings.Cut(name, ":")
			n := 0
			for _, c := range count {
				n = n*10 + int(c-'0')
			}
			part = m.Of(sets[set], n)
		}
		b.WriteString(part)
		// Ids are beside many tokens.
		if len(part) >= least && !strings.HasPrefix(name, "digit") && (name != "uuid" || !strings.ContainsAny(form, "./@")) {
			parts = append(parts, part)
		}
		form = after
	}
}

// tokens returns tokens with no name beside them, in the sentences and lines in which
// people and programs show them.
func tokens() []Kind {
	var kinds []Kind
	around := []struct{ name, before, after string }{
		{"alone", "", "\n"},
		{"sentence", "Please use ", " for the deployment."},
		{"quoted", "client.connect(\"", "\", timeout=30)\n"},
		{"flag", "tool deploy --with ", " --now\n"},
	}
	for line := range strings.SplitSeq(strings.TrimSpace(tokenForms), "\n") {
		name, form, _ := strings.Cut(line, "|")
		form, context, _ := strings.Cut(form, "|")
		for _, a := range around {
			if context != "" {
				a.before = "The " + context + " token is " + a.before
			}
			kinds = append(kinds, Kind{"token/" + name + "/" + a.name, func(m Maker) Secret {
				text, parts := m.fill(form, 12)
				if len(parts) == 0 {
					parts = []string{text}
				}
				if strings.HasPrefix(name, "aws") || strings.HasPrefix(name, "coinbase") || name == "azure logic app" {
					parts = parts[len(parts)-1:] // before it are ids
				}
				return Secret{a.before + text + a.after, parts}
			}})
		}
	}
	kinds = append(kinds, Kind{"token/npmrc basic/line", func(m Maker) Secret {
		v := base64.StdEncoding.EncodeToString([]byte("user:" + m.Of(Alnums, 16)))
		return Secret{"//registry.example.com/:_auth=" + v + "\n", []string{v}}
	}})
	return kinds
}
