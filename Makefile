# Everything that is built, tested and measured here. Needs Go and git; what a
# target needs beyond that stands beside it.

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
CACHE    ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/entire-build
FUZZTIME ?= 30s
LAB      ?=
AGENTLAB ?= $(LAB)
LABRUN   ?=
BENCH    ?=
RECORDS  ?=

GOLANGCI_VERSION := v2.15.0
GOFUMPT_VERSION  := v0.12.0

TOOLS   ?= $(CACHE)/tools-$(GOLANGCI_VERSION)-$(GOFUMPT_VERSION)
GOLANGCI ?= $(TOOLS)/golangci-lint
GOFUMPT ?= $(TOOLS)/gofumpt

# The programs are built without cgo, and tested so; only the race detector needs it.
export CGO_ENABLED := 0

LDFLAGS := -s -w -X main.version=$(VERSION)

# entire executes entire-cli: they belong into one folder.
PROGRAMS := ./cmd/entire ./cmd/entire-cli ./cmd/agentfs

.PHONY: programs browser blame-accuracy server-merges import-accuracy mixed managers picture foreign help build install man darwin demo test matrix storm orders attack cover cover-own check-format difftest harm fs soak property race registers e2e-claude e2e-agents bench bench-bands memory handover fuzz crash power lint fmt tools clean

help:
	@echo 'build       the programs, in bin: entire, entire-cli, agentfs'
	@echo 'install     the programs into GOBIN'
	@echo 'browser     pages of entire report in Chromium (installed where it can be), with axe-core from npm: PAGES="files ..." TEXTS='
	@echo 'picture     records docs/day.txt, and draws docs/day.svg, the picture in the README'
	@echo 'man         manual pages of all commands, in bin/man'
	@echo 'demo        the main job on a recorded session, in a scratch repository; of a genuine agent: AGENT=codex AGENTLAB=folder'
	@echo 'test        format, vet, all tests and what they cover, those with goroutines again with the race detector'
	@echo 'cover-own   at least $(COVER) % of the packages that must have it by their own tests'
	@echo 'cover       that, and of session, checkpoint, strategy, bands, git with the scripts'
	@echo 'programs    all scripts, with the programs as they are installed'
	@echo 'matrix      20 runs of each way to rewrite history: docs/rewriting.md'
	@echo 'blame-accuracy  whose lines blame gets right: docs/blame-accuracy.md; HISTORIES= SEED='
	@echo 'server-merges   whose lines those are that a server without hooks merged: docs/rewriting.md; HISTORIES= SEED='
	@echo 'import-accuracy what an import restores of hidden records: RECORDS=folder HISTORIES= SEED='
	@echo 'registers   what every command reports about commits of all kinds: the same everywhere'
	@echo 'mixed       hooks of two versions, by chance: OLD=folder with an older entire'
	@echo 'storm       kills and concurrency with real git: STORM=200 runs'
	@echo 'orders      three clones that share and forget, in every order of LENGTH= steps'
	@echo 'attack      hostile repositories, input and secrets: ATTACK=500 tries'
	@echo 'difftest    the same findings as gitleaks'
	@echo 'harm        how many lines of code redaction changes: CODE=folders'
	@echo 'race        all tests with the race detector (needs a C compiler)'
	@echo 'crash       stop the program at every write of every hook'
	@echo 'power       cut the power at every write of every hook (needs strace; root for disks)'
	@echo 'soak        10,000 snapshots under a cap'
	@echo 'property    random trees and edits, more of them'
	@echo 'fs          other, full and read-only file systems (needs root, xfsprogs, btrfs-progs)'
	@echo 'fuzz        every fuzz target for FUZZTIME ($(FUZZTIME))'
	@echo 'e2e-claude  the genuine agent against a scripted model: LAB=folder'
	@echo 'e2e-agents  other genuine agents against a scripted model: AGENTLAB=folder AGENTS="codex copilot gemini opencode pi qwen"'
	@echo 'bench       hooks and commands: BENCH=folder (needs a C compiler, Python)'
	@echo 'memory      peak memory of every command and hook on 500,000 files'
	@echo 'bench-bands snapshots and restores of a large tree'
	@echo 'foreign         every reading command on records of other programs: RECORDS=folder'
	@echo 'handover        what sessions are given of earlier ones, and what they needed: RECORDS="folder ..."'
	@echo 'darwin      go vet for macOS'
	@echo 'lint fmt    golangci-lint $(GOLANGCI_VERSION), gofumpt $(GOFUMPT_VERSION)'

build:
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ $(PROGRAMS)

install:
	go install -trimpath -ldflags '$(LDFLAGS)' $(PROGRAMS)

man:
	go run -ldflags '$(LDFLAGS) -X main.date=$(shell git show -s --format=%cs)' ./cmd/manpages bin/man

# Each hook by one of two versions, by chance: OLD=folder with an older entire.
mixed: build
	testdata/mixed/mixed.sh $(OLD) bin

# Programs that install hooks, before ours, after and again: from npm and the system.
MANAGERS ?= $(HOME)/.cache/entire-build/hook-managers
managers:
	mkdir -p $(MANAGERS)
	cd $(MANAGERS) && npm install --no-save --no-audit --no-fund --silent husky@9 lefthook@2 simple-git-hooks@2
	ENTIRE_TEST_MANAGERS=$(MANAGERS)/node_modules/.bin go test -count=1 -v -run '^TestHookManagers$$' ./cmd/entire

# Pages of `entire report` in Chromium: hostile texts, keys, sizes, paper, screenshots, accessibility.
# Debian's is installed where it is missing and can be; axe-core comes from npm. PAGES=files
# are shown, too, TEXTS hostile texts are made by chance.
TEXTS ?= 20
PAGES ?=
AXE   := $(CACHE)/axe/node_modules/axe-core/axe.min.js
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || apt-get install -y --no-install-recommends chromium fonts-dejavu-core || true
	@test -f "$(AXE)" || { mkdir -p "$(CACHE)/axe" && cd "$(CACHE)/axe" && npm install --no-save --no-audit --no-fund --silent axe-core@4; } || echo 'no axe-core (npm): accessibility is not checked'
	@mkdir -p bin/browser; \
	program=$$(command -v chromium chromium-browser google-chrome | head -n 1); \
	if [ -z "$$program" ]; then echo 'no Chromium here, and it can not be installed: nothing is tested'; exit 1; fi; \
	axe="$(AXE)"; test -f "$$axe" || axe=; \
	ENTIRE_TEST_BROWSER="$$program" ENTIRE_TEST_AXE="$$axe" ENTIRE_TEST_SHOTS="$(CURDIR)/bin/browser" ENTIRE_TEST_PAGES="$(abspath $(PAGES))" ENTIRE_TEST_TEXTS=$(TEXTS) \
		go test -count=1 -timeout 60m -v -run '^TestBrowser$$' ./cmd/internal/report && echo 'screenshots: bin/browser'

picture:
	ENTIRE_UPDATE=1 go test -count=1 -run '^TestDay$$' ./cmd/entire
	go run ./internal/testkit/picture docs/day.txt docs/day.svg

demo: build
	@if [ -z "$(AGENT)" ]; then \
		PATH="$(CURDIR)/bin:$$PATH" ./testdata/demo/demo.sh; \
	elif [ -z "$(AGENTLAB)" ]; then \
		echo 'demo of $(AGENT) skipped: name the folder of the lab with AGENTLAB='; \
	else \
		./testdata/demo/agent.sh "$(AGENT)" "$(AGENTLAB)" "$(CURDIR)/bin"; \
	fi

# What the race detector can find something in: every test of a folder whose code starts
# goroutines, and elsewhere the tests that start some themselves. `make race` runs all tests.
STARTS    := ^[[:space:]]*go [a-z]|\.Go\(|workspace\.Guard
SOURCES   := git ls-files -co --exclude-standard ':!internal/testkit' ':!internal/redact/difftest'
FOLDERS   := xargs -n 1 dirname | sort -u | sed 's|^|./|'
RACED      = ./bands $(shell $(SOURCES) '*.go' ':!*_test.go' | xargs grep -lE '$(STARTS)' | $(FOLDERS))
STARTERS   = $(SOURCES) '*_test.go' ':!*_fs_test.go' ':!*browser_test.go' | xargs awk 'FNR == 1 { name = "" } \
	/^func Test[^M]/ { name = $$2; sub(/[(].*/, "", name) } /$(STARTS)/ && name { print name, FILENAME }'
RACEDNAMES = TestScript $(shell $(STARTERS) | cut -d ' ' -f 1 | sort -u)
RACEDTESTS = $(shell $(STARTERS) | cut -d ' ' -f 2 | $(FOLDERS))

MODULE     = $(shell go list -m)

# Vet ran before, and debug information makes up a third of the time to link the tests.
TEST      := go test -vet=off -ldflags=-w

# Long, and in a single goroutine.
UNRACED   := Rewriting|AttributionOfRandomEdits|RecordedSession|Prop.*|Power|Storm|ConcurrentChangeInvalidatesRows|UnchangedRefsReadOnlyCatalog|CaptureUnderLoad|AttackFreshSecrets|AttackKinds.*|AttackEncoded|AttackNamesInStructures

# Fewer random trees than `make property`, and the same ones for the same tree of a commit. Tests that
# wait for a process or for time to pass leave the processors to others: more are run at once.
test: export RAPID_CHECKS := 15
test: export RAPID_SEED := 0x$(shell git rev-parse --short=12 'HEAD^{tree}' 2>/dev/null || echo 1)
test: check-format
	go vet ./...
	$(MAKE) --no-print-directory cover-own
	$(TEST) -parallel 4 -timeout 50m $(filter-out $(COVERED),$(patsubst $(MODULE)/%,./%,$(shell go list ./...)))
	@if command -v "$$(go env CC)" >/dev/null; then \
		echo 'go test -race -short of what starts goroutines' && export CGO_ENABLED=1 RAPID_CHECKS=5 && \
		$(TEST) -timeout 40m -race -short -skip '^Test($(UNRACED))$$' $(RACED) && \
		$(TEST) -timeout 40m -race -short -skip '^Test($(UNRACED))$$' -run '^($(subst $(empty) $(empty),|,$(RACEDNAMES)))$$' $(filter-out $(RACED),$(RACEDTESTS)); \
	else \
		echo 'race tests skipped: no C compiler'; \
	fi

# The scripts with entire and entire-cli as they are installed: make test has one program that does both.
programs: build
	ENTIRE_TEST_PROGRAMS="$(CURDIR)/bin" go test -count=1 -timeout 60m -run '^TestScript$$' ./cmd/entire

# make test has one run.
matrix:
	ENTIRE_TEST_TABLE="$(CURDIR)/docs/rewriting.md" go test -count=1 -timeout 20m -run '^TestRewriting$$' ./cmd/entire

# Checkpoints in refs, sessions in several repositories and recording on the whole machine: their scripts, and
# those of rewriting with both forms of checkpoints, which make test has with one.
reach:
	go test -count=1 -timeout 30m -run '^TestScript$$/^(refs|many|global|trust)-' ./cmd/entire
	go test -count=1 -timeout 20m -run '^TestRewriting$$' ./cmd/entire
	ENTIRE_TEST_PRIMARY=git-refs go test -count=1 -timeout 20m -run '^TestRewriting$$' ./cmd/entire
	ENTIRE_TEST_PRIMARY=git-refs go test -count=1 -timeout 30m -run '^TestScript$$/^(rewrite|attribution-[^mos]|turn-[^m]|blame-at)' ./cmd/entire

# Histories whose authors are known, against entire blame: writes docs/blame-accuracy.md, and
# fails if a goal there is missed. They wait for time to pass, so several are played at once.
# make test has two, and one more in which much happens at once.
HISTORIES ?= 200
SEED      ?= 1
blame-accuracy:
	ENTIRE_TEST_HISTORIES=$(HISTORIES) ENTIRE_TEST_SEED=$(SEED) ENTIRE_TEST_TABLE="$(CURDIR)/docs/blame-accuracy.md" \
		go test -count=1 -timeout 240m -parallel 6 -v -run '^TestBlameAccuracy$$' ./cmd/entire

# Pull requests of sessions, merged by a server without hooks in all ways, whose authors are known:
# writes a section of docs/rewriting.md, and fails if a goal there is missed. make test has one of
# each.
server-merges:
	ENTIRE_TEST_HISTORIES=$(HISTORIES) ENTIRE_TEST_SEED=$(SEED) ENTIRE_TEST_TABLE="$(CURDIR)/docs/rewriting.md" \
		go test -count=1 -timeout 480m -v -run '^TestServerMerges$$' ./cmd/entire

# Histories of sessions that nothing recorded, and with RECORDS the repositories that other programs
# recorded, with their record hidden: what an import of the session files restores. Prints the figures
# of docs/import-accuracy.md, and fails if a goal there is missed. make test has one history of each
# kind.
import-accuracy:
	ENTIRE_RECORDS="$(if $(RECORDS),$(abspath $(RECORDS)))" ENTIRE_TEST_HISTORIES=$(HISTORIES) ENTIRE_TEST_SEED=$(SEED) \
		go test -count=1 -timeout 240m -v -run '^TestImportAccuracy' ./cmd/entire

# Commits of all kinds, and what every command reports about each turn, commit and session: the same
# everywhere. SCENES="one turn,squash" plays these; make test has a selection.
SCENES ?= all
registers:
	ENTIRE_TEST_REGISTERS="$(SCENES)" go test -count=1 -timeout 60m -v -run '^TestRegistersAgree$$' ./cmd/entire

# Post-commit hooks killed before history is rewritten, STORM runs of each way,
# 20 sessions in 6 worktrees, and records, pushes and forgetting in four clones. make test has one
# run, six sessions and two orders in the clones.
STORM ?= 200
# Three clones that record, push, fetch and forget a text, in every order of LENGTH steps, with either
# form of checkpoints: 4 take hours.
LENGTH ?= 3
orders:
	ENTIRE_TEST_ORDERS=$(LENGTH) go test -count=1 -timeout 24h -v -run '^TestForgetOrders$$' ./cmd/entire

storm:
	ENTIRE_TEST_STORM=$(STORM) go test -count=1 -timeout 60m -v -run '^Test(Storm(OfSessions)?|ForgetInClones|ForgetOrders)$$' ./cmd/entire

# Hostile repositories, input and secrets: docs/security-tests.md. make test has
# fewer tries.
ATTACK ?= 500
attack:
	ENTIRE_TEST_ATTACK=$(ATTACK) go test -count=1 -timeout 60m -run '^TestAttack|^TestScript$$/^attack-' ./...

check-format:
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; fi

# What the tests beside a package run of it; less than COVER % is a failure.
COVER   ?= 80
COVERED := ./strategy/recall ./cmd/internal/mcpserver ./internal/settings \
	./internal/plain $(addprefix ./strategy/recall/,brief contextstore digest shellcmd)
cover-own:
	@out=$$($(TEST) -timeout 50m -cover $(COVERED)) || { echo "$$out"; exit 1; }; \
	echo "$$out" | awk -v least=$(COVER) -v want=$(words $(COVERED)) ' \
		match($$0, /coverage: [0-9.]+%/) { \
			split($$0, word); name = word[1] == "ok" ? word[2] : word[1]; \
			share = substr($$0, RSTART + 10, RLENGTH - 11); \
			n++; low = share + 0 < least; bad += low; \
			printf "%-60s %5.1f %%%s\n", name, share, low ? "  too little" : ""; \
		} \
		END { if (n < want) print "not measured: " want - n; exit bad > 0 || n < want }'

# The coverage of a group of packages by its own tests and the scripts together, as root also by
# those of file systems; less than COVER % of a group is a failure. Some minutes.
COVERGROUPS := session checkpoint strategy bands internal/git
COVERALL    := $(COVERGROUPS:%=./%/...)
COVERDIR    := $(CURDIR)/bin/cover
comma       := ,
empty       :=
COVERPKG    := $(subst $(empty) $(empty),$(comma),$(COVERALL))
cover: cover-own
	@rm -rf "$(COVERDIR)" && mkdir -p "$(COVERDIR)/data"
	go test -c -cover -coverpkg=$(COVERPKG) -o "$(COVERDIR)/entire.test" ./cmd/entire
	cd cmd/entire && GOCOVERDIR="$(COVERDIR)/data" "$(COVERDIR)/entire.test" -test.run '^TestScript$$' -test.timeout 60m -test.gocoverdir "$(COVERDIR)/data"
	go test -timeout 40m -coverpkg=$(COVERPKG) $(COVERALL) -args -test.gocoverdir="$(COVERDIR)/data"
	./testdata/fs/run.sh -skip 'Crash|Power|Hooks$$|Kinds$$' -exec 'env GOCOVERDIR=$(COVERDIR)/data' -coverpkg=$(COVERPKG) \
		./bands ./bands/volume ./cmd/entire -args -test.gocoverdir="$(COVERDIR)/data" >"$(COVERDIR)/fs.log" || { cat "$(COVERDIR)/fs.log"; exit 1; }
	@go tool covdata textfmt -i="$(COVERDIR)/data" -o "$(COVERDIR)/profile"
	@module=$$(go list -m) && awk -v least=$(COVER) -v groups='$(COVERGROUPS)' -v module="$$module/" ' \
		NR > 1 { size[$$1] = $$2; if ($$3 > 0) run[$$1] = 1 } \
		END { \
			for (block in size) { \
				name = substr(block, length(module) + 1); sub(/\/[^\/]*$$/, "", name); \
				all[name] += size[block]; some[name] += run[block] * size[block]; \
			} \
			for (name in all) printf "  %-28s %5.1f %%\n", name, 100 * some[name] / all[name] | "sort"; \
			close("sort"); \
			for (i = 1; i <= split(groups, group, " "); i++) { \
				got = of = 0; \
				for (name in all) if (index(name "/", group[i] "/") == 1) { of += all[name]; got += some[name] } \
				low = of == 0 || 100 * got < least * of; bad += low; \
				printf "%-30s %5.1f %%%s\n", group[i], of ? 100 * got / of : 0, low ? "  too little" : ""; \
			} \
			exit bad > 0 \
		}' "$(COVERDIR)/profile"

# A module of its own: gitleaks brings 163 others.
difftest:
	cd internal/redact/difftest && go test ./...

# Folders of code without secrets, separated as in PATH.
CODE ?= $(shell go env GOROOT)/src:$(shell go env GOMODCACHE)

harm:
	ENTIRE_CODE="$(CODE)" ENTIRE_HARM_EXAMPLES=$(EXAMPLES) go test -count=1 -timeout 30m -run '^TestHarm$$' -v ./internal/redact

race:
	CGO_ENABLED=1 go test -race ./...

crash:
	cd cmd/entire && go test -tags faults -count=1 -parallel 4 -timeout 60m -run Crash
	go test -tags faults ./hooks/... -run FailingWrite
	go test -tags faults -count=1 -parallel 4 -timeout 30m -run '^TestCrash' ./bands
	go test -tags faults -count=1 -run '^TestCrash' ./strategy/recall/contextstore ./internal/index

# Of the trees that power cuts leave in a model, so many of each scene, and so many
# disks of each of ext4, XFS and Btrfs: POWER=1000 IMAGES=1000 for a long run.
POWER  ?= 20
IMAGES ?= 60
power:
	ENTIRE_TEST_POWER=$(POWER) go test -count=1 -timeout 120m -run '^TestPower$$' ./cmd/entire
	ENTIRE_TEST_IMAGES=$(IMAGES) RUN='^TestFSPower' ./testdata/fs/run.sh ./bands ./cmd/entire

fs:
	./testdata/fs/run.sh

# 10,000 snapshots under a cap: some minutes. Fewer: SOAK_SNAPSHOTS=1000.
soak:
	go test -tags soak -count=1 -timeout 60m -v -run '^TestSoak' ./bands

# The packages with random cases, other ones at each run: RAPID=5000 for a long run.
RAPID ?= 500
property: export RAPID_CHECKS := $(RAPID)
property: export RAPID_NOFAILFILE := true
property:
	go test -count=1 -timeout 60m $(sort $(dir $(shell git grep -l pgregory.net/rapid -- '*_test.go' | sed 's|^|./|')))

# Peak memory of every command and hook on 500,000 files, made once, and a sparse
# file of 16 GB. A smaller tree: MEMORY_FILES=60000.
memory: build
	@mkdir -p "$(CACHE)/memory"
	MEMORY_CACHE="$(CACHE)/memory" MEMORY_BIN="$(CURDIR)/bin" go test -tags memory -count=1 -timeout 120m -v -run '^TestMemory' ./internal/testkit

# Snapshots and restores of 70,000 files, beside restic, borg and cp where they
# are installed. BANDBENCHFLAGS='-snapshots 10000' measures that many, too.
bench-bands: build
	go run ./internal/testkit/bandbench -bin bin/agentfs -cache "$(CACHE)/bands" $(BANDBENCHFLAGS)

# The table of docs/foreign-records.md; fails if something is not shown as an independent
# reader finds it.
foreign:
	@if [ -z "$(RECORDS)" ]; then \
		echo 'foreign skipped: name the folder of archived repositories with RECORDS='; \
	else \
		ENTIRE_RECORDS="$(abspath $(RECORDS))" go test ./cmd/entire -count=1 -timeout 60m -run TestForeignRecords -v; \
	fi

# The table of docs/recall-quality.md; fails if a brief says something false.
handover: build
	go run ./internal/testkit/handover -records "$(RECORDS)" $(if $(BRIEFS),-brief "$(BRIEFS)") $(HANDOVERFLAGS)

fuzz:
	@for file in $$(git ls-files -co --exclude-standard '*_test.go' | xargs grep -l '^func Fuzz'); do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file"); do \
			echo "$$(dirname "$$file") $$target"; \
			(cd "$$(dirname "$$file")" && go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) .) || exit 1; \
		done; \
	done

e2e-claude: build
	@if [ -z "$(LAB)" ]; then \
		echo 'e2e-claude skipped: name the folder of the lab with LAB='; \
	elif ! "$(LAB)/install" >/dev/null; then \
		echo 'e2e-claude skipped: the client cannot be installed here'; \
	else \
		"$(LAB)/examples/check" --path "$(CURDIR)/bin" --setup 'entire enable --agent claude-code' --trailer Entire-Checkpoint && \
		cd cmd/entire && ENTIRE_LAB="$(abspath $(LAB))" ENTIRE_BIN="$(CURDIR)/bin" go test -tags e2e -count=1 -run '^TestLab$$/$(LABRUN)' .; \
	fi

AGENTS ?= codex copilot gemini opencode pi qwen

# The lab's examples with each client, then what the record has of a client's work. The
# client's shell may be a login shell, which sets PATH anew.
e2e-agents: build
	@if [ -z "$(AGENTLAB)" ]; then \
		echo 'e2e-agents skipped: name the folder of the lab with AGENTLAB='; \
		exit; \
	fi; \
	for client in $(AGENTS); do \
		"$(AGENTLAB)/check" --client $$client --path "$(CURDIR)/bin" --trailer Entire-Checkpoint \
			--setup "entire enable --agent $$client && entire config set gemini.amend_commits true && echo 'PATH=$(CURDIR)/bin:\$$PATH' >> \"\$$HOME/.profile\"" || exit; \
	done; \
	cd cmd/entire && ENTIRE_AGENT_LAB="$(abspath $(AGENTLAB))" ENTIRE_AGENTS="$(AGENTS)" ENTIRE_BIN="$(CURDIR)/bin" \
		go test -tags e2e -count=1 -timeout 30m -run '^TestAgentLab$$/$(LABRUN)' .

# The budget table; what it runs on takes some minutes and two gigabytes, once.
# With BENCH also the benchmark of that folder, which makes its own.
bench: build
	@mkdir -p "$(CACHE)/budget"
	go run ./internal/testkit/budget -bin bin/entire -cache "$(CACHE)/budget" $(BUDGETFLAGS)
ifneq ($(BENCH),)
	mkdir -p "$(CACHE)/bench/tpl"
	cp "$(BENCH)"/*.py "$(BENCH)"/*.c "$(CACHE)/bench/"
	# A detached child may remove a file under du's eyes.
	sed -i.orig 's/\["du", "-sb", os.path.join(d, ".git")\]/["sh", "-c", "du -sb .git 2>\/dev\/null; true"], cwd=d/' "$(CACHE)/bench/bench.py"
	cc -O2 -o "$(CACHE)/bench/runner" "$(CACHE)/bench/runner.c"
	cd "$(CACHE)/bench" && test -e tpl/complete || { \
		rm -rf tpl/small tpl/big && \
		python3 gen.py repo tpl/small --files 20 --commits 20 && \
		python3 gen.py repo tpl/big --files 36001 --commits 2000 && \
		python3 gen.py transcript tpl/t20.jsonl --mb 20 && \
		touch tpl/complete; }
	cd "$(CACHE)/bench" && python3 bench.py --bin "$(CURDIR)/bin/entire" --out entire.json --only start,hooks,commit
	cd "$(CACHE)/bench" && python3 compare.py entire.json
endif

# Files for macOS, which no test here runs.
darwin:
	GOOS=darwin go vet ./...

lint: $(GOLANGCI)
	"$(GOLANGCI)" run ./...

fmt: $(GOLANGCI) $(GOFUMPT)
	"$(GOFUMPT)" -w $$(git ls-files -co --exclude-standard '*.go')
	"$(GOLANGCI)" fmt

tools: $(GOLANGCI) $(GOFUMPT)

$(TOOLS)/golangci-lint:
	GOBIN="$(TOOLS)" go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

$(TOOLS)/gofumpt:
	GOBIN="$(TOOLS)" go install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)

clean:
	rm -rf bin
